"""Rivals that weigh or choose features, each against its formula or another implementation."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.stats import kstest
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import lars_path_gram
from sklearn.preprocessing import normalize

from fnmf.baselines import IFPCA, MCFS, EntropyKMeans, LaplacianScore, SparseKMeans
from fnmf.baselines._entropykmeans import descend, entropy_weights
from fnmf.baselines._ifpca import (
    criticism_threshold,
    left_vectors,
    normal_distances,
    simulated_distances,
    standardised,
)
from fnmf.baselines._lars import least_angle
from fnmf.baselines._lloyd import lloyd, nearest_centres
from fnmf.baselines._sparsekmeans import bounded_weights, shuffled
from fnmf.baselines._spectral import eigenmap
from fnmf.graph import adaptive_neighbors


@pytest.fixture(scope="module")
def noisy():
    """Three blobs on two features, and thirty features of noise."""
    X, y = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    return np.column_stack([X, np.random.default_rng(1).normal(size=(150, 30))]), y


@pytest.fixture(scope="module")
def digits():
    return normalize(load_digits().data[:200])


def test_normal_distances_are_those_of_scipy():
    X = np.random.default_rng(0).gamma(2.0, size=(70, 5))
    Z, varying = standardised(X)
    assert varying.all()
    expected = [kstest((x - x.mean()) / x.std(), "norm").statistic for x in X.T]
    np.testing.assert_allclose(normal_distances(Z) / np.sqrt(70), expected, rtol=1e-10)


def test_p_values_of_normal_features_are_uniform():
    null = np.sort(simulated_distances(40, 4000, seed=0))
    Z, _ = standardised(np.random.default_rng(1).normal(size=(40, 2000)))
    p_values = 1 - np.searchsorted(null, normal_distances(Z), side="right") / 4000
    assert kstest(p_values, "uniform").pvalue > 0.001


def test_higher_criticism_cuts_between_influential_features_and_the_rest():
    rng = np.random.default_rng(0)
    p_values = np.concatenate([np.full(40, 1e-4), rng.uniform(size=960)])
    threshold = criticism_threshold(p_values, n_samples=100)
    assert np.log(1000) / 1000 < threshold < 0.05
    # The functional of the article, one value at a time.
    ordered = np.sort(p_values)
    best = max(
        (
            np.sqrt(1000)
            * (i / 1001 - ordered[i - 1])
            / np.sqrt(i / 1001)
            / np.sqrt(max(np.sqrt(100) * (i / 1001 - ordered[i - 1]) / (i / 1001), 0) + 1),
            ordered[i - 1],
        )
        for i in range(1, 501)
        if ordered[i - 1] > np.log(1000) / 1000
    )
    assert threshold == best[1]


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_left_vectors_are_those_of_the_singular_value_decomposition(shape):
    Z = np.random.default_rng(0).normal(size=shape)
    found, expected = left_vectors(Z, 3), np.linalg.svd(Z)[0][:, :3]
    np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=0)), 1, atol=1e-9)


def test_if_pca_keeps_features_that_separate_clusters_and_no_constant_one():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 300))
    X[:, :15] += 4 * y[:, None]
    X[:, 20] = 3.0
    model = IFPCA(2, random_state=0).fit(X)
    assert model.selected_features_[:15].sum() >= 12
    assert not model.selected_features_[20]
    assert model.selected_features_.sum() < 100
    assert model.scores_[20] == -np.inf


@pytest.mark.parametrize("bound", [1.0, 1.7, 2.5, 4.0])
def test_sparse_weights_solve_their_problem(bound):
    gains = np.random.default_rng(0).gamma(1.0, size=12)
    w = cp.Variable(12, nonneg=True)
    cp.Problem(cp.Maximize(gains @ w), [cp.norm(w, 2) <= 1, cp.sum(w) <= bound]).solve()
    found = bounded_weights(gains, bound)
    assert np.linalg.norm(found) <= 1 + 1e-9
    assert found.sum() <= bound + 1e-6
    assert gains @ found == pytest.approx(gains @ w.value, rel=1e-4)


def test_sparse_k_means_finds_the_features_and_the_bound(noisy):
    X, _ = noisy
    model = SparseKMeans(3, random_state=0).fit(X)
    assert set(np.argsort(-model.feature_importances_)[:2]) == {0, 1}
    assert model.feature_importances_[2:].max() < 0.1 * model.feature_importances_[:2].min()
    assert model.bound_ == model.bounds_[np.argmax(model.gaps_)]
    # The objective, from its definition.
    means = [X[model.labels_ == label].mean(axis=0) for label in range(3)]
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    inner = sum(((X[model.labels_ == k] - means[k]) ** 2).sum(axis=0) for k in range(3))
    assert model.objective_ == pytest.approx(model.feature_importances_ @ (total - inner))


def test_without_a_bound_that_binds_sparse_k_means_is_weighted_k_means(noisy):
    X, _ = noisy
    model = SparseKMeans(3, bound=np.sqrt(32), random_state=0).fit(X)
    assert (model.feature_importances_ > 0).all()
    assert np.linalg.norm(model.feature_importances_) == pytest.approx(1)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_shuffling_keeps_every_feature_and_breaks_rows(container):
    X = np.random.default_rng(0).random((50, 6)) * (np.random.default_rng(1).random((50, 6)) > 0.5)
    mixed = shuffled(container(X), np.random.default_rng(0))
    mixed = mixed.toarray() if sp.issparse(mixed) else mixed
    np.testing.assert_allclose(np.sort(mixed, axis=0), np.sort(X, axis=0))
    assert not np.allclose(mixed, X)


def test_weighted_distances_choose_the_nearest_centre():
    rng = np.random.default_rng(0)
    X, centres, weights = rng.random((40, 5)), rng.random((4, 5)), rng.random((4, 5))
    costs = [[w @ (x - c) ** 2 for c, w in zip(centres, weights, strict=True)] for x in X]
    np.testing.assert_array_equal(nearest_centres(X, centres, weights), np.argmin(costs, axis=1))
    shared = [[weights[0] @ (x - c) ** 2 for c in centres] for x in X]
    found = nearest_centres(sp.csr_array(X), centres, weights[:1])
    np.testing.assert_array_equal(found, np.argmin(shared, axis=1))


def test_lloyd_ends_at_a_fixed_point():
    X = np.random.default_rng(0).random((100, 4))
    labels, centres = lloyd(X, X[:5], np.ones((1, 4)), max_iter=100)
    for label in range(5):
        np.testing.assert_allclose(centres[label], X[labels == label].mean(axis=0))


def test_entropy_weights_solve_their_problem():
    scatter = np.random.default_rng(0).gamma(1.0, size=(1, 6))
    w = cp.Variable(6, nonneg=True)
    cp.Problem(cp.Minimize(scatter[0] @ w - 0.7 * cp.sum(cp.entr(w))), [cp.sum(w) == 1]).solve()
    np.testing.assert_allclose(entropy_weights(scatter, 0.7)[0], w.value, atol=1e-5)


def test_entropy_weights_survive_extreme_settings():
    scatter = np.array([[0.0, 1e3, 5.0], [2.0, 2.0, 2.0]])
    for entropy in (1e-12, 1e12):
        weights = entropy_weights(scatter, entropy)
        np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_allclose(entropy_weights(scatter, 1e12), 1 / 3)


def test_the_objective_of_entropy_weighted_k_means_falls(noisy):
    X, _ = noisy
    totals = [descend(X, 3, 50.0, steps, np.random.RandomState(0))[3] for steps in range(1, 12)]
    assert (np.diff(totals) <= 1e-9 * abs(totals[0])).all()
    assert totals[-1] < totals[0]


def test_each_cluster_finds_its_own_features():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.uniform(0, 10, (200, 4))
    X[y == 0, 0] = rng.normal(2, 0.1, 100)
    X[y == 1, 3] = rng.normal(8, 0.1, 100)
    weights = EntropyKMeans(2, entropy=30.0, random_state=0).fit(X).cluster_weights_
    assert set(np.argmax(weights, axis=1)) == {0, 3}


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_laplacian_score_is_its_formula(digits, container):
    X = digits
    S = adaptive_neighbors(X, 5).toarray()
    D = np.diag(S.sum(axis=1))
    L, ones = D - S, np.ones(len(X))
    expected = np.full(64, -np.inf)
    for j, f in enumerate(X.T):
        centred = f - (f @ D @ ones) / (ones @ D @ ones)
        if np.abs(centred).max() > 1e-12:
            expected[j] = -(centred @ L @ centred) / (centred @ D @ centred)
    model = LaplacianScore(10, random_state=0).fit(container(X))
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-8)
    assert model.selected_features_.sum() == 32
    kept = model.scores_[model.selected_features_].min()
    assert kept >= model.scores_[~model.selected_features_].max()


@pytest.mark.parametrize(("n", "d", "steps"), [(50, 20, 1), (50, 20, 9), (30, 60, 8), (90, 8, 8)])
def test_least_angle_regression_is_that_of_scikit_learn(n, d, steps):
    rng = np.random.default_rng(n + d + steps)
    X, y = rng.random((n, d)), rng.normal(size=n)
    gram, products = X.T @ X, X.T @ y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = lars_path_gram(
            products.copy(), gram, n_samples=n, max_iter=steps, method="lar", return_path=False
        )[2]
    np.testing.assert_allclose(least_angle(gram, products, steps), expected, atol=1e-9)


@pytest.mark.parametrize("steps", [3, 12, 25])
def test_all_features_taken_are_equally_correlated_with_the_residual(steps):
    rng = np.random.default_rng(102)
    X, y = rng.random((30, 60)), rng.normal(size=30)
    found = least_angle(X.T @ X, X.T @ y, steps)
    correlations = np.abs(X.T @ (y - X @ found))
    assert np.count_nonzero(found) == steps
    np.testing.assert_allclose(correlations[found != 0], correlations.max(), rtol=1e-7)


def test_the_whole_path_ends_at_least_squares_and_equal_features_are_taken_once():
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 12)), rng.normal(size=50)
    expected = np.linalg.lstsq(X, y)[0]
    np.testing.assert_allclose(least_angle(X.T @ X, X.T @ y, 12), expected, atol=1e-9)
    twice = np.column_stack([X, X[:, 3]])
    found = least_angle(twice.T @ twice, twice.T @ y, 13)
    assert np.count_nonzero(found[[3, 12]]) == 1
    np.testing.assert_allclose(twice @ found, X @ expected, atol=1e-9)


def test_eigenmap_solves_the_generalised_problem(digits):
    graph = adaptive_neighbors(digits, 20)
    S = graph.toarray()
    D = np.diag(S.sum(axis=1))
    values, vectors = eigh(D - S, D)
    found = eigenmap(graph, 4, trivial=True)
    np.testing.assert_allclose((D - S) @ found, D @ found * values[:4], atol=1e-6)
    np.testing.assert_allclose(found.T @ D @ found, np.eye(4), atol=1e-8)
    others = eigenmap(graph, 4, trivial=False)
    np.testing.assert_allclose(np.abs(others.T @ D @ vectors[:, 1:5]), np.eye(4), atol=1e-5)


def test_eigenmap_of_a_graph_in_pieces_drops_the_constant_only():
    block = np.ones((6, 6)) - np.eye(6)
    graph = sp.csr_array(np.kron(np.eye(3), block))
    found = eigenmap(graph, 2, trivial=False)
    D = np.diag(graph.toarray().sum(axis=1))
    np.testing.assert_allclose(found.T @ D @ np.ones(18), 0, atol=1e-12)
    np.testing.assert_allclose(found.T @ D @ found, np.eye(2), atol=1e-12)
    assert len(np.unique(found.round(9), axis=0)) == 3


def test_mcfs_scores_are_the_largest_coefficients(digits):
    X = digits
    targets = eigenmap(adaptive_neighbors(X, 5), 3, trivial=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths = [
            lars_path_gram(
                X.T @ y, X.T @ X, n_samples=200, max_iter=6, method="lar", return_path=False
            )[2]
            for y in targets.T
        ]
    model = MCFS(3, n_features_to_select=6, random_state=0).fit(X)
    np.testing.assert_allclose(model.scores_, np.abs(paths).max(axis=0), atol=1e-6)
    assert model.selected_features_.sum() == 6


@pytest.mark.parametrize("rival", [LaplacianScore, MCFS])
def test_numbers_and_shares_of_features_mean_the_same(noisy, rival):
    X, _ = noisy
    number = rival(3, n_features_to_select=8, random_state=0).fit(X)
    share = rival(3, n_features_to_select=0.25, random_state=0).fit(X)
    np.testing.assert_array_equal(number.selected_features_, share.selected_features_)
    assert rival(3, n_features_to_select=99).fit(X).selected_features_.all()
