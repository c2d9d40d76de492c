"""The estimator with weighting="relevance": what it finds, and what must not change it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import roc_auc_score

import fnmf
from fnmf import FNMF, MappedCSR
from fnmf.datasets import (
    add_noise_features,
    load,
    make_noisy_gaussians,
    make_planted_subspaces,
    unit_rows,
)
from fnmf.exceptions import WeightCollapseWarning
from fnmf.metrics import clustering_accuracy

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def planted():
    return make_planted_subspaces(160, 4, 5, 40, random_state=0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:, X.max(axis=0) > 0], y


def model(**parameters):
    settings = {"n_components": 4, "n_weightings": 4, "random_state": 0, "max_iter": 50}
    return FNMF(**{**settings, "weighting": "relevance", **parameters})


@pytest.mark.parametrize("solver", ["mu", "mu-fast", "hals"])
@pytest.mark.parametrize("assignment", ["sample", "shared"])
def test_objective_falls(planted, solver, assignment):
    given = {"solver": solver, "assignment": assignment, "representation": "clusters"}
    fitted = model(tol=0, **given).fit(planted[0])
    totals = fitted.history_["total"]
    assert len(totals) == 50
    assert (np.diff(totals) <= 1e-9 * totals[:-1]).all()
    assert fitted.objective_ == fitted.history_["total"][-1]
    assert len(fitted.history_) == fitted.n_iter_


def test_objective_is_the_one_documented(planted):
    X = planted[0]
    fitted = model(row_norm="unit").fit(X)
    omega, prices, mean = fitted._omega, fitted._prices, fitted._mean
    top = omega.max(axis=0)
    Z = np.minimum(X, 2 * X.sum(axis=0) / (X > 0).sum(axis=0))
    Z = Z / np.sqrt((Z * Z) @ top)[:, None]
    residuals = (Z - fitted.embedding_ @ fitted.components_) ** 2 @ omega.T
    residuals += (Z - mean) ** 2 @ prices.T
    S = fitted.graph_.toarray()
    laplacian = np.diag(S.sum(axis=1)) - S
    V = fitted.embedding_
    lengths = (fitted.components_**2) @ top
    rough = lengths * np.einsum("ia,ij,ja->a", V, laplacian, V)
    total = np.sum(fitted.assignments_**2 * residuals) + fitted._strength * rough.sum()
    assert fitted.objective_ == pytest.approx(total, rel=1e-7)


def test_each_planted_cluster_finds_its_own_features(planted):
    X, y, features = planted
    fitted = model(max_iter=200).fit(X)
    assert clustering_accuracy(y, fitted.labels_) == 1
    assert roc_auc_score(features.any(axis=0), fitted.feature_importances_) > 0.99
    mixture = fitted.assignments_**2 @ fitted.feature_weights_
    for a, own in enumerate(features):
        ranked = np.argsort(-mixture[y == a].mean(axis=0), kind="stable")[: own.sum()]
        assert own[ranked].mean() >= 0.8
    assert (fitted.weighting_overlap_ - np.eye(4) < 0.2).all()
    assert (fitted.effective_features_ > 3).all()


def test_importances_sum_to_one_and_relevance_is_near_zero_for_noise(planted):
    X, _, features = planted
    fitted = model(max_iter=200).fit(X)
    informative = features.any(axis=0)
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(fitted.feature_weights_.sum(axis=1), 1)
    np.testing.assert_allclose(fitted.assignments_.sum(axis=1), 1)
    assert fitted.feature_relevance_[~informative].max() < 0.1
    assert fitted.feature_relevance_[informative].min() > 0.4


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_units_of_the_features_do_not_matter_when_they_differ_wildly(planted, layout):
    X, y, features = planted
    units = 10 ** np.random.default_rng(0).uniform(-4, 4, X.shape[1])
    fitted = model(max_iter=200).fit(layout(X * units))
    assert clustering_accuracy(y, fitted.labels_) == 1
    assert roc_auc_score(features.any(axis=0), fitted.feature_importances_) > 0.99
    np.testing.assert_array_equal(fitted.predict(layout(X * units)), fitted.labels_)
    back = fitted.inverse_transform(fitted.embedding_) / units
    assert back.max() < 10 * X.max()


def test_noise_of_the_toy_gets_no_weight():
    X, y = make_noisy_gaussians(random_state=0)
    fitted = FNMF(3, random_state=0).fit(X)
    assert clustering_accuracy(y, fitted.labels_) > 0.99
    np.testing.assert_array_equal(fitted.feature_weights_[:, 2:], 0)


@pytest.mark.parametrize("offset", [0, 100])
def test_noise_with_an_offset_is_noise_all_the_same(digits, offset):
    X, informative = add_noise_features(digits[0], 120, random_state=0)
    X[:, ~informative] += offset
    fitted = FNMF(10, random_state=0, max_iter=60).fit(X)
    assert roc_auc_score(informative, fitted.feature_importances_) > 0.94


def test_pixels_lead_noise_in_units_a_thousand_times_larger(digits):
    X, y = digits
    X, informative = add_noise_features(X, 120, random_state=0)
    X[:, ~informative] *= 1000
    fitted = FNMF(10, random_state=0, max_iter=60).fit(X)
    assert roc_auc_score(informative, fitted.feature_importances_) > 0.94
    assert clustering_accuracy(y, fitted.labels_) > 0.7


@pytest.mark.parametrize("kind", ["uniform", "permuted", "heavy-tailed"])
def test_pixels_lead_noise_on_digits(digits, kind):
    X, y = digits
    X, informative = add_noise_features(X, 120, kind, random_state=0)
    fitted = FNMF(10, weighting="relevance", random_state=0, max_iter=60).fit(unit_rows(X))
    assert roc_auc_score(informative, fitted.feature_importances_) > 0.94
    assert clustering_accuracy(y, fitted.labels_) > 0.7


def test_weights_of_the_article_collapse_on_digits_and_say_so(digits):
    fitted = FNMF(10, weighting="paper", solver="mu", random_state=0, max_iter=100)
    with pytest.warns(WeightCollapseWarning, match='weighting="relevance"'):
        fitted.fit(digits[0])
    assert fitted.empty_weight_.max() > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightCollapseWarning)
        healthy = FNMF(10, weighting="relevance", random_state=0, max_iter=30).fit(digits[0])
    assert (healthy.effective_features_ > 20).all()


def test_weights_of_the_article_do_not_collapse_on_faces(data_home):
    faces = load("yale")
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightCollapseWarning)
        fitted = FNMF(15, weighting="paper", solver="mu", random_state=0, max_iter=100)
        fitted.fit(unit_rows(faces.data))
    assert (fitted.effective_features_ > 100).all()


@pytest.mark.parametrize("form", ["csr", "mapped", "memmap", "fortran"])
def test_form_of_the_data_does_not_matter(planted, form, tmp_path):
    X = np.where(planted[0] > 0.4, planted[0], 0)
    expected = model(max_iter=15).fit(X)
    if form == "csr":
        data = sp.csr_array(X)
    elif form == "mapped":
        MappedCSR.write(sp.csr_array(X), tmp_path)
        data = MappedCSR.open(tmp_path)
    elif form == "memmap":
        np.save(tmp_path / "X.npy", X)
        data = np.load(tmp_path / "X.npy", mmap_mode="r")
    else:
        data = np.asfortranarray(X)
    fitted = model(max_iter=15).fit(data)
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    np.testing.assert_allclose(fitted.feature_weights_, expected.feature_weights_, atol=1e-6)
    np.testing.assert_allclose(fitted.embedding_, expected.embedding_, atol=1e-5)
    # A dense model and sparse rows, or the other way round, must get along.
    np.testing.assert_allclose(expected.transform(data)[:20], fitted.transform(X[:20]), atol=1e-5)
    np.testing.assert_allclose(fitted.transform(data)[:20], expected.transform(X[:20]), atol=1e-5)


def test_number_of_threads_does_not_matter(planted):
    one, two = (model(n_jobs=n_jobs).fit(planted[0]) for n_jobs in (1, 2))
    for name in ("embedding_", "components_", "feature_weights_", "assignments_", "history_"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_order_of_features_does_not_matter(planted):
    X = planted[0]
    order = np.random.default_rng(0).permutation(X.shape[1])
    fitted, permuted = model().fit(X), model().fit(X[:, order])
    np.testing.assert_array_equal(permuted.labels_, fitted.labels_)
    np.testing.assert_allclose(
        permuted.feature_importances_, fitted.feature_importances_[order], atol=1e-6
    )


def test_order_of_samples_does_not_matter_to_what_is_found(planted):
    X, _, _ = planted
    order = np.random.default_rng(0).permutation(len(X))
    fitted, permuted = model(max_iter=200).fit(X), model(max_iter=200).fit(X[order])
    assert clustering_accuracy(fitted.labels_[order], permuted.labels_) == 1
    np.testing.assert_allclose(permuted.feature_relevance_, fitted.feature_relevance_, atol=1e-6)


def test_single_precision_stays_and_agrees(planted):
    double = model(max_iter=200).fit(planted[0])
    single = model(max_iter=200).fit(planted[0].astype(np.float32))
    assert single.embedding_.dtype == single.feature_weights_.dtype == np.float32
    assert single.transform(planted[0][:3].astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(single.labels_, double.labels_)
    np.testing.assert_allclose(single.feature_relevance_, double.feature_relevance_, atol=1e-4)


def test_new_samples_join_the_clusters_of_their_kind(planted):
    X, _, features = planted
    fitted = model(max_iter=200).fit(X)
    rng = np.random.default_rng(5)
    kinds = rng.integers(4, size=40)
    fresh = rng.uniform(size=(40, X.shape[1])) + features[kinds]
    assert clustering_accuracy(kinds, fitted.predict(fresh)) == 1
    together = fitted.transform(fresh)
    np.testing.assert_allclose(fitted.transform(fresh[7:8]), together[7:8], rtol=1e-9)
    assert fitted.inverse_transform(together).shape == fresh.shape


def test_inverse_transform_describes_unused_features_by_their_mean(planted):
    X, _, _ = planted
    fitted = model(max_iter=200).fit(X)
    unused = fitted.feature_weights_.max(axis=0) == 0
    assert unused.any()
    back = fitted.inverse_transform(fitted.embedding_)
    np.testing.assert_allclose(np.ptp(back[:, unused], axis=0), 0)
    assert back[:, unused].min() > 0


def test_graph_is_rebuilt_from_the_features_that_count(planted):
    X, y, _ = make_planted_subspaces(160, 4, 5, 100, lift=0.8, random_state=1)
    same = lambda graph: graph.toarray()[y[:, None] == y].sum() / graph.sum()  # noqa: E731
    kept, rebuilt = (
        model(max_iter=200, row_norm="unit", graph_refresh=count).fit(X).graph_ for count in (0, 3)
    )
    assert same(rebuilt) > same(kept)


def test_graph_of_the_user_is_kept(planted):
    graph = fnmf.graph.adaptive_neighbors(planted[0], 4)
    fitted = model(graph=graph).fit(planted[0])
    assert (fitted.graph_ != graph).nnz == 0


def test_article_with_graph_refresh_rebuilds_the_graph(planted):
    X = planted[0]
    once = model(weighting="paper", n_weightings=2).fit(X)
    again = model(weighting="paper", n_weightings=2, graph_refresh=1).fit(X)
    assert set(again.history_["round"]) == {0, 1}
    assert (once.history_["round"] == 0).all()
    assert (once.graph_ != again.graph_).nnz > 0


def test_selects_features_as_scikit_learn_expects(planted):
    X, _, features = planted
    chosen = SelectFromModel(model(max_iter=200)).fit(X).get_support()
    np.testing.assert_array_equal(chosen, features.any(axis=0))


def test_model_file_brings_everything_back(planted, tmp_path):
    X = planted[0]
    fitted = model().fit(X)
    fnmf.save(fitted, tmp_path / "m.fnmf")
    again = fnmf.load(tmp_path / "m.fnmf")
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(again.feature_relevance_, fitted.feature_relevance_)


def test_nothing_is_said_of_a_limit_that_clusters_do_not_wait_for(planted):
    # Warnings are errors in tests.
    assert model(max_iter=2, representation="clusters").fit(planted[0]).n_iter_ == 2


def test_wrong_number_of_refreshes_is_named(planted):
    with pytest.raises(ValueError, match="graph_refresh"):
        model(graph_refresh=-1).fit(planted[0])
