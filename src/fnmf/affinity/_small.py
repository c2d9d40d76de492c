"""The adaptive-neighbour graph of a few rows, from one matrix of products.

It is built dozens of times while a fit explores. Distances lose digits that the exact search
would keep, which moves a neighbour only among those equally near.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit
from fnmf.affinity._adaptive import adaptive_weights, weigh_ties
from fnmf.affinity._parts import Graphs
from fnmf.affinity._products import products_with, turned
from fnmf.kernels.nearest import few_nearest


def small_graph(rows: Any, n_neighbors: int, weights: np.ndarray | None = None) -> sp.csr_array:
    """Symmetric graph of the nearest neighbours of ``rows``, dense or CSR."""
    return small_graphs(rows, weights).build(n_neighbors)


def small_graphs(rows: Any, weights: np.ndarray | None = None) -> Graphs:
    """Graphs of any number of neighbours of the same rows, which count as their weights."""
    products = products_with(rows, turned(rows))
    return Graphs(partial(_graph, products, weights), partial(_reach, products))


def _graph(products: np.ndarray, own: np.ndarray | None, n_neighbors: int) -> sp.csr_array:
    n = len(products)
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
