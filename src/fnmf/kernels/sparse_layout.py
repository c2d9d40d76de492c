"""How the kernels want their arrays: the layout for sparse rows."""

from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.kernels import sparse
from fnmf.kernels.lanes import QUAD, lines, quads
from fnmf.kernels.layout import Layout
from fnmf.kernels.tiles import zeros


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
