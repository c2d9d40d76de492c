"""Clusters of a graph: the criterion, the moves, the eigenvectors."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from fnmf.affinity import adaptive_neighbors, improve, modularity, partition, small_graph
from fnmf.affinity._moves import Lists, exchange, resolution
from fnmf.affinity._partition import leading_vectors
from fnmf.metrics import clustering_accuracy


def random_graph(n: int, seed: int, share: float = 0.5) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < share), 1)
    return sp.csr_array(A + A.T)


def value(graph: sp.csr_array, labels: np.ndarray) -> float:
    """The criterion from its definition."""
    S = graph.toarray()
    same = labels[:, None] == labels
    expected = np.outer(S.sum(axis=1), S.sum(axis=1)) / S.sum()
    return float(((S - resolution(labels.max() + 1) * expected) * same).sum() / S.sum())


@pytest.mark.parametrize("seed", range(5))
def test_value_is_the_modularity_of_its_definition(seed):
    graph = random_graph(12, seed)
    labels = np.random.default_rng(seed).integers(0, 3, 12)
    found = improve(graph, labels, 3)
    assert found.value == pytest.approx(value(graph, found.labels))


@pytest.mark.parametrize("seed", range(5))
def test_no_single_move_is_better_than_what_improving_ends_with(seed):
    graph = random_graph(15, seed)
    start = np.arange(15) % 3
    found = improve(graph, start, 3)
    assert found.value >= value(graph, start) - 1e-12
    for i, cluster in product(range(15), range(3)):
        moved = found.labels.copy()
        moved[i] = cluster
        if len(np.unique(moved)) == 3:
            assert value(graph, moved) <= found.value + 1e-9


def test_best_partition_of_a_small_graph_is_found():
    # Three rings that hardly touch: brute force over all labellings of nine samples.
    ring = np.roll(np.eye(3), 1, axis=1)
    S = np.kron(np.eye(3), ring + ring.T) + 0.01 * (1 - np.eye(9))
    graph = sp.csr_array(S)
    best = max(value(graph, np.array(labels)) for labels in product(range(3), repeat=9))
    assert partition(graph, 3, seed=0, starts=4).value == pytest.approx(best)


def groups(count: int, each: int) -> sp.csr_array:
    """Groups of samples that are tied to all of their own and hardly to others."""
    S = np.kron(np.eye(count), np.ones((each, each))) + 0.01
    np.fill_diagonal(S, 0)
    return sp.csr_array(S)


def test_clusters_change_places_where_moving_single_samples_is_stuck():
    truth = np.repeat(np.arange(4), 6)
    # The first group is in two clusters, the last two share one.
    start = np.array([0, 1, 2, 3, 3])[np.repeat(np.arange(5), [3, 3, 6, 6, 6])]
    graph = groups(4, 6)
    stuck = improve(graph, start, 4)
    assert clustering_accuracy(truth, stuck.labels) < 0.8
    coordinates = np.eye(4)[truth]
    found = exchange(Lists.of(graph), stuck, coordinates, 4)
    assert clustering_accuracy(truth, found.labels) == 1
    assert found.value == pytest.approx(value(graph, found.labels))
    assert found.value > stuck.value


def test_two_clusters_have_nothing_to_exchange():
    graph = groups(2, 4)
    start = improve(graph, np.repeat([0, 1], 4), 2)
    assert exchange(Lists.of(graph), start, np.eye(8), 2) is start


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_never_lower_modularity_and_keep_the_number_of_clusters(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(40, seed, 0.2)
    start = improve(graph, rng.integers(0, 6, 40), 6)
    found = exchange(Lists.of(graph), start, rng.normal(size=(40, 3)), 6)
    assert found.value >= start.value
    assert len(np.unique(found.labels)) == 6
    assert found.value == pytest.approx(value(graph, found.labels))


def test_price_of_unequal_sizes_grows_with_many_clusters():
    assert resolution(2) == resolution(10)
    assert resolution(40) == pytest.approx(4 * resolution(10))


@pytest.mark.parametrize("seed", range(3))
def test_separated_groups_are_found_whatever_their_sizes(seed):
    X, y = make_blobs([200, 60, 20, 10], n_features=3, cluster_std=0.3, random_state=seed)
    found = partition(adaptive_neighbors(X, 5), 4, seed=seed, starts=4)
    assert clustering_accuracy(y, found.labels) > 0.98


def test_partition_of_a_graph_without_edges_is_harmless():
    found = partition(sp.csr_array((6, 6)), 2, seed=0, starts=4)
    assert found.value == 0
    assert set(found.labels) <= {0, 1}


def test_eigenvectors_agree_with_a_dense_solver():
    X, _ = make_blobs(600, n_features=5, centers=6, cluster_std=2.0, random_state=0)
    graph = adaptive_neighbors(X, 7)
    scale = 1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    S = sp.csr_array(sp.diags_array(scale) @ graph @ sp.diags_array(scale))
    ours = leading_vectors(S, 4, 1 / scale, np.random.RandomState(0))
    values = np.einsum("ia,ia->a", ours, S @ ours)
    expected = np.linalg.eigvalsh(S.toarray())[::-1][:4]
    np.testing.assert_allclose(values, expected, atol=1e-4)
    np.testing.assert_allclose(ours.T @ ours, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_small_graph_is_the_exact_one(form):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 6)) * (rng.uniform(size=(80, 6)) < 0.7)
    expected = adaptive_neighbors(X, 4).toarray()
    np.testing.assert_allclose(small_graph(form(X), 4).toarray(), expected, atol=1e-9)


def test_modularity_does_not_fall_through_improving():
    X, _ = make_blobs(150, centers=3, cluster_std=3.0, random_state=1)
    graph = adaptive_neighbors(X, 5)
    start = np.random.default_rng(0).integers(0, 3, 150)
    assert modularity(graph, improve(graph, start, 3).labels, 3) > modularity(graph, start, 3)
