"""Views of data whose rows and columns are rescaled on the way, one block at a time."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from fnmf.engine.mapped import MappedCSR
from fnmf.engine.views import DenseView, SparseView, View


@dataclass(frozen=True)
class Scaling:
    """z_ik = rows_i · min(x_ik, caps_k) · columns_k.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Factors of the samples.
    caps : ndarray of shape (d,)
        Largest values let through.
    columns : ndarray of shape (d,)
        Factors of the features; 0 leaves a feature out.
    """

    rows: np.ndarray
    caps: np.ndarray
    columns: np.ndarray


@njit(nogil=True, cache=True)
def _rescale(X, rows, caps, columns, out):  # type: ignore[no-untyped-def]
    """One pass over the block instead of three."""
    for i in range(X.shape[0]):
        x, z, factor = X[i], out[i], rows[i]
        for k in range(x.shape[0]):
            value = x[k] if x[k] < caps[k] else caps[k]
            z[k] = factor * columns[k] * value


class ScaledDenseView(DenseView):
    """Dense rows, rescaled into a copy of the block."""

    def __init__(self, X: np.ndarray, scaling: Scaling) -> None:
        super().__init__(X)
        self.rows = scaling.rows.astype(self.dtype)
        self.caps = scaling.caps.astype(self.dtype)
        self.columns = scaling.columns.astype(self.dtype)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        rows = super().block(start, stop)[0]
        values = np.empty_like(rows)
        _rescale(rows, self.rows[start:stop], self.caps, self.columns, values)
        values.flags.writeable = False
        return (values,)


class ScaledSparseView(SparseView):
    """Sparse rows; their pattern stays as it is."""

    def __init__(self, X: sp.csr_array | MappedCSR, scaling: Scaling) -> None:
        super().__init__(X)
        self.rows = scaling.rows.astype(self.dtype)
        self.caps = scaling.caps.astype(self.dtype)
        self.columns = scaling.columns.astype(self.dtype)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        data, indices, pointers = super().block(start, stop)
        values = np.minimum(data, self.caps[indices])
        values *= self.columns[indices]
        values *= np.repeat(self.rows[start:stop], np.diff(pointers))
        values.flags.writeable = False
        return values, indices, pointers


def scaled_view_of(X: np.ndarray | sp.csr_array | MappedCSR, scaling: Scaling) -> View:
    """The view of a data matrix that has passed the door, rescaled."""
    if isinstance(X, np.ndarray):
        return ScaledDenseView(X, scaling)
    return ScaledSparseView(X, scaling)
