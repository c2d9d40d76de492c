"""The adaptive-neighbour graph of a few rows, from one matrix of products.

It is built dozens of times while a fit explores. Distances lose digits that the exact search
would keep, which moves a neighbour only among those equally near.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.backends.nearest import few_nearest
from fnmf.graph._adaptive import adaptive_weights


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
    squares = np.diag(products).astype(np.float64)
    indices, distances = few_nearest(products, squares, squares, k + 1, True)
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
