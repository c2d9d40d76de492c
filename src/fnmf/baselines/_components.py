"""Connected components, counted on the exact non-zero pattern."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components


def components(graph: sp.csr_array) -> tuple[int, np.ndarray]:
    """Components of a square graph whose edges are taken in both directions."""
    n, labels = connected_components(graph, directed=True, connection="weak")
    return int(n), in_order_of_first_sample(labels)


def bipartite_components(
    weights: sp.csr_array, *, count_empty_columns: bool
) -> tuple[int, np.ndarray, np.ndarray]:
    """Components of the graph with rows on one side and columns on the other.

    Returns their number and the component of every row and column. Columns without an edge
    are components of their own, or are left out (component −1).
    """
    n_rows, n_columns = weights.shape
    whole: Any = sp.block_array([[None, weights], [weights.T, None]], format="csr")
    _, found = connected_components(whole, directed=False)
    labels = in_order_of_first_sample(found)
    rows, columns = labels[:n_rows], labels[n_rows:].copy()
    if not count_empty_columns:
        columns[np.bincount(weights.indices, minlength=n_columns) == 0] = -1
    return int(max(rows.max(), columns.max(initial=-1))) + 1, rows, columns


def in_order_of_first_sample(labels: np.ndarray) -> np.ndarray:
    """The same partition, numbered in the order in which the clusters are met."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
