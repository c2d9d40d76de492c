"""LCNMF: monotone steps, constraints, the graph identity, orientation values."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from fnmf.baselines import LCNMF
from fnmf.baselines import _lcnmf as steps
from fnmf.baselines._rank import bipartite_components
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:500]), y[:500], 10


def start(X, c, m=40, q=5):
    U, G = steps.start(X, m, q, "kmeans", 0, None)
    _, rows, columns = bipartite_components(G, count_empty_columns=True)
    P = steps.embed(G, np.concatenate([rows, columns]), c, None)
    return U, G, P


def objective(X, U, G, P, strength):
    n = len(X)
    Q = cdist(P[:n], P[n:], "sqeuclidean")
    return np.sum((X - G @ U.T) ** 2) + 2 * strength * np.sum(G.toarray() * Q)


@pytest.mark.parametrize("strength", [0.0, 1e-2, 10.0])
def test_every_step_lowers_the_objective(digits, strength):
    X, _, c = digits
    U, G, P = start(X, c)
    np.testing.assert_allclose(P.T @ P, np.eye(c), atol=1e-8)
    totals = [objective(X, U, G, P, strength)]
    for _ in range(5):
        U = steps.update_centroids(X, U, G)
        totals.append(objective(X, U, G, P, strength))
        for _ in range(3):
            G, cross, rank = steps.update_codes(X, U, G, P, strength, 5, 1)
            totals.append(objective(X, U, G, P, strength))
            error = steps.reconstruction(X, U, G, cross)
            assert error + rank == pytest.approx(totals[-1], rel=1e-9)
        assert U.min() >= 0
        assert G.data.min() > 0
        assert np.diff(G.indptr).max() <= 5
    assert (np.diff(totals) <= 1e-12 * totals[0]).all()


def test_without_graph_and_sparsity_it_is_plain_nmf(digits):
    X, _, c = digits
    U, G, P = start(X, c, m=8, q=7)
    errors = []
    for _ in range(30):
        U = steps.update_centroids(X, U, G)
        G, cross, _ = steps.update_codes(X, U, G, P, 0.0, 8, 10)
        errors.append(steps.reconstruction(X, U, G, cross))
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] < 0.9 * errors[0]


def test_codes_take_the_exact_projected_gradient_step(digits):
    X, _, c = digits
    U, G, P = start(X, c)
    n, q, strength = len(X), 5, 0.3
    Q = cdist(P[:n], P[n:], "sqeuclidean")
    rate = 0.5 / np.linalg.eigvalsh(U.T @ U)[-1]
    dense = G.toarray()
    T = dense - rate * (2 * (dense @ (U.T @ U) - X @ U) + 2 * strength * Q)
    T = np.maximum(T, 0)
    order = np.argsort(-T, axis=1, kind="stable")
    expected = np.zeros_like(T)
    kept = order[:, :q]
    np.put_along_axis(expected, kept, np.take_along_axis(T, kept, axis=1), axis=1)
    found, _, _ = steps.update_codes(X, U, G, P, strength, q, 1)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-13)


def test_trace_of_the_laplacian_is_the_sum_over_edges(digits):
    X, _, c = digits
    _, G, P = start(X, c)
    n = len(X)
    B = sp.block_array([[None, G], [G.T, None]]).toarray()
    L = np.diag(B.sum(axis=1)) - B
    Q = cdist(P[:n], P[n:], "sqeuclidean")
    assert np.trace(P.T @ L @ P) == pytest.approx(np.sum(G.toarray() * Q))


def test_success_means_as_many_zero_eigenvalues_as_clusters(digits):
    X, _, c = digits
    model = LCNMF(c, random_state=0).fit(X)
    assert model.converged_
    assert model.n_connected_components_ == c
    G = model.embedding_
    B = np.block([[np.zeros((500, 500)), G], [G.T, np.zeros((G.shape[1], G.shape[1]))]])
    values = np.linalg.eigvalsh(np.diag(B.sum(axis=1)) - B)
    assert np.sum(values < 1e-10) == c
    assert (np.count_nonzero(G, axis=1) <= 5).all()


def test_clusters_are_within_two_standard_deviations_of_the_orientation_values(digits):
    X, y, c = digits
    models = [LCNMF(c, random_state=s).fit(X) for s in range(4)]
    by_kmeans = [clustering_accuracy(y, m.labels_) for m in models]
    by_component = [clustering_accuracy(y, m.component_labels_) for m in models]
    assert abs(np.mean(by_kmeans) - 0.809) <= 2 * 0.042
    assert abs(np.mean(by_component) - 0.825) <= 2 * 0.059


def test_components_separate_two_moons():
    X, y = make_moons(200, noise=0.06, random_state=0)
    X = X - X.min(axis=0) + 0.1
    accs = [
        clustering_accuracy(y, LCNMF(2, labels="components", random_state=s).fit_predict(X))
        for s in range(4)
    ]
    assert np.mean(accs) > 0.98


def test_a_random_start_ends_in_isolated_samples(digits):
    X, y, c = digits
    model = LCNMF(c, init="random", labels="components", random_state=0).fit(X)
    assert model.converged_
    assert clustering_accuracy(y, model.labels_) < 0.3


def test_components_that_are_missing_are_replaced_by_kmeans_with_a_warning(digits):
    X, _, c = digits
    with pytest.warns(ConvergenceWarning, match=r"not n_clusters=10.*labels are those of k-means"):
        model = LCNMF(c, labels="components", max_iter=1, random_state=0).fit(X)
    assert model.converged_ is False
    assert len(np.unique(model.labels_)) == c
