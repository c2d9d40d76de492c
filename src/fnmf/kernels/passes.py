"""Single passes over dense rows: sums by feature and by cluster, distances to centres.

Rows are rescaled on the way, in their own precision; sums are in double precision. Nothing is made
of rows that lie as they are needed.
"""

from typing import NamedTuple

import numpy as np

from fnmf._compile import FAST, njit
from fnmf.data import View
from fnmf.kernels.rescale import Rescaled, rescaled
from fnmf.kernels.tiles import wide_vectors


class ClusterSums(NamedTuple):
    """Sums of values and squares by cluster, (k, d), and of fourth powers over all, (d,)."""

    sums: np.ndarray
    squares: np.ndarray
    fourth: np.ndarray


def rows_of(part: View) -> Rescaled:
    """All rows of a dense block."""
    (X,) = part.stored(0, part.shape[0])
    if (scaling := part.scaling) is not None:
        return Rescaled(X, np.ascontiguousarray(scaling.rows), scaling.caps, scaling.columns)
    return rescaled(X)


@njit(nogil=True, cache=True)
def column_sums(rows):  # type: ignore[no-untyped-def]
    """Values, squares and how many are positive, by feature: (d,) each."""
    wide_vectors()
    X, caps, columns = rows.X, rows.caps, rows.columns
    n, d = X.shape
    values, squares, positive = np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(n):
        factor = rows.rows[i]
        for k in range(d):
            z = float(factor * (columns[k] * min(X[i, k], caps[k])))
            values[k] += z
            squares[k] += z * z
            positive[k] += 1.0 if z > 0 else 0.0
    return values, squares, positive


@njit(nogil=True, cache=True)
def cluster_sums(rows, labels, mean, n_clusters):  # type: ignore[no-untyped-def]
    """Values and squares about ``mean`` by cluster, (k, d), and fourth powers over all, (d,)."""
    wide_vectors()
    X, caps, columns = rows.X, rows.caps, rows.columns
    n, d = X.shape
    sums, squares, fourth = np.zeros((n_clusters, d)), np.zeros((n_clusters, d)), np.zeros(d)
    for i in range(n):
        own, factor = labels[i], rows.rows[i]
        for k in range(d):
            gap = float(factor * (columns[k] * min(X[i, k], caps[k]))) - mean[k]
            square = gap * gap
            sums[own, k] += gap
            squares[own, k] += square
            fourth[k] += square * square
    return sums, squares, fourth


@njit(nogil=True, cache=True, fastmath=FAST)
def row_distances(rows, centres, labels, weights):  # type: ignore[no-untyped-def]
    """Weighted squares of each row about the centre of its label, or the only one, (n, m)."""
    wide_vectors()
    X, caps, columns = rows.X, rows.caps, rows.columns
    n, d = X.shape
    m, several = len(weights), len(centres) > 1
    out, squares = np.empty((n, m)), np.empty(d)
    for i in range(n):
        own, factor = labels[i] if several else 0, rows.rows[i]
        for k in range(d):
            gap = float(factor * (columns[k] * min(X[i, k], caps[k]))) - centres[own, k]
            squares[k] = gap * gap
        for j in range(m):
            total = 0.0
            for k in range(d):
                total += weights[j, k] * squares[k]
            out[i, j] = total
    return out
