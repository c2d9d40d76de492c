"""Modularity of clusters in a graph, and partitions that change while it rises.

Samples move one by one. That cannot mend a partition which holds two groups in one cluster and one
group in two: every step on the way would cost. So one cluster is cut in two, and two others become
one: both at once gain.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit
from fnmf.kmeans import halved
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Modularity must rise by more than rounding.
_RISE = 1e-9


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
    rows: np.ndarray

    @classmethod
    def of(cls, graph: sp.csr_array) -> "Lists":
        # Double precision for all graphs: another version of the loops would have to be loaded.
        similarity = graph.data.astype(np.float64, copy=False)
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
        return cls(graph, similarity, degree, rows)


def improve(
    graph: sp.csr_array, labels: np.ndarray, n_clusters: int, defaults: Defaults = DEFAULTS
) -> Partition:
    """Move single samples to the cluster they are tied to most, as long as modularity rises."""
    return improved(Lists.of(graph), labels, n_clusters, defaults)


def improved(
    lists: Lists, labels: np.ndarray, n_clusters: int, defaults: Defaults = DEFAULTS
) -> Partition:
    """The same for a graph of which many partitions are tried."""
    graph, similarity, degree, _ = lists
    labels = labels.astype(np.int64)
    if degree.sum() == 0:
        return Partition(labels, 0.0)
    ties = graph.indptr, graph.indices, similarity
    price, sweeps = resolution(n_clusters, defaults), defaults.sweeps
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
    return _ties_between(Lists.of(graph), labels, n_clusters)


def _ties_between(lists: Lists, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    labels = labels.astype(np.int64, copy=False)
    pairs = (n_clusters * labels)[lists.rows] + labels[lists.graph.indices]
    ties = np.bincount(pairs, lists.similarity, n_clusters**2).reshape(n_clusters, n_clusters)
    total = ties.sum()
    return ties / total if total > 0 else ties


class _Exchange(NamedTuple):
    """What modularity gains before samples move, which cluster is cut, which two become one."""

    gain: float
    cut: int
    one: int
    other: int


def exchange(
    lists: Lists,
    found: Partition,
    coordinates: np.ndarray,
    n_clusters: int,
    defaults: Defaults = DEFAULTS,
) -> Partition:
    """Exchange while modularity rises.

    Parameters
    ----------
    lists : Lists
        Symmetric similarities.
    found : Partition
        Where to begin.
    coordinates : ndarray of shape (n, e)
        Of the samples; clusters are cut in two along them.
    n_clusters : int
        Clusters, the same number in the end; fewer than three have nothing to exchange.
    """
    for _ in range(defaults.exchanges if n_clusters > 2 else 0):
        rng = np.random.RandomState(0)
        second = halved(coordinates, found.labels, defaults.fewest_rows, rng) == 1
        tries = _promising(lists, found.labels, second, n_clusters, defaults)
        after = (_after(found.labels, second, one) for one in tries)
        moved = (improved(lists, labels, n_clusters, defaults) for labels in after)
        better = next((one for one in moved if one.value > found.value + _RISE), None)
        if better is None:
            break
        found = better
    return found


def _promising(
    lists: Lists, labels: np.ndarray, second: np.ndarray, k: int, defaults: Defaults
) -> list[_Exchange]:
    """For every cluster that can be cut the best two to join; the best few of these."""
    # Halves are numbered 0 … k − 1 and k … 2k − 1.
    ties = _ties_between(lists, np.where(second, labels + k, labels), 2 * k)
    volumes = ties.sum(axis=1)
    joined = 2 * (ties - resolution(k, defaults) * np.outer(volumes, volumes))
    whole, between = (one.reshape(2, k, 2, k).sum(axis=(0, 2)) for one in (joined, ties))
    one, other = np.triu_indices(k, 1)
    order = np.argsort(-whole[one, other], kind="stable")
    one, other = one[order], other[order]
    bridges = between[one, other]
    found = []
    for cut in np.unique(labels[second]).tolist():
        fit = (one != cut) & (other != cut) & (bridges >= defaults.small * ties[cut, cut + k])
        if fit.any():
            best = fit.argmax()
            a, b = int(one[best]), int(other[best])
            found.append(_Exchange(float(whole[a, b] - joined[cut, cut + k]), cut, a, b))
    return sorted(found, reverse=True)[: defaults.exchanges]


def _after(labels: np.ndarray, second: np.ndarray, change: _Exchange) -> np.ndarray:
    after = np.where(labels == change.one, change.other, labels)
    after[second & (labels == change.cut)] = change.one
    return after
