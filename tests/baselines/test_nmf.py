"""NMF, RNMF and GNMF: monotone objectives, scikit-learn as oracle, robustness, the graph."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import non_negative_factorization
from sklearn.preprocessing import normalize

from fnmf.baselines import GNMF, NMF, RNMF
from fnmf.metrics import clustering_accuracy

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:500]), y[:500], 10


def random_start(X, c, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((len(X), c)), rng.random((c, X.shape[1]))


def test_nmf_is_scikit_learns_from_the_same_start(digits):
    X, _, c = digits
    V, H = random_start(X, c)
    ours = NMF(c, init=(V, H), max_iter=50, tol=0).fit(X)
    theirs_V, theirs_H, _ = non_negative_factorization(
        X, W=V, H=H, n_components=c, init="custom", solver="mu", max_iter=50, tol=0
    )
    np.testing.assert_allclose(
        ours.embedding_ @ ours.components_, theirs_V @ theirs_H, rtol=1e-6, atol=1e-9
    )
    error = np.sum((X - theirs_V @ theirs_H) ** 2)
    assert ours.objective_ == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize(
    "model",
    [NMF(10), RNMF(10), GNMF(10, smoothness=0.1), GNMF(10), GNMF(10, smoothness=1000.0)],
    ids=str,
)
def test_objective_never_rises(digits, model):
    X, _, _ = digits
    total = model.set_params(random_state=0, tol=0).fit(X).history_["total"]
    assert len(total) == 300
    assert (np.diff(total) <= 1e-12 * total[0]).all()


@pytest.mark.parametrize("method", [NMF, RNMF])
def test_history_ends_at_the_objective_of_the_factors(digits, method):
    X, _, c = digits
    model = method(c, random_state=0).fit(X)
    residual = X - model.embedding_ @ model.components_
    if method is NMF:
        assert model.objective_ == pytest.approx(np.sum(residual**2), rel=1e-9)
    else:
        # Taken before the last update of U, which can only have lowered it.
        lengths = np.linalg.norm(residual, axis=1).sum()
        assert model.objective_ * (1 - 1e-3) <= lengths <= model.objective_ * (1 + 1e-9)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert min(model.embedding_.min(), model.components_.min()) >= 0


def test_exact_factors_are_recovered():
    rng = np.random.default_rng(0)
    X = rng.random((200, 5)) @ rng.random((5, 40))
    model = NMF(5, random_state=0).fit(X)
    assert model.objective_ < 1e-3 * np.sum(X**2)


def test_outliers_disturb_the_robust_loss_less(digits):
    X, _, c = digits
    rng = np.random.default_rng(0)
    spoilt = X.copy()
    bad = rng.choice(len(X), 25, replace=False)
    spoilt[bad] = rng.uniform(0, 20 / np.sqrt(64), (25, 64))
    clean = np.setdiff1d(np.arange(len(X)), bad)
    errors = {}
    for method in (NMF, RNMF):
        runs = [method(c, random_state=s).fit(spoilt) for s in range(3)]
        residuals = [(spoilt - m.embedding_ @ m.components_)[clean] for m in runs]
        errors[method] = np.mean([np.mean(np.sum(r**2, axis=1)) for r in residuals])
    assert errors[RNMF] < 0.7 * errors[NMF]


def test_one_robust_step_is_the_weighted_lee_seung_step(digits):
    X, _, c = digits
    V, H = random_start(X, c)
    U = H.T
    model = RNMF(c, init=(V, H), max_iter=1, tol=0).fit(X)
    V = V * (X @ U) / (V @ (U.T @ U))
    w = 1 / np.linalg.norm(X - V @ U.T, axis=1)
    U = U * (X.T @ (w[:, None] * V)) / (U @ (V.T @ (w[:, None] * V)))
    np.testing.assert_allclose(model.embedding_ @ model.components_, V @ U.T, rtol=1e-6, atol=1e-12)


def test_gnmf_without_smoothness_is_nmf(digits):
    X, _, c = digits
    plain, graph = NMF(c, random_state=3).fit(X), GNMF(c, smoothness=0.0, random_state=3).fit(X)
    np.testing.assert_array_equal(plain.embedding_, graph.embedding_)
    np.testing.assert_array_equal(plain.labels_, graph.labels_)
    np.testing.assert_array_equal(plain.transform(X[:20]), graph.transform(X[:20]))


def test_one_graph_step_is_the_formula(digits):
    X, _, c = digits
    V, H = random_start(X, c)
    U, strength = H.T, 50.0
    model = GNMF(c, smoothness=strength, init=(V, H), max_iter=1, tol=0).fit(X)
    S = model.graph_
    degree = S.sum(axis=1)[:, None]
    V = V * (X @ U + strength * (S @ V)) / (V @ (U.T @ U) + strength * degree * V)
    U = U * (X.T @ V) / (U @ (V.T @ V))
    np.testing.assert_allclose(model.embedding_ @ model.components_, V @ U.T, rtol=1e-6, atol=1e-12)
    pairs = 0.5 * sum(s * np.sum((V[i] - V[j]) ** 2) for i, j, s in zip(*sp.find(S), strict=True))
    assert model.history_["smoothness"][-1] == pytest.approx(strength * pairs, rel=1e-9)


def test_permuted_samples_give_permuted_representations(digits):
    X, _, c = digits
    V, H = random_start(X, c)
    order = np.random.default_rng(1).permutation(len(X))
    plain = GNMF(c, init=(V, H), max_iter=40, tol=0).fit(X)
    turned = GNMF(c, init=(V[order], H), max_iter=40, tol=0).fit(X[order])
    np.testing.assert_allclose(turned.embedding_, plain.embedding_[order], rtol=1e-6, atol=1e-9)


def test_binary_graph_joins_samples_if_either_is_near_the_other():
    X = np.array([[0.0], [1.0], [2.1], [10.0], [11.0], [13.0], [20.0]])
    S = GNMF(2, graph="binary", n_neighbors=1, random_state=0).fit(X).graph_.toarray()
    expected = np.zeros((7, 7))
    for i, j in [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)]:
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(S, expected)


@pytest.mark.parametrize("method", [NMF, RNMF, GNMF])
def test_single_precision_stays_single(digits, method):
    X, _, c = digits
    single = method(c, random_state=0, max_iter=30).fit(X.astype(np.float32))
    double = method(c, random_state=0, max_iter=30).fit(X)
    assert single.embedding_.dtype == single.components_.dtype == np.float32
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-3)


@pytest.mark.parametrize("method", [NMF, RNMF, GNMF])
def test_mapped_data_give_the_same_result(digits, method, tmp_path):
    X, _, c = digits
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    first = method(c, random_state=0, max_iter=30).fit(X)
    second = method(c, random_state=0, max_iter=30).fit(mapped)
    np.testing.assert_array_equal(first.embedding_, second.embedding_)


def test_several_starts_keep_the_lowest_objective(digits):
    X, _, c = digits
    one = NMF(c, random_state=0, max_iter=40).fit(X)
    several = NMF(c, random_state=0, max_iter=40, n_init=4).fit(X)
    assert several.objective_ <= one.objective_


def test_transform_solves_least_squares(digits):
    from scipy.optimize import nnls

    X, _, c = digits
    model = NMF(c, random_state=0).fit(X[:400])
    expected = [nnls(model.components_.T, x)[0] for x in X[400:]]
    np.testing.assert_allclose(model.transform(X[400:]), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("method", "params", "acc", "spread"),
    [
        (NMF, {}, 0.778, 0.039),
        (RNMF, {}, 0.776, 0.035),
        (GNMF, {"smoothness": 10.0}, 0.801, 0.036),
        (GNMF, {"smoothness": 100.0}, 0.854, 0.010),
        (GNMF, {"smoothness": 10.0, "graph": "binary"}, 0.836, 0.036),
    ],
)
def test_clusters_are_within_two_standard_deviations_of_the_orientation_value(
    digits, method, params, acc, spread
):
    X, y, c = digits
    found = [
        clustering_accuracy(y, method(c, random_state=s, **params).fit_predict(X)) for s in range(5)
    ]
    assert abs(np.mean(found) - acc) <= 2 * spread


def test_a_normalised_start_changes_the_balance_of_the_terms_and_not_the_product(digits):
    X, _, c = digits
    V, H = random_start(X, c)
    lengths = np.linalg.norm(H, axis=1)
    given = GNMF(c, init=(V * lengths, H / lengths[:, None]), max_iter=40, tol=0).fit(X)
    ours = GNMF(c, init=(V, H), normalize_start=True, max_iter=40, tol=0).fit(X)
    np.testing.assert_allclose(ours.embedding_, given.embedding_, rtol=1e-9, atol=1e-12)
    plain = GNMF(c, init=(V, H), max_iter=40, tol=0).fit(X)
    assert not np.allclose(plain.embedding_, ours.embedding_, rtol=1e-3)
    # Without a graph term the scale of the start means nothing.
    options = {"smoothness": 0.0, "init": (V, H), "max_iter": 40, "tol": 0}
    first = GNMF(c, normalize_start=True, **options).fit(X)
    second = GNMF(c, **options).fit(X)
    np.testing.assert_allclose(first.embedding_, second.embedding_, rtol=1e-6, atol=1e-9)


def test_the_author_starts_from_plain_uniform_numbers(digits):
    X, _, c = digits
    generator = np.random.RandomState(7)
    U, V = generator.uniform(size=(64, c)), generator.uniform(size=(len(X), c))
    given = GNMF(c, init=(V, U.T), normalize_start=True, max_iter=35, tol=0).fit(X)
    drawn = GNMF(c, normalize_start=True, random_state=7, max_iter=35, tol=0).fit(X)
    np.testing.assert_allclose(drawn.embedding_, given.embedding_, rtol=1e-6, atol=1e-9)
