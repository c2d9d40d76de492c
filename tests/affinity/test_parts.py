"""Rows that repeat each other must not leave the graph in more parts than clusters."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from fnmf import FNMF
from fnmf.affinity import Graphs, in_few_parts, products_of, small_graph, small_graphs
from fnmf.metrics import clustering_accuracy


def repeated(seed: int, copies: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Twenty different rows in four clusters, each row many times."""
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(4), 5)
    rows = rng.normal(size=(20, 8)) + 4 * rng.normal(size=(4, 8))[y]
    return np.repeat(rows - rows.min(axis=0), copies, axis=0), np.repeat(y, copies)


def test_neighbours_grow_until_parts_are_no_more_than_clusters():
    X, _ = repeated(0)
    assert connected_components(small_graph(X, 5))[0] == 20
    graph = in_few_parts(small_graphs(products_of(X)), 5, 4)
    assert connected_components(graph)[0] <= 4


def test_a_graph_in_few_parts_is_left_as_it_is():
    X = np.random.default_rng(0).normal(size=(60, 3))
    graph = in_few_parts(small_graphs(products_of(X)), 5, 3)
    assert (graph != small_graph(X, 5)).nnz == 0


def test_growing_ends_even_if_parts_stay_many():
    X = np.repeat(np.eye(4), 50, axis=0)
    asked = []

    def build(n_neighbors):
        asked.append(n_neighbors)
        return small_graph(X, 5)

    in_few_parts(Graphs(build), 5, 2)
    assert asked == [5, 10, 20, 40, 80]


def test_more_neighbours_that_join_nothing_are_not_taken():
    X = np.repeat(np.eye(4), 60, axis=0)
    graph = in_few_parts(small_graphs(products_of(X)), 5, 2)
    assert (graph != small_graph(X, 5)).nnz == 0


@pytest.mark.parametrize("seed", range(20))
def test_reach_is_the_fewest_neighbours_that_join_parts(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (60, rng.integers(1, 5))).astype(float)
    graphs = small_graphs(products_of(X))
    count, parts = connected_components(graphs.build(2), directed=False)
    fewer = [k for k in range(3, 59) if connected_components(graphs.build(k))[0] < count]
    if count > 1:
        assert graphs.reach(parts) == min(fewer, default=59)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_clusters_of_repeated_rows_are_found(seed):
    X, y = repeated(seed)
    found = FNMF(4, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, found) >= 0.75
    _, rows = np.unique(X, axis=0, return_inverse=True)
    assert all(len(np.unique(found[rows.ravel() == one])) == 1 for one in range(20))
