"""Equal samples: a sample is no neighbour of itself, and its twin is, in every method."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from fnmf.baselines import CAN, CLR, GNMF, MCFS, ONGR, PCAN, RMNMF, Spectral
from fnmf.baselines._adaptive import Neighbors
from fnmf.graph import adaptive_neighbors

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def X():
    """Sixty samples; two pairs of twins and one set of triplets among them."""
    X = np.random.default_rng(0).random((60, 6))
    X[31] = X[4]
    X[50] = X[17]
    X[[20, 40]] = X[8]
    return X


def by_hand(X, k):
    """Adaptive neighbours with the sample itself left out by its number alone."""
    D = cdist(X, X, "sqeuclidean")
    S = np.zeros(D.shape)
    for i, row in enumerate(D):
        others = np.array([j for j in np.argsort(row, kind="stable") if j != i])
        ranked = row[others[: k + 1]]
        total = k * ranked[k] - ranked[:k].sum()
        S[i, others[:k]] = (ranked[k] - ranked[:k]) / total
    return S


def test_the_shared_graph_ties_twins_and_nobody_to_itself(X):
    S = by_hand(X, 5)
    graph = adaptive_neighbors(X, 5).toarray()
    np.testing.assert_allclose(graph, (S + S.T) / 2, atol=1e-9)
    assert graph.diagonal().max() == 0
    assert graph[4, 31] == graph[4].max()
    sparse = adaptive_neighbors(sp.csr_array(X), 5).toarray()
    np.testing.assert_allclose(sparse, graph, atol=1e-9)


def test_learned_graphs_start_from_the_same_neighbours(X):
    edges = Neighbors.find(X, 5, None)
    np.testing.assert_allclose(edges.graph().toarray(), by_hand(X, 5), atol=1e-9)


def test_the_binary_graph_has_the_twins_too(X):
    graph = GNMF(3, graph="binary", random_state=0).fit(X).graph_.toarray()
    assert graph.diagonal().max() == 0
    assert graph[4, 31] == graph[17, 50] == graph[8, 20] == graph[20, 40] == 1


@pytest.mark.parametrize("method", [GNMF, ONGR, RMNMF, Spectral])
def test_methods_with_an_input_graph_use_that_one(X, method):
    model = method(n_clusters=3, random_state=0).fit(X)
    np.testing.assert_allclose(
        model.graph_.toarray(), adaptive_neighbors(X, 5).toarray(), atol=1e-9
    )


@pytest.mark.parametrize("method", [CAN, PCAN, CLR, GNMF, ONGR, Spectral, MCFS])
def test_twins_share_a_cluster(X, method):
    labels = method(n_clusters=3).fit_predict(X)
    assert labels[4] == labels[31]
    assert labels[17] == labels[50]
    assert labels[8] == labels[20] == labels[40]
