"""The adaptive-neighbour graph of a few rows, from one matrix of products.

It is built dozens of times while a fit explores. Distances lose digits that the exact search
would keep, which moves a neighbour only among those equally near.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from fnmf.graph._adaptive import adaptive_weights

# Distances that are looked at together; mostly none of them is among the nearest.
_TOGETHER = 8


def small_graph(rows: Any, n_neighbors: int) -> sp.csr_array:
    """Symmetric graph of the nearest neighbours of ``rows``, dense or CSR."""
    return small_graphs(rows)(n_neighbors)


def small_graphs(rows: Any) -> Callable[[int], sp.csr_array]:
    """Graphs of any number of neighbours of the same rows."""
    products = rows @ rows.T
    products = products if isinstance(products, np.ndarray) else products.toarray()
    return partial(_graph, products)


def _graph(products: np.ndarray, n_neighbors: int) -> sp.csr_array:
    n = len(products)
    k = min(n_neighbors, n - 2)
    indices, distances = _nearest(products, k + 1)
    weights = adaptive_weights(distances)
    pointers = np.arange(0, n * k + 1, k)
    A = sp.csr_array((weights.ravel(), indices[:, :k].ravel(), pointers), (n, n))
    S = sp.csr_array(A + A.T)
    S.data *= 0.5
    S.sort_indices()
    return S


def nearest_rows(here: Any, there: Any, count: int) -> np.ndarray:
    """The ``count`` rows ``there`` nearest to each row ``here``, nearest first."""
    products = here @ there.T
    products = products if isinstance(products, np.ndarray) else products.toarray()
    squares = there.multiply(there) if not isinstance(there, np.ndarray) else there * there
    gaps = np.asarray(squares.sum(axis=1), np.float64).ravel() - 2.0 * products
    count = min(count, gaps.shape[1])
    few = np.sort(np.argpartition(gaps, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(np.take_along_axis(gaps, few, axis=1), axis=1, kind="stable")
    return np.take_along_axis(few, order, axis=1)


@njit(nogil=True, cache=True)
def _nearest(products, k):  # type: ignore[no-untyped-def]
    """The k nearest others of each row, nearest first, and their squared distances."""
    n = len(products)
    indices, distances = np.zeros((n, k), np.int32), np.full((n, k), np.inf)
    squares = np.diag(products).copy()
    gaps = np.full(-(-n // _TOGETHER) * _TOGETHER, np.inf)
    for i in range(n):
        own, row, farthest = squares[i], products[i], np.inf
        for j in range(n):
            gap = own + squares[j] - 2 * float(row[j])
            gaps[j] = gap if gap > 0 else 0.0
        gaps[i] = np.inf
        for start in range(0, len(gaps), _TOGETHER):
            nearer = False
            for j in range(start, start + _TOGETHER):
                nearer |= gaps[j] < farthest
            if not nearer:
                continue
            for j in range(start, start + _TOGETHER):
                gap = gaps[j]
                if gap < farthest:
                    at = k - 1
                    while at > 0 and distances[i, at - 1] > gap:
                        distances[i, at] = distances[i, at - 1]
                        indices[i, at] = indices[i, at - 1]
                        at -= 1
                    distances[i, at] = gap
                    indices[i, at] = j
                    farthest = distances[i, k - 1]
    return indices, distances
