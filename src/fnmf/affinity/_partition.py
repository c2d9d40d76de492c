"""Clusters of a graph: spectral starts, then samples move one by one while modularity rises.

k-means on the leading eigenvectors ends in other partitions from other starts, and its own
criterion does not tell which is good. Modularity does: every start is improved by moving single
samples, and in the partition of the largest modularity clusters change places.

Eigenvectors come from subspace iteration with a Chebyshev filter: partitions need directions, not
digits, and a solver made for digits spends most of its time between calls.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fnmf._compile import njit
from fnmf.affinity._moves import Lists, Partition, exchange, improved
from fnmf.kernels.lanes import filled, item, load_part, minus, nothing, plus, store_part, times
from fnmf.kernels.tiles import LINE, wide_vectors
from fnmf.kmeans import quick_kmeans
from fnmf.relevance.defaults import DEFAULTS, Defaults

_TINY = 1e-12
# Up to so many rows, or of more than this share of all, eigenvectors are computed densely: quicker.
_DENSE_ROWS, _DENSE_SHARE = 200, 0.35
# Vectors beyond those wanted, degree of the filter, how often it is used at most, the residual at
# which directions are good enough, and up to where eigenvalues are damped at most.
_SPARE, _DEGREE, _FILTERS, _PRECISION, _DAMPED = 6, 16, 12, 1e-3, 0.999


def partition(
    graph: sp.csr_array,
    n_clusters: int,
    seed: int,
    *,
    starts: int | None = None,
    others: Sequence[np.ndarray] = (),
    defaults: Defaults = DEFAULTS,
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
    starts : int or None, default=None
        Starts of k-means on each of the two scalings of the eigenvectors; ``None`` halves
        ``defaults.starts`` between them.
    others : sequence of ndarray of shape (n,), default=()
        Further partitions to improve.
    defaults : Defaults
        Constants of eigensolver, moves and exchanges.

    Returns
    -------
    Partition
        The best of all that were improved, after its clusters have changed places.
    """
    parts = connected_parts(graph, n_clusters, defaults)
    if parts is not None:
        return parts
    half = defaults.starts // 2 if starts is None else starts
    return spectral_starts(graph, n_clusters, seed, half).improved(others, defaults)


class SpectralStarts(NamedTuple):
    """Partitions of a graph by k-means on its leading eigenvectors.

    Attributes
    ----------
    lists : Lists
        The graph.
    coordinates : ndarray of shape (n, min(n, n_clusters))
        Eigenvectors, rows of unit length.
    found : list of ndarray of shape (n,)
        Partitions.
    n_clusters : int
        Clusters that they have at most.
    """

    lists: Lists
    coordinates: np.ndarray
    found: list[np.ndarray]
    n_clusters: int

    def improved(self, others: Sequence[np.ndarray], defaults: Defaults) -> Partition:
        """The best of these and others after improving, its clusters exchanged while it pays."""
        k = self.n_clusters
        best = _best(self.lists, [*others, *self.found], k, defaults)
        return _numbered(exchange(self.lists, best, self.coordinates, k, defaults), k)


def spectral_starts(graph: sp.csr_array, n_clusters: int, seed: int, starts: int) -> SpectralStarts:
    """So many partitions from each of the two scalings of the eigenvectors."""
    rng = np.random.RandomState(seed)
    lists = Lists.of(graph)
    scale = 1 / np.sqrt(np.maximum(lists.degree, _TINY))
    vectors = _leading(graph, scale, n_clusters, rng)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    turned = vectors / np.where(lengths > _TINY, lengths, 1)
    walk = vectors * scale[:, None]
    scalings = [rows for _ in range(starts) for rows in (turned, walk)]
    found = [quick_kmeans(one, n_clusters, rng) for one in scalings]
    return SpectralStarts(lists, turned, found, n_clusters)


def best_of(
    graph: sp.csr_array,
    found: Sequence[np.ndarray],
    n_clusters: int,
    defaults: Defaults = DEFAULTS,
) -> Partition:
    """The best of some partitions after improving; its clusters are numbered as they appear."""
    parts = connected_parts(graph, n_clusters, defaults)
    if parts is not None:
        return parts
    return _numbered(_best(Lists.of(graph), found, n_clusters, defaults), n_clusters)


def connected_parts(graph: sp.csr_array, n_clusters: int, defaults: Defaults) -> Partition | None:
    """The connected parts of a graph, if they are as many as the clusters and none is a splinter.

    No tie is cut then, however long or uneven they are; modularity would rather have even ones.
    """
    count, labels = connected_components(graph, directed=False)
    least = defaults.least_part * len(labels) / n_clusters
    if count != n_clusters or np.bincount(labels).min() < least:
        return None
    return Partition(labels.astype(np.int64), np.inf)


def _best(
    lists: Lists, found: Sequence[np.ndarray], n_clusters: int, defaults: Defaults
) -> Partition:
    tried = (improved(lists, labels, n_clusters, defaults) for labels in found)
    return max(tried, key=lambda one: one.value)


def _numbered(found: Partition, n_clusters: int) -> Partition:
    """Rounding may swap the numbers that a start gives, and nothing else."""
    names, firsts = np.unique(found.labels, return_index=True)
    numbers = np.empty(n_clusters, np.int64)
    numbers[names[np.argsort(firsts)]] = np.arange(len(names))
    return Partition(numbers[found.labels], found.value)


def spectrum(graph: sp.csr_array, count: int, seed: int) -> np.ndarray:
    """The largest eigenvalues of D^-½ S D^-½, largest first."""
    degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
    scale = 1 / np.sqrt(np.maximum(degree, _TINY))
    vectors = _leading(graph, scale, count, np.random.RandomState(seed))
    image = scale[:, None] * (graph @ (scale[:, None] * vectors))
    return np.sort(np.einsum("ik,ik->k", vectors, image))[::-1]


def _leading(
    graph: sp.csr_array,
    scale: np.ndarray,
    count: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Eigenvectors of the largest eigenvalues of D^-½ S D^-½."""
    n = graph.shape[0]
    count = min(count, n)
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    balanced = graph.data * scale[rows] * scale[graph.indices]
    similarity = sp.csr_array((balanced, graph.indices, graph.indptr), graph.shape)
    if n <= _DENSE_ROWS or count > _DENSE_SHARE * n:
        top = (n - count, n - 1)
        return scipy.linalg.eigh(similarity.toarray(), subset_by_index=top)[1][:, ::-1]
    return leading_vectors(similarity, count, 1 / scale, rng)


def leading_vectors(
    similarity: sp.csr_array,
    count: int,
    first: np.ndarray,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Eigenvectors of the ``count`` largest eigenvalues, largest first.

    Parameters
    ----------
    similarity : csr_array of shape (n, n)
        Symmetric, with eigenvalues from -1 to 1.
    count : int
        Vectors wanted.
    first : ndarray of shape (n,)
        A vector known to be among them.
    rng : RandomState
        Where the others start.
    """
    n = similarity.shape[0]
    block = rng.normal(size=(n, min(count + _SPARE, n)))
    block[:, 0] = first
    block, _ = np.linalg.qr(block)
    values = np.zeros(count)
    for _ in range(_FILTERS):
        # The filter damps everything from -1 to the smallest eigenvalue that is followed.
        lowest = float(np.clip(values[-1], 0.0, _DAMPED))
        block, _ = np.linalg.qr(_filtered(similarity, block, lowest))
        image = similarity @ block
        values, turn = np.linalg.eigh(block.T @ image)
        values, turn = values[::-1], turn[:, ::-1]
        block, image = block @ turn, image @ turn
        gaps = image[:, :count] - block[:, :count] * values[:count]
        if np.linalg.norm(gaps, axis=0).max() < _PRECISION:
            break
    return np.ascontiguousarray(block[:, :count])


def _filtered(similarity: sp.csr_array, block: np.ndarray, high: float) -> np.ndarray:
    """The Chebyshev polynomial that is small from -1 to ``high`` and grows beyond, of the graph.

    ``block`` is overwritten.
    """
    half, centre = (high + 1) / 2, (high - 1) / 2
    pointers, neighbours = (
        places.astype(np.int64, copy=False) for places in (similarity.indptr, similarity.indices)
    )
    before, now = np.zeros_like(block), block
    for step in range(_DEGREE):
        factor = (2 if step else 1) / half
        _next_degree(pointers, neighbours, similarity.data, centre, factor, now, before)
        before, now = now, before
    return now


@njit(nogil=True, cache=True)
def _next_degree(pointers, neighbours, similarity, centre, factor, now, before):  # type: ignore[no-untyped-def]
    """before = factor (S now - centre now) - before, each step rounded."""
    wide_vectors()
    for i in range(now.shape[0]):
        for a in range(0, now.shape[1], LINE):
            own = load_part(now, i, a)
            pull = nothing(own)
            for entry in range(pointers[i], pointers[i + 1]):
                row = load_part(now, item(neighbours, entry), a)
                pull = plus(pull, times(filled(item(similarity, entry), own), row))
            gap = minus(pull, times(filled(centre, own), own))
            after = minus(times(filled(factor, own), gap), load_part(before, i, a))
            store_part(before, i, a, after)
