"""Samples move one by one while modularity rises."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit

# Price of unequal sizes, 1 in Newman's modularity; less lets clusters differ in size.
_RESOLUTION = 0.7
# Shares of many clusters are small, and so would be the price; from here on it grows with them.
_MANY = 10
_SWEEPS = 20


def resolution(n_clusters: int) -> float:
    """What the squared share of a cluster in all ties costs."""
    return _RESOLUTION * max(1.0, n_clusters / _MANY)


class Partition(NamedTuple):
    """Clusters of the samples, and how good they are by the criterion they were chosen by."""

    labels: np.ndarray
    value: float


class Lists(NamedTuple):
    """A graph with its degrees, as they are read once for all that is tried on it."""

    graph: sp.csr_array
    similarity: np.ndarray
    degree: np.ndarray

    @classmethod
    def of(cls, graph: sp.csr_array) -> "Lists":
        # Double precision for all graphs: another version of the loops would have to be loaded.
        similarity = graph.data.astype(np.float64, copy=False)
        return cls(graph, similarity, np.asarray(graph.sum(axis=1), np.float64).ravel())


def improve(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> Partition:
    """Move single samples to the cluster they are tied to most, as long as modularity rises."""
    return improved(Lists.of(graph), labels, n_clusters)


def improved(lists: Lists, labels: np.ndarray, n_clusters: int) -> Partition:
    """The same for a graph of which many partitions are tried."""
    graph, similarity, degree = lists
    labels = labels.astype(np.int64)
    if degree.sum() == 0:
        return Partition(labels, 0.0)
    ties = graph.indptr, graph.indices, similarity
    value = _improve(*ties, degree, labels, n_clusters, resolution(n_clusters), _SWEEPS)
    return Partition(labels, float(value))


@njit(nogil=True, cache=True)
def _improve(pointers, neighbours, similarity, degree, labels, k, resolution, sweeps):  # type: ignore[no-untyped-def]
    """Changes ``labels``; returns the modularity of what they are in the end."""
    n = len(labels)
    total = degree.sum()
    volume, count, tied = np.zeros(k), np.zeros(k, np.int64), np.zeros(k)
    for i in range(n):
        volume[labels[i]] += degree[i]
        count[labels[i]] += 1
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            own = labels[i]
            if count[own] == 1:
                continue
            tied[:] = 0
            for p in range(pointers[i], pointers[i + 1]):
                tied[labels[neighbours[p]]] += similarity[p]
            price = resolution * degree[i] / total
            best, most = own, tied[own] - price * (volume[own] - degree[i])
            for a in range(k):
                gain = tied[a] - price * volume[a]
                if a != own and gain > most + 1e-12:
                    best, most = a, gain
            if best != own:
                labels[i] = best
                volume[own] -= degree[i]
                volume[best] += degree[i]
                count[own] -= 1
                count[best] += 1
                moved += 1
        if moved == 0:
            break
    inside = 0.0
    for i in range(n):
        for p in range(pointers[i], pointers[i + 1]):
            if labels[neighbours[p]] == labels[i]:
                inside += similarity[p]
    return inside / total - resolution * np.sum((volume / total) ** 2)
