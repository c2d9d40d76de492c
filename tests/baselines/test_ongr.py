"""ONGR: monotone objective, block graphs, the limit of strong coupling, orientation values."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.preprocessing import normalize

from fnmf.baselines import ONGR
from fnmf.baselines._ongr import leading_eigenvectors, normalised, reconstruct
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:500]), y[:500], 10


@pytest.mark.parametrize("coupling", [1e-3, 0.1, 10.0, 1e3])
def test_objective_never_rises_and_constraints_hold(digits, coupling):
    X, _, c = digits
    model = ONGR(c, coupling=coupling, random_state=0, tol=1e-6).fit(X)
    total = model.history_["total"]
    assert (np.diff(total) <= 1e-12 * total[0]).all()
    F, G = model.embedding_, model.components_.T
    np.testing.assert_allclose(F.T @ F, np.eye(c), atol=1e-10)
    assert G.min() >= 0
    A = normalised(model.graph_).toarray()
    expected = np.sum((A - F @ G.T) ** 2) + coupling * np.sum((F - G) ** 2)
    assert model.objective_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("coupling", [1e-3, 0.1, 10.0])
def test_best_of_several_starts_finds_the_blocks_of_a_block_graph(coupling):
    rng = np.random.default_rng(0)
    sizes = rng.integers(20, 50, 4)
    blocks = [rng.random((size, size)) for size in sizes]
    parts = [sp.coo_array((B + B.T) * (1 - np.eye(len(B)))) for B in blocks]
    graph = sp.block_diag(parts, format="csr")
    truth = np.repeat(np.arange(4), sizes)
    model = ONGR(4, coupling=coupling, graph=graph, n_init=5, labels="argmax", random_state=0)
    labels = model.fit_predict(rng.random((len(truth), 3)))
    np.testing.assert_array_equal(labels, truth)


def test_strong_coupling_makes_both_factors_meet(digits):
    X, _, c = digits
    gaps = []
    for coupling in (0.1, 1e3):
        model = ONGR(c, coupling=coupling, random_state=0, tol=1e-6).fit(X)
        gaps.append(np.linalg.norm(model.embedding_ - model.components_.T) / np.sqrt(c))
    assert gaps[1] < 0.2 * gaps[0]


def test_permuted_samples_give_permuted_factors(digits):
    X, _, c = digits
    A = normalised(adaptive_neighbors(X, 5))
    F = np.linalg.qr(np.random.default_rng(0).normal(size=(len(X), c)))[0]
    order = np.random.default_rng(1).permutation(len(X))
    plain, _, _, _ = reconstruct(A, F, 0.1, 20, 0.0)
    turned, _, _, _ = reconstruct(sp.csr_array(A[order][:, order]), F[order], 0.1, 20, 0.0)
    np.testing.assert_allclose(turned, plain[order], atol=1e-9)


def test_start_spans_the_leading_eigenvectors(digits):
    X, _, c = digits
    S = adaptive_neighbors(X, 5)
    A = normalised(S)
    found = leading_eigenvectors(A, S, sp.csgraph.connected_components(S)[1], c)
    dense = np.linalg.eigh(A.toarray())[1][:, -c:]
    np.testing.assert_allclose(found @ found.T, dense @ dense.T, atol=1e-7)


def test_samples_without_edges_keep_finite_values():
    X = np.random.default_rng(0).random((40, 3))
    S = adaptive_neighbors(X, 5).tolil()
    S[0, :] = 0
    S[:, 0] = 0
    graph = sp.csr_array(S)
    model = ONGR(3, graph=graph, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("rule", ["kmeans", "argmax"])
def test_clusters_are_within_two_standard_deviations_of_the_orientation_value(digits, rule):
    X, y, c = digits
    accs = [
        clustering_accuracy(y, ONGR(c, labels=rule, random_state=s).fit_predict(X))
        for s in range(5)
    ]
    assert abs(np.mean(accs) - 0.832) <= 2 * 0.04


def test_toy_data_are_separated_from_every_start():
    X, y = make_moons(200, noise=0.06, random_state=0)
    centres = [[1, 1], [4, 1], [2.5, 4]]
    Z, z = make_blobs(300, centers=centres, cluster_std=0.5, random_state=0)
    for seed in range(5):
        assert clustering_accuracy(y, ONGR(2, random_state=seed).fit_predict(X)) == 1.0
        assert clustering_accuracy(z, ONGR(3, random_state=seed).fit_predict(Z)) > 0.97


def test_new_rows_land_beside_their_neighbours(digits):
    X, y, c = digits
    model = ONGR(c, random_state=0).fit(X[:400])
    new = model.transform(X[400:])
    nearest = np.argmin(((new[:, None] - model.embedding_[None]) ** 2).sum(axis=2), axis=1)
    assert np.mean(y[:400][nearest] == y[400:]) > 0.85
