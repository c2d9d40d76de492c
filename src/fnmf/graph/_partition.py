"""Clusters of a graph: spectral starts, then samples move one by one while modularity rises.

k-means on the leading eigenvectors ends in other partitions from other starts, and its own
criterion does not tell which is good. Modularity does: every start is improved by moving single
samples, and the partition of the largest modularity is kept.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numba import njit

from fnmf._lloyd import quick_kmeans
from fnmf.graph._eigen import leading_vectors

# Price of unequal sizes, 1 in Newman's modularity; less lets clusters differ in size.
RESOLUTION = 0.7
# Up to so many samples a dense eigensolver is faster.
_SMALL = 200
_SWEEPS = 20
_TINY = 1e-12


class Partition(NamedTuple):
    """Clusters of the samples, and how good they are by the criterion they were chosen by."""

    labels: np.ndarray
    value: float


def partition(
    graph: sp.csr_array,
    n_clusters: int,
    seed: int,
    *,
    starts: int = 4,
    others: Sequence[np.ndarray] = (),
) -> Partition:
    """Clusters that hold together in a graph.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric similarities with empty diagonal.
    n_clusters : int
        Clusters.
    seed : int
        Seed of eigensolver and k-means.
    starts : int, default=4
        Starts of k-means on each of the two scalings of the eigenvectors.
    others : sequence of ndarray of shape (n,), default=()
        Further partitions to improve.

    Returns
    -------
    Partition
        The best of all that were improved.
    """
    rng = np.random.RandomState(seed)
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    found = [*others, *_spectral(graph, degree, n_clusters, starts, rng)]
    return best_of(graph, found, n_clusters)


def best_of(graph: sp.csr_array, found: Sequence[np.ndarray], n_clusters: int) -> Partition:
    """The best of some partitions after improving; its clusters are numbered as they appear."""
    improved = [improve(graph, labels, n_clusters) for labels in found]
    best = max(improved, key=lambda one: one.value)
    names, firsts = np.unique(best.labels, return_index=True)
    # Rounding may swap the numbers that a start gives, and nothing else.
    numbers = np.empty(n_clusters, np.int64)
    numbers[names[np.argsort(firsts)]] = np.arange(len(names))
    return Partition(numbers[best.labels], best.value)


def improve(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> Partition:
    """Move single samples to the cluster they are tied to most, as long as modularity rises."""
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    labels = labels.astype(np.int64)
    if degree.sum() == 0:
        return Partition(labels, 0.0)
    lists = graph.indptr, graph.indices, graph.data
    value = _improve(*lists, degree, labels, n_clusters, RESOLUTION, _SWEEPS)
    return Partition(labels, float(value))


def _spectral(
    graph: sp.csr_array,
    degree: np.ndarray,
    n_clusters: int,
    starts: int,
    rng: np.random.RandomState,
) -> list[np.ndarray]:
    """k-means on the leading eigenvectors, with rows at unit length and over root degrees."""
    scale = 1 / np.sqrt(np.maximum(degree, _TINY))
    vectors = _leading(graph, scale, n_clusters, rng)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    turned = vectors / np.where(lengths > _TINY, lengths, 1)
    walk = vectors * scale[:, None]
    return [quick_kmeans(rows, n_clusters, rng) for _ in range(starts) for rows in (turned, walk)]


def spectrum(graph: sp.csr_array, count: int, seed: int) -> np.ndarray:
    """The largest eigenvalues of D^-½ S D^-½, largest first."""
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    scale = 1 / np.sqrt(np.maximum(degree, _TINY))
    vectors = _leading(graph, scale, count, np.random.RandomState(seed))
    image = scale[:, None] * (graph @ (scale[:, None] * vectors))
    return np.sort(np.einsum("ik,ik->k", vectors, image))[::-1]


def _leading(
    graph: sp.csr_array, scale: np.ndarray, count: int, rng: np.random.RandomState
) -> np.ndarray:
    """Eigenvectors of the largest eigenvalues of D^-½ S D^-½."""
    n = graph.shape[0]
    count = min(count, n)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    balanced = graph.data * scale[rows] * scale[graph.indices]
    similarity = sp.csr_array((balanced, graph.indices, graph.indptr), graph.shape)
    if n <= _SMALL:
        top = (n - count, n - 1)
        return scipy.linalg.eigh(similarity.toarray(), subset_by_index=top)[1][:, ::-1]
    return leading_vectors(similarity, count, 1 / scale, rng)


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
