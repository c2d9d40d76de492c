"""The estimator: attributes, data of every kind, stopping, and what it finds."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import oracle
from estimators import VARIANTS, C, D, N, fit, make_blobs, model
from fnmf import FNMF
from fnmf.data import _views
from fnmf.datasets import make_noisy_gaussians
from fnmf.metrics import clustering_accuracy
from problems import VIEWS, as_view, make_problem, make_state

ATTRIBUTES = (
    "components_",
    "embedding_",
    "feature_weights_",
    "assignments_",
    "feature_importances_",
    "effective_features_",
)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", VIEWS)
def test_attributes_have_their_shapes_types_and_constraints(blobs, kind, dtype, tmp_path):
    X = as_view(blobs[0], kind, tmp_path, dtype)
    for parameters in VARIANTS[:5]:
        if kind == "mapped-csr" and parameters.get("init") == "nndsvda":
            continue
        fitted = fit(X, **parameters)
        m = fitted.n_weightings
        shapes = ((C, D), (N, C), (m, D), (N, m), (D,), (m,))
        close = {"rtol": 0, "atol": 1e-6 if dtype == np.float32 else 1e-12}
        for name, shape in zip(ATTRIBUTES, shapes, strict=True):
            values = getattr(fitted, name)
            assert values.shape == shape, name
            assert values.dtype == dtype, name
            assert np.isfinite(values).all(), name
            assert (values >= 0).all(), name
        np.testing.assert_allclose(fitted.feature_weights_.sum(axis=1), 1, **close)
        np.testing.assert_allclose(fitted.assignments_.sum(axis=1), 1, **close)
        np.testing.assert_allclose(fitted.feature_importances_.sum(), 1, **close)
        spread = 1 / (fitted.feature_weights_.astype(float) ** 2).sum(axis=1)
        np.testing.assert_allclose(fitted.effective_features_, spread, rtol=1e-5)
        used = fitted.assignments_.astype(float).mean(axis=0) @ fitted.feature_weights_
        np.testing.assert_allclose(fitted.feature_importances_, used, rtol=1e-5, atol=1e-7)
        assert fitted.labels_.shape == (N,)
        assert set(fitted.labels_) <= set(range(C))
        assert fitted.n_features_in_ == D
        assert fitted.history_.shape == (fitted.n_iter_,)
        parts = sum(fitted.history_[name] for name in ("reconstruction", "diversity", "smoothness"))
        np.testing.assert_allclose(fitted.history_["total"], parts, rtol=1e-12)
        if fitted.graph is None:
            assert fitted.graph_ is None
        else:
            assert fitted.graph_.shape == (N, N)
            assert fitted.graph_.dtype == dtype
            assert abs(fitted.graph_ - fitted.graph_.T).max() == 0
        assert fitted.transform(X).dtype == dtype


@pytest.mark.parametrize("parameters", VARIANTS)
def test_dead_features_weigh_nothing_and_empty_samples_are_finite(blobs, parameters):
    X, _ = blobs
    fitted = fit(X, **parameters)
    assert (fitted.feature_weights_[:, 4] == 0).all()
    assert fitted.feature_importances_[4] == 0
    assert np.isfinite(fitted.embedding_[7]).all()
    assert np.isfinite(fitted.transform(np.zeros((2, D)))).all()


@pytest.mark.parametrize("solver", ["mu", "mu-fast", "hals"])
@pytest.mark.parametrize("kind", ["c", "csr"])
def test_all_zero_data_give_finite_results(solver, kind, tmp_path):
    X = as_view(np.zeros((12, 4)), kind, tmp_path)
    fitted = fit(X, solver=solver, init="random")
    for name in ATTRIBUTES:
        assert np.isfinite(getattr(fitted, name)).all(), name


@pytest.mark.parametrize("parameters", VARIANTS)
def test_objective_is_the_direct_value_at_the_fitted_attributes(blobs, parameters):
    X, _ = blobs
    fitted = fit(X, **parameters)
    S = np.zeros((N, N)) if fitted.graph_ is None else fitted.graph_.toarray()
    diversity = 0.0 if fitted.weighting == "uniform" else fitted.diversity
    problem = oracle.Problem(X, S, diversity, fitted.smoothness)
    state = oracle.State(
        fitted.components_.T, fitted.embedding_, fitted.assignments_, fitted.feature_weights_
    )
    assert fitted.objective_ == pytest.approx(oracle.objective(problem, state), rel=1e-7)
    # Without a graph the rows are solved to the end after the last iteration.
    assert fitted.objective_ <= fitted.history_["total"][-1] * (1 + 1e-9)


@pytest.mark.parametrize("parameters", VARIANTS)
def test_history_falls(blobs, parameters):
    total = fit(blobs[0], **parameters).history_["total"]
    assert (np.diff(total) <= 1e-12 * total[0]).all()


@pytest.mark.parametrize("kind", VIEWS)
def test_every_kind_of_data_gives_the_same_result(blobs, kind, tmp_path):
    X, _ = blobs
    for parameters in VARIANTS[:2]:
        expected = fit(X, **parameters)
        data = as_view(X, kind, tmp_path)
        found = fit(data, **parameters)
        exact = kind in ("f", "read-only", "memmap")
        for name in ATTRIBUTES:
            a, b = getattr(found, name), getattr(expected, name)
            if exact:
                np.testing.assert_array_equal(a, b, err_msg=name)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=name)
        np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_mapped_csr_equals_csr_bit_for_bit(blobs, tmp_path):
    X, _ = blobs
    for parameters in VARIANTS[:3]:
        expected = fit(sp.csr_array(X), **parameters)
        for data in (as_view(X, "mapped-csr", tmp_path), sp.csr_matrix(X), sp.csc_matrix(X)):
            found = fit(data, **parameters)
            for name in ATTRIBUTES:
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("parameters", VARIANTS)
@pytest.mark.parametrize("kind", ["c", "csr"])
def test_threads_do_not_change_a_bit(blobs, parameters, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_views, "_SMALL", 1)
    X = as_view(blobs[0], kind, tmp_path, np.float32)
    expected = fit(X, n_jobs=1, **parameters)
    for n_jobs in (2, 3, None):
        found = fit(X, n_jobs=n_jobs, **parameters)
        for name in (*ATTRIBUTES, "labels_", "history_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_seed_decides(blobs):
    X, _ = blobs
    first, second, other = (fit(X, init="random", random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.embedding_, second.embedding_)
    assert not np.array_equal(first.embedding_, other.embedding_)


@pytest.mark.parametrize("kind", ["c", "f", "csr", "csc"])
def test_input_is_never_modified(blobs, kind, tmp_path):
    X = as_view(blobs[0], kind, tmp_path)
    kept = X.copy()
    S = sp.csr_array(np.ones((N, N)))
    start = (np.full((N, C), 0.5), np.full((C, D), 0.5))
    kept_start = [part.copy() for part in start]
    fitted = fit(X, graph=S, init=start)
    fitted.transform(X)
    fitted.predict(X)
    assert abs(X - kept).max() == 0
    assert S.nnz == N * N
    for part, before in zip(start, kept_start, strict=True):
        np.testing.assert_array_equal(part, before)


def test_unsorted_indices_of_the_user_stay_unsorted(blobs):
    X = sp.csr_array(blobs[0])
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in itertools.pairwise(X.indptr)])
    turned = sp.csr_array((X.data[order], X.indices[order], X.indptr), X.shape)
    kept = turned.indices.copy()
    found = fit(turned)
    np.testing.assert_array_equal(turned.indices, kept)
    np.testing.assert_array_equal(found.embedding_, fit(X).embedding_)


@pytest.mark.parametrize("axis", [0, 1])
def test_permuted_data_give_the_permuted_result(axis):
    problem = make_problem(3)
    start = make_state(problem, 3, n_components=C)
    S = sp.csr_array(problem.S)
    expected = fit(problem.X, graph=S, init=(start.V, start.U.T), max_iter=15)
    order = np.random.default_rng(1).permutation(problem.X.shape[axis])
    X = problem.X.take(order, axis=axis)
    if axis == 0:
        found = fit(X, graph=S[order][:, order], init=(start.V[order], start.U.T), max_iter=15)
        pairs = [("embedding_", 0), ("assignments_", 0), ("components_", None)]
    else:
        found = fit(X, graph=S, init=(start.V, start.U[order].T), max_iter=15)
        pairs = [("embedding_", None), ("components_", 1), ("feature_weights_", 1)]
    for name, moved in pairs:
        values = getattr(expected, name)
        values = values if moved is None else values.take(order, axis=moved)
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-7, atol=1e-11)


def test_plain_nmf_is_a_special_case(blobs):
    X = np.delete(np.delete(blobs[0], 4, axis=1), 7, axis=0)
    d = X.shape[1]
    rng = np.random.default_rng(0)
    W, H = rng.uniform(0.1, 1, (len(X), C)), rng.uniform(0.01, 0.1, (C, d))
    settings = {"weighting": "uniform", "n_weightings": 1, "normalize_components": False}
    ours = fit(X, graph=None, solver="mu-fast", init=(W, H), max_iter=30, tol=0, **settings)
    theirs = NMF(C, init="custom", solver="mu", max_iter=30, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit_transform(X / d, W=W.copy(), H=H.copy())
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)


def test_best_of_several_starts_is_kept(blobs):
    X, _ = blobs
    settings = {"weighting": "paper", "init": "random", "max_iter": 10}
    gains = []
    for seed in range(4):
        # More starts of the same seed begin with the same ones.
        objectives = [
            fit(X, n_init=n_init, random_state=seed, **settings).objective_
            for n_init in (1, 2, 4, 8)
        ]
        assert objectives == sorted(objectives, reverse=True)
        gains.append(objectives[0] - objectives[-1])
    assert max(gains) > 0


def test_warns_at_max_iter_and_only_then(blobs):
    X, _ = blobs
    with pytest.warns(ConvergenceWarning, match="max_iter=3 .*raise max_iter"):
        model(max_iter=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model(max_iter=5000).fit(X)
    assert fitted.n_iter_ < 5000


def test_stops_only_when_objective_and_representation_have_settled(blobs):
    X, _ = blobs
    settled = fit(X, max_iter=5000, tol=1e-4)
    before = fit(X, max_iter=settled.n_iter_ - 1, tol=0)
    change = np.linalg.norm(settled.embedding_ - before.embedding_)
    assert change <= 1e-3 * np.linalg.norm(settled.embedding_)
    total = settled.history_["total"]
    assert abs(total[-1] - total[-2]) <= 1e-4 * total[-2]
    assert fit(X, max_iter=5000, tol=1e-2).n_iter_ < settled.n_iter_


def test_verbose_prints_what_is_done(blobs, capsys):
    X, _ = blobs
    fit(X)
    assert capsys.readouterr().out == ""
    fit(X, verbose=1, n_init=2)
    out = capsys.readouterr().out
    assert "neighbour search of 60 samples" in out
    assert "start 1: objective" in out
    fit(X, verbose=2)
    assert "iteration 10:" in capsys.readouterr().out


def test_data_of_low_rank_are_recovered():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 3)) @ rng.uniform(size=(3, 12))
    fitted = fit(X, weighting="uniform", graph=None, solver="hals", max_iter=3000, tol=1e-10)
    back = fitted.inverse_transform(fitted.embedding_)
    assert np.linalg.norm(back - X) < 1e-3 * np.linalg.norm(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_toy_is_solved_where_nmf_fails():
    ours, theirs = [], []
    for seed in range(20):
        X, y = make_noisy_gaussians(random_state=seed)
        ours.append(clustering_accuracy(y, FNMF(n_components=3, random_state=seed).fit_predict(X)))
        # Several threads on data this small only wait for each other.
        with threadpool_limits(1):
            codes = NMF(3, init="random", random_state=seed, max_iter=2000).fit_transform(X)
            labels = KMeans(3, n_init=10, random_state=seed).fit_predict(codes)
        theirs.append(clustering_accuracy(y, labels))
    assert np.mean(ours) >= 0.99
    assert np.mean(theirs) < 0.9


def test_notebooks_show_what_was_learned():
    X, _ = make_noisy_gaussians(random_state=0)
    estimator = FNMF(3, random_state=0)
    before = estimator._repr_html_()
    after = estimator.fit(X)._repr_html_()
    assert 'class="fnmf"' not in before
    assert 'class="fnmf"' in after
