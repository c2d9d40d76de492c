"""Rows that are rescaled on the way from memory to a kernel, and sums over all of them."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from fnmf._compile import FAST, njit
from fnmf.data import View
from fnmf.kernels.lanes import load_part, store
from fnmf.kernels.tiles import LINE, ROWS, wide_vectors


class Rescaled(NamedTuple):
    """Rows that stand for z_ik = rows_i · min(x_ik, caps_k) · columns_k."""

    X: np.ndarray
    rows: np.ndarray
    caps: np.ndarray
    columns: np.ndarray


def rescaled(X: np.ndarray | Rescaled) -> Rescaled:
    """Rows of an array as such that need no rescaling."""
    if isinstance(X, Rescaled):
        return X
    ones = np.ones(max(X.shape), X.dtype)
    return Rescaled(X, ones[: len(X)], np.full(X.shape[1], np.inf, X.dtype), ones[: X.shape[1]])


@njit(nogil=True, cache=True, forceinline=True)
def _rescale_four(X, places, out):  # type: ignore[no-untyped-def]
    wide_vectors()
    caps, columns = X.caps, X.columns
    a, b, c, d = places
    x0, x1, x2, x3 = X.X[a], X.X[b], X.X[c], X.X[d]
    f0, f1, f2, f3 = X.rows[a], X.rows[b], X.rows[c], X.rows[d]
    z0, z1, z2, z3 = out[0], out[1], out[2], out[3]
    for k in range(x0.shape[0]):
        cap, column = caps[k], columns[k]
        z0[k] = f0 * (column * min(x0[k], cap))
        z1[k] = f1 * (column * min(x1[k], cap))
        z2[k] = f2 * (column * min(x2[k], cap))
        z3[k] = f3 * (column * min(x3[k], cap))


def four_rows(X: Any, start: int, n_rows: int, buffer: np.ndarray, keep: bool) -> Any:
    """Rows ``start`` to ``start + 3`` of an array, or of ``Rescaled``.

    With ``keep`` they lie in the buffer too. Past the end the last row is repeated; repeated
    rows must carry no weight in any sum.
    """
    raise NotImplementedError("For compiled code only.")


@overload(four_rows, jit_options={"forceinline": True})
def _four_rows(X, start, n_rows, buffer, keep):  # type: ignore[no-untyped-def]
    def of_array(X, start, n_rows, buffer, keep):  # type: ignore[no-untyped-def]
        places = _places(start, n_rows)
        if keep:
            for r in range(ROWS):
                for k in range(0, buffer.shape[1], LINE):
                    store(buffer, r, k, load_part(X, places[r], k))
        return X[places[0]], X[places[1]], X[places[2]], X[places[3]]

    def of_rescaled(X, start, n_rows, buffer, keep):  # type: ignore[no-untyped-def]
        _rescale_four(X, _places(start, n_rows), buffer)
        return buffer[0], buffer[1], buffer[2], buffer[3]

    return of_array if isinstance(X, types.Array) else of_rescaled


@register_jitable
def _places(start: int, n_rows: int) -> tuple[int, int, int, int]:
    last = n_rows - 1
    return min(start, last), min(start + 1, last), min(start + 2, last), min(start + 3, last)


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


# Room is made outside of compiled code: every way to make an array would have to be compiled too.
def column_sums(rows: Rescaled) -> tuple[np.ndarray, ...]:
    """Values, squares and how many are positive, by feature: (d,) each."""
    values, squares, positive = np.zeros((3, rows.X.shape[1]))
    _add_columns(*rows, values, squares, positive)
    return values, squares, positive


@njit(nogil=True, cache=True)
def _add_columns(X, factors, caps, columns, values, squares, positive):  # type: ignore[no-untyped-def]
    wide_vectors()
    for i in range(X.shape[0]):
        factor = factors[i]
        for k in range(X.shape[1]):
            z = float(factor * (columns[k] * min(X[i, k], caps[k])))
            values[k] += z
            squares[k] += z * z
            positive[k] += 1.0 if z > 0 else 0.0


def cluster_sums(
    rows: Rescaled, labels: np.ndarray, mean: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, ...]:
    """Values and squares about ``mean`` by cluster, (k, d), and fourth powers over all, (d,)."""
    d = rows.X.shape[1]
    sums, squares = np.zeros((2, n_clusters, d))
    fourth = np.zeros(d)
    _add_clusters(*rows, labels, mean, sums, squares, fourth)
    return sums, squares, fourth


@njit(nogil=True, cache=True)
def _add_clusters(X, factors, caps, columns, labels, mean, sums, squares, fourth):  # type: ignore[no-untyped-def]
    wide_vectors()
    for i in range(X.shape[0]):
        own, factor = labels[i], factors[i]
        for k in range(X.shape[1]):
            gap = float(factor * (columns[k] * min(X[i, k], caps[k]))) - mean[k]
            square = gap * gap
            sums[own, k] += gap
            squares[own, k] += square
            fourth[k] += square * square


def row_distances(
    rows: Rescaled, centres: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Weighted squares of each row about the centre of its label, or the only one, (n, m)."""
    out, squares = np.empty((len(rows.X), len(weights))), np.empty(rows.X.shape[1])
    _measure(*rows, centres, labels, weights, squares, out)
    return out


@njit(nogil=True, cache=True, fastmath=FAST)
def _measure(X, factors, caps, columns, centres, labels, weights, squares, out):  # type: ignore[no-untyped-def]
    wide_vectors()
    for i in range(X.shape[0]):
        own, factor = labels[i] if len(centres) > 1 else 0, factors[i]
        for k in range(X.shape[1]):
            gap = float(factor * (columns[k] * min(X[i, k], caps[k]))) - centres[own, k]
            squares[k] = gap * gap
        for j in range(len(weights)):
            total = 0.0
            for k in range(X.shape[1]):
                total += weights[j, k] * squares[k]
            out[i, j] = total
