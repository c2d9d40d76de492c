"""Views of data whose rows and columns are rescaled on the way."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fnmf.engine.mapped import MappedCSR
from fnmf.engine.rescale import Rescaled
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


class ScaledDenseView(DenseView):
    """Dense rows; the kernels rescale them four at a time."""

    def __init__(self, X: np.ndarray, scaling: Scaling) -> None:
        super().__init__(X)
        self.rows = scaling.rows.astype(self.dtype)
        self.caps = scaling.caps.astype(self.dtype)
        self.columns = scaling.columns.astype(self.dtype)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        rows = super().block(start, stop)[0]
        values = np.minimum(rows, self.caps)
        values *= self.columns
        values *= self.rows[start:stop, None]
        values.flags.writeable = False
        return (values,)

    def operands(self, start: int, stop: int) -> tuple[Rescaled]:
        rows = super().block(start, stop)[0]
        return (Rescaled(rows, self.rows[start:stop], self.caps, self.columns),)


class ScaledSparseView(SparseView):
    """Sparse rows, rescaled into a copy of the values of a block; their pattern stays as it is."""

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
