"""How the kernels want their arrays: the layout for dense rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.kernels import dense
from fnmf.kernels.lanes import lines
from fnmf.kernels.rescale import Rescaled
from fnmf.kernels.tiles import COMPONENTS, LINE, WEIGHTINGS, padded, zeros


class Layout:
    """Packs factors for the kernels and unpacks their sums.

    Components and weightings are rows, padded to whole tiles, features are padded to whole lines.

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
    def kernels(self) -> Any:
        """The module with the block functions."""
        return dense

    def operands(self, view: View, start: int, stop: int) -> tuple[Any, ...]:
        """The leading arguments of the kernels for these rows."""
        rows = view.stored(start, stop)
        if (scaling := view.scaling) is None:
            return rows
        # The kernels rescale four rows at a time.
        factors = np.ascontiguousarray(scaling.rows[start:stop])
        return (Rescaled(rows[0], factors, scaling.caps, scaling.columns),)

    def pack_basis(self, U: np.ndarray) -> np.ndarray:
        """U (d x c) in the layout of the kernels."""
        return self._padded(U.T, padded(U.shape[1], COMPONENTS))

    def pack_factors(self, U: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """U (d x c) and the weights (m x d) in the layout of the kernels."""
        return self.pack_basis(U), self._padded(weights, padded(len(weights), WEIGHTINGS))

    def _padded(self, values: np.ndarray, rows: int) -> np.ndarray:
        out = zeros(rows, padded(self.n_features, LINE), np.empty(0, self.dtype))
        out[: values.shape[0], : self.n_features] = values
        return out

    def unpack_basis(self, total: np.ndarray, n_components: int) -> np.ndarray:
        """A d x c sum out of the layout of the kernels."""
        return total[:n_components, : self.n_features].T

    def unpack_moments(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        """Two m x d sums, 2 x m x d, out of the layout of the kernels."""
        return total.reshape(2, -1, total.shape[1])[:, :n_weightings, : self.n_features]

    def unpack_energy(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        """The first of two such sums, m x d, where a kernel has made no other."""
        return total[:n_weightings, : self.n_features]

    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        """An m x d x c sum out of the layout of the kernels."""
        return total[:, :n_components, : self.n_features].swapaxes(1, 2)

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
