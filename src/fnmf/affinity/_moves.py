"""Modularity of clusters in a graph, and samples that move one by one while it rises."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit
from fnmf.relevance.defaults import DEFAULTS, Defaults


def resolution(n_clusters: int, defaults: Defaults = DEFAULTS) -> float:
    """Resolution of modularity; it grows with many clusters, whose shares of the ties are small."""
    return defaults.resolution * max(1.0, n_clusters / defaults.resolution_clusters)


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


def improve(
    graph: sp.csr_array, labels: np.ndarray, n_clusters: int, defaults: Defaults = DEFAULTS
) -> Partition:
    """Move single samples to the cluster they are tied to most, as long as modularity rises."""
    return improved(Lists.of(graph), labels, n_clusters, defaults)


def improved(
    lists: Lists, labels: np.ndarray, n_clusters: int, defaults: Defaults = DEFAULTS
) -> Partition:
    """The same for a graph of which many partitions are tried."""
    graph, similarity, degree = lists
    labels = labels.astype(np.int64)
    if degree.sum() == 0:
        return Partition(labels, 0.0)
    ties = graph.indptr, graph.indices, similarity
    price, sweeps = resolution(n_clusters, defaults), defaults.move_sweeps
    sums = np.zeros((2, n_clusters)), np.zeros(n_clusters, np.int64)
    value = _improve(*ties, degree, labels, *sums, price, sweeps)
    return Partition(labels, float(value))


@njit(nogil=True, cache=True, error_model="numpy")
def _improve(pointers, neighbours, similarity, degree, labels, sums, count, resolution, sweeps):  # type: ignore[no-untyped-def]
    """Changes ``labels``; returns the modularity of what they are in the end."""
    n, k = len(labels), len(count)
    volume, tied = sums[0], sums[1]
    total = 0.0
    for i in range(n):
        total += degree[i]
        volume[labels[i]] += degree[i]
        count[labels[i]] += 1
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            own = labels[i]
            if count[own] == 1:
                continue
            for a in range(k):
                tied[a] = 0
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
    inside = expected = 0.0
    for i in range(n):
        for p in range(pointers[i], pointers[i + 1]):
            if labels[neighbours[p]] == labels[i]:
                inside += similarity[p]
    for a in range(k):
        expected += (volume[a] / total) * (volume[a] / total)
    return inside / total - resolution * expected


def modularity(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> float:
    """Newman's modularity over its largest value: edges inside the clusters beyond chance."""
    pairs = graph.tocoo(copy=False)
    rows, columns = pairs.coords
    total = pairs.data.sum(dtype=np.float64)
    if total == 0:
        return 0.0
    degree = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    inside = pairs.data[labels[rows] == labels[columns]].sum(dtype=np.float64)
    volumes = np.bincount(labels, degree)
    found = inside / total - np.sum((volumes / total) ** 2)
    # So many clusters of equal size without an edge between them would have 1 − 1/c.
    return float(found / (1 - 1 / max(n_clusters, 2)))


def ties_between(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Share of all ties that lead from one cluster to another, (n_clusters, n_clusters)."""
    pairs = graph.tocoo(copy=False)
    rows, columns = (labels[side].astype(np.int64) for side in pairs.coords)
    ties = np.bincount(rows * n_clusters + columns, pairs.data, n_clusters**2)
    ties = ties.reshape(n_clusters, n_clusters)
    total = ties.sum()
    return ties / total if total > 0 else ties
