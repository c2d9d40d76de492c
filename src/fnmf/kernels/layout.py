"""How the kernels want their arrays: a layout for dense rows and one for sparse ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.kernels import dense, sparse
from fnmf.kernels.lanes import QUAD, lines, quads
from fnmf.kernels.rescale import Rescaled
from fnmf.kernels.tiles import COMPONENTS, LINE, WEIGHTINGS, padded, zeros


class Layout(ABC):
    """Packs factors for the kernels and unpacks their sums.

    Parameters
    ----------
    n_features : int
        Features d.
    dtype : dtype
        Float type of all arrays.
    """

    def __init__(self, n_features: int, dtype: np.dtype) -> None:
        self.n_features, self.dtype = n_features, dtype
        self.tiny = dtype.type(np.finfo(dtype).tiny)

    @property
    @abstractmethod
    def kernels(self) -> Any:
        """The module with the block functions."""

    @abstractmethod
    def operands(self, view: View, start: int, stop: int) -> tuple[Any, ...]:
        """The leading arguments of the kernels for these rows."""

    @abstractmethod
    def pack_basis(self, U: np.ndarray) -> np.ndarray:
        """U (d x c) in the layout of the kernels."""

    @abstractmethod
    def pack_factors(self, U: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """U (d x c) and the weights (m x d) in the layout of the kernels."""

    @abstractmethod
    def unpack_basis(self, total: np.ndarray, n_components: int) -> np.ndarray:
        """A d x c sum out of the layout of the kernels."""

    @abstractmethod
    def unpack_moments(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        """Two m x d sums, 2 x m x d, out of the layout of the kernels."""

    @abstractmethod
    def unpack_energy(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        """The first of two such sums, m x d, where a kernel has made no other."""

    @abstractmethod
    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        """An m x d x c sum out of the layout of the kernels."""

    # Small matrices over the components have one layout for all data: codes are always dense.

    def pack_grams(self, grams: np.ndarray) -> np.ndarray:
        """Matrices (g x c x c) in the layout of the kernels."""
        count, n_components, _ = grams.shape
        width = lines(padded(n_components, COMPONENTS))
        out = zeros(count * n_components, width, np.empty(0, self.dtype))
        out.reshape(count, n_components, width)[:, :, :n_components] = grams
        return out

    def unpack_grams(self, total: np.ndarray, n_components: int) -> np.ndarray:
        """A g x c x c sum out of the layout of the kernels."""
        return total.reshape(-1, n_components, total.shape[1])[:, :, :n_components]


class DenseLayout(Layout):
    """Components and weightings as rows, padded to whole tiles, features to whole lines."""

    @property
    def kernels(self) -> Any:
        return dense

    def operands(self, view: View, start: int, stop: int) -> tuple[Any, ...]:
        rows = view.stored(start, stop)
        if (scaling := view.scaling) is None:
            return rows
        # The kernels rescale four rows at a time.
        factors = np.ascontiguousarray(scaling.rows[start:stop])
        return (Rescaled(rows[0], factors, scaling.caps, scaling.columns),)

    def pack_basis(self, U: np.ndarray) -> np.ndarray:
        return self._padded(U.T, padded(U.shape[1], COMPONENTS))

    def pack_factors(self, U: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.pack_basis(U), self._padded(weights, padded(len(weights), WEIGHTINGS))

    def _padded(self, values: np.ndarray, rows: int) -> np.ndarray:
        out = zeros(rows, padded(self.n_features, LINE), np.empty(0, self.dtype))
        out[: values.shape[0], : self.n_features] = values
        return out

    def unpack_basis(self, total: np.ndarray, n_components: int) -> np.ndarray:
        return total[:n_components, : self.n_features].T

    def unpack_moments(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        return total.reshape(2, -1, total.shape[1])[:, :n_weightings, : self.n_features]

    def unpack_energy(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        return total[:n_weightings, : self.n_features]

    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        return total[:, :n_components, : self.n_features].swapaxes(1, 2)


class SparseLayout(Layout):
    """A table with a row for each feature: an entry of X fetches all it needs from one place."""

    @property
    def kernels(self) -> Any:
        return sparse

    def operands(self, view: View, start: int, stop: int) -> tuple[Any, ...]:
        return view.block(start, stop)

    def pack_basis(self, U: np.ndarray) -> np.ndarray:
        return self._table(U, U.shape[1])

    def pack_factors(self, U: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        n_components, n_weightings = U.shape[1], len(weights)
        table = self._table(U, n_components + quads(n_weightings))
        table[:, n_components : n_components + n_weightings] = weights.T
        return (table,)

    def _table(self, U: np.ndarray, columns: int) -> np.ndarray:
        out = zeros(U.shape[0], lines(columns), np.empty(0, self.dtype))
        out[:, : U.shape[1]] = U
        return out

    def unpack_basis(self, total: np.ndarray, n_components: int) -> np.ndarray:
        return total[:, :n_components]

    def unpack_moments(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        parts = total.reshape(self.n_features, -1, 2, QUAD)
        return parts.transpose(2, 1, 3, 0).reshape(2, -1, self.n_features)[:, :n_weightings]

    def unpack_energy(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        return self.unpack_moments(total, n_weightings)[0]

    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        return total[:, :, :n_components]


def layout_of(view: View) -> Layout:
    """The layout that suits the rows of a view."""
    kind = SparseLayout if view.sparse else DenseLayout
    return kind(view.shape[1], view.dtype)
