"""KMM: invariants, the spectral identity, orientation values."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_moons
from sklearn.preprocessing import normalize

from fnmf.baselines import KMM
from fnmf.baselines._bipartite import TwoSided, bipartite_embedding, degrees
from fnmf.baselines._prototypes import move_prototypes
from fnmf.baselines._spectral import inverse_root
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:500]), y[:500], 10


def weights_on(rng, n=60, m=12, k=4):
    near = np.argsort(rng.random((n, m)), axis=1)[:, :k]
    S = np.zeros((n, m))
    np.put_along_axis(S, near, rng.dirichlet(np.ones(k), n), axis=1)
    return sp.csr_array(S)


def test_learned_graph_keeps_its_promises(digits):
    X, _, c = digits
    model = KMM(c, random_state=0).fit(X)
    S = model.graph_
    assert S.data.min() > 0
    np.testing.assert_allclose(S.sum(axis=1), 1, atol=1e-12)
    assert np.diff(S.indptr).max() <= 5
    assert S.shape == (500, len(model.prototypes_))
    assert len(model.prototypes_) <= 70
    assert set(model.labels_) == set(range(c)) == set(model.prototype_labels_) - {-1}
    rows, columns = S.nonzero()
    np.testing.assert_array_equal(model.labels_[rows], model.prototype_labels_[columns])
    N = S.toarray() * inverse_root(degrees(S))
    sigma = np.linalg.svd(N, compute_uv=False)
    np.testing.assert_allclose(sigma[:c], 1, atol=1e-9)
    assert sigma[c] < 1 - 1e-9


def test_embedding_is_orthonormal_and_satisfies_the_spectral_identity():
    S = weights_on(np.random.default_rng(0))
    n = S.shape[0]
    F = bipartite_embedding(S, 3)
    np.testing.assert_allclose(F[:n].T @ F[:n], np.eye(3) / 2, atol=1e-9)
    np.testing.assert_allclose(F[n:].T @ F[n:], np.eye(3) / 2, atol=1e-9)
    scale = inverse_root(degrees(S))
    sigma = np.linalg.svd(S.toarray() * scale, compute_uv=False)
    assert sigma[0] == pytest.approx(1)
    between = cdist(F[:n], F[n:] * scale[:, None], "sqeuclidean")
    assert np.sum(S.toarray() * between) == pytest.approx(3 - sigma[:3].sum())


def test_embedding_survives_a_graph_of_low_rank():
    S = sp.csr_array(np.repeat([[0.5, 0.5, 0.0, 0.0]], 20, axis=0))
    F = bipartite_embedding(S, 3)
    np.testing.assert_allclose(F[:20].T @ F[:20], np.eye(3) / 2, atol=1e-9)


def test_prototypes_move_to_weighted_means_and_idle_ones_go():
    graph = sp.csr_array(np.array([[0.5, 0.5, 0], [1.0, 0, 0], [0, 1.0, 0]]))
    prototypes, nearest = np.array([[0.0], [10.0], [99.0]]), np.array([0, 0, 1])
    X = np.array([[0.0], [3.0], [12.0]])
    moved = move_prototypes(X, prototypes, graph, nearest, 2)
    np.testing.assert_allclose(moved, [[2.0], [12.0]])
    moved = move_prototypes(X, prototypes, graph, nearest, 3)
    np.testing.assert_allclose(moved, [[2.0], [12.0], [99.0]])


def test_clusters_are_within_two_standard_deviations_of_the_orientation_value(digits):
    X, y, c = digits
    accs = [clustering_accuracy(y, KMM(c, random_state=s).fit_predict(X)) for s in range(5)]
    assert abs(np.mean(accs) - 0.818) <= 2 * 0.045


def test_two_moons_need_few_neighbouring_prototypes():
    X, y = make_moons(200, noise=0.06, random_state=0)
    accs = [
        clustering_accuracy(y, KMM(2, n_neighbors=3, random_state=s).fit_predict(X))
        for s in range(5)
    ]
    assert np.mean(accs) > 0.98


def test_same_seed_same_result(digits):
    X, _, c = digits
    first, second = KMM(c, random_state=1).fit(X), KMM(c, random_state=1).fit(X)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.prototypes_, second.prototypes_)


@pytest.mark.parametrize("n_prototypes", [2, 501])
def test_a_senseless_number_of_prototypes_is_named(digits, n_prototypes):
    X, _, c = digits
    with pytest.raises(ValueError, match=f"n_prototypes={n_prototypes}"):
        KMM(c, n_prototypes=n_prototypes).fit(X)


def projected(v):
    u = np.sort(v)[::-1]
    thresholds = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    return np.maximum(v - thresholds[np.flatnonzero(u > thresholds)[-1]], 0)


def closed_form(D, k):
    near = np.argsort(D, axis=1, kind="stable")[:, : k + 1]
    ranked = np.take_along_axis(D, near, axis=1)
    gammas = (k * ranked[:, k] - ranked[:, :k].sum(axis=1)) / 2
    S = np.zeros(D.shape)
    weights = (ranked[:, [k]] - ranked[:, :k]) / (2 * gammas[:, None])
    np.put_along_axis(S, near[:, :k], weights, axis=1)
    return S, gammas.mean(), near[:, :k]


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_two_sided_step_is_the_mean_of_both_choices(digits, scale):
    X, k = digits[0][:80], 3
    prototypes = digits[0][100:115]
    sides = TwoSided(X * scale, prototypes * scale, k, scale, None)
    D = cdist(X, prototypes, "sqeuclidean")
    Z, gamma, near = closed_form(D, k)
    back, gamma_back, near_back = closed_form(D.T, k)
    first = (Z + back.T) / 2
    first /= first.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(sides.start.toarray(), first, atol=1e-9)
    assert sides.strength == pytest.approx(scale**2 * (gamma + gamma_back) / 2)

    F = bipartite_embedding(sides.start, 4)
    left, right = F[:80], F[80:] / np.sqrt(first.sum(axis=0))[:, None]
    T, strength = cdist(left, right, "sqeuclidean"), 0.7
    Z, back = np.zeros((80, 15)), np.zeros((15, 80))
    for i in range(80):
        Z[i, near[i]] = projected(-(D[i, near[i]] + strength * T[i, near[i]]) / (2 * gamma))
    for j in range(15):
        chosen = near_back[j]
        back[j, chosen] = projected(D.T[j, chosen] - 0.5 * strength * T.T[j, chosen])
    expected = (Z + back.T) / 2
    expected /= expected.sum(axis=1, keepdims=True)
    graph, fit, rank = sides.step(F, strength * scale**2)
    np.testing.assert_allclose(graph.toarray(), expected, atol=1e-8)
    cost = np.sum(D * expected) + gamma * np.sum(expected**2)
    assert fit == pytest.approx(scale**2 * cost)
    assert rank == pytest.approx(scale**2 * strength * np.sum(T * expected))


def test_two_sided_graph_reaches_the_value_of_the_authors_program(digits):
    X, y, c = digits
    models = [KMM(c, graph="two-sided", init="random", random_state=s).fit(X) for s in range(5)]
    accs = [clustering_accuracy(y, model.labels_) for model in models]
    assert abs(np.mean(accs) - 0.788) <= 2 * 0.064
    for model in models:
        np.testing.assert_allclose(model.graph_.sum(axis=1), 1, atol=1e-12)
        assert set(model.labels_) == set(model.prototype_labels_)
