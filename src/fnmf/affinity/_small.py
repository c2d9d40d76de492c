"""The adaptive-neighbour graph of a few rows, from one matrix of products.

It is built dozens of times while a fit explores. Distances lose digits that the exact search
would keep, which moves a neighbour only among those equally near.

Rows that repeat each other, as those of categories or small counts do, are each other's nearest
neighbours: the graph falls into many parts, and nothing tells which of them belong together. So
neighbours are added until there are no more parts than clusters.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fnmf._compile import njit
from fnmf.affinity._adaptive import adaptive_weights, weigh_ties
from fnmf.kernels.csr import dense_products
from fnmf.kernels.nearest import few_nearest
from fnmf.relevance.defaults import DEFAULTS, Defaults


class Graphs(NamedTuple):
    """Graphs of the same rows.

    Attributes
    ----------
    build : callable
        The graph of so many neighbours.
    reach : callable or None
        From the parts of the rows to the fewest neighbours with which any two of them meet.
    """

    build: Callable[[int], sp.csr_array]
    reach: Callable[[np.ndarray], int] | None = None


def in_few_parts(
    graphs: Graphs, n_neighbors: int, n_clusters: int, defaults: Defaults = DEFAULTS
) -> sp.csr_array:
    """A graph with neighbours doubled until it has at most ``n_clusters`` parts.

    Never more neighbours than half of the samples or ``defaults.most_neighbors``, whichever is
    less; of those that leave as many parts the fewest.
    """
    best = graphs.build(n_neighbors)
    most = min(best.shape[0] // 2, defaults.most_neighbors)
    fewest, parts = connected_components(best, directed=False)
    needed = 0
    while fewest > n_clusters and 2 * n_neighbors <= most:
        n_neighbors *= 2
        if graphs.reach is not None and not needed:
            needed = graphs.reach(parts)
        if n_neighbors < needed:
            continue
        graph = graphs.build(n_neighbors)
        count, found = connected_components(graph, directed=False)
        if count < fewest:
            best, fewest, parts, needed = graph, count, found, 0
    return best


def turned(rows: Any) -> Any:
    """Rows feature by feature, as ``products_with`` wants them."""
    return rows.T if isinstance(rows, np.ndarray) else sp.csr_array(rows.T)


def products_with(rows: Any, others: Any, place: np.ndarray | None = None) -> np.ndarray:
    """``rows`` times ``others``, which are turned; dense ones go to ``place``."""
    if isinstance(rows, np.ndarray) and isinstance(others, np.ndarray):
        return np.matmul(rows, others, out=place)
    if isinstance(rows, np.ndarray) or isinstance(others, np.ndarray):
        return np.ascontiguousarray(rows @ others)
    parts = others.indptr, others.indices, others.data
    return dense_products(rows.indptr, rows.indices, rows.data, *parts, others.shape[1])


def small_graph(rows: Any, n_neighbors: int, weights: np.ndarray | None = None) -> sp.csr_array:
    """Symmetric graph of the nearest neighbours of ``rows``, dense or CSR."""
    return small_graphs(rows, weights).build(n_neighbors)


def small_graphs(rows: Any, weights: np.ndarray | None = None) -> Graphs:
    """Graphs of any number of neighbours of the same rows, which count as their weights."""
    products = products_with(rows, turned(rows))
    return Graphs(partial(_graph, products, weights), partial(_reach, products))


def _graph(products: np.ndarray, own: np.ndarray | None, n_neighbors: int) -> sp.csr_array:
    n = len(products)
    if n == 2:
        # There is no further row for a weight to fall to: each is all that the other has.
        return sp.csr_array(1 - np.eye(2, dtype=products.dtype))
    k = min(n_neighbors, n - 2)
    squares = np.diag(products).astype(np.float64)
    indices, distances = few_nearest(products, squares, squares, k + 1, True)
    weights = adaptive_weights(distances)
    if own is not None:
        weights = weigh_ties(weights, indices[:, :k], own)
    pointers = np.arange(0, n * k + 1, k)
    A = sp.csr_array((weights.ravel(), indices[:, :k].ravel(), pointers), (n, n))
    S = sp.csr_array(A + A.T)
    S.data *= 0.5
    S.sort_indices()
    return S


@njit(nogil=True, cache=True)
def _reach(products, parts):  # type: ignore[no-untyped-def]
    """The fewest neighbours with which a row is tied to one of another part.

    Of so many neighbours those count that are nearer than the next one after them; if all are
    equally near, all of them do.
    """
    n = len(products)
    fewest = n
    gaps = np.empty(n)
    for i in range(n):
        nearest = outside = np.inf
        for j in range(n):
            if j == i:
                continue
            gap = products[i, i] + float(products[j, j]) - 2 * float(products[i, j])
            gaps[j] = max(gap, 0.0)
            nearest = min(nearest, gaps[j])
            if parts[j] != parts[i]:
                outside = min(outside, gaps[j])
        count = 0
        for j in range(n):
            if j != i and gaps[j] <= outside:
                count += 1
                if outside == nearest and parts[j] != parts[i]:
                    break
        fewest = min(fewest, count)
    return fewest


def nearest_rows(here: Any, there: Any, count: int) -> np.ndarray:
    """The ``count`` rows ``there`` nearest to each row ``here``, nearest first."""
    products = products_with(here, turned(there))
    squares = there.multiply(there) if not isinstance(there, np.ndarray) else there * there
    gaps = np.asarray(squares.sum(axis=1), np.float64).ravel() - 2.0 * products
    count = min(count, gaps.shape[1])
    few = np.sort(np.argpartition(gaps, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(np.take_along_axis(gaps, few, axis=1), axis=1, kind="stable")
    return np.take_along_axis(few, order, axis=1)
