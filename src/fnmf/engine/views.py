"""Data views: how a solver sees X. Solvers ask for row blocks and never touch X themselves."""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from fnmf.engine import dense, sparse
from fnmf.engine.lanes import QUAD, lines, quads
from fnmf.engine.mapped import MappedCSR
from fnmf.engine.panels import BATCH
from fnmf.engine.tiles import COMPONENTS, LINE, WEIGHTINGS, padded, zeros

# A block has at least this many entries, so that calling it costs little beside its work,
_SMALL = 1 << 18
# and at most this many, so that a converted copy of it stays small.
_LARGE = 1 << 22
_BLOCKS = 16
_MOST_ROWS = 1 << 14
# A block of sparse rows has this many entries for each feature, so that adding up the sums over
# the features of all blocks costs little beside it.
_ENTRIES_PER_FEATURE = 32


class View(Protocol):
    """Rows of X, with the kernels and the memory layout that suit them."""

    shape: tuple[int, int]
    dtype: np.dtype

    @property
    def kernels(self) -> Any:
        """The module with the block functions."""

    def blocks(self) -> list[tuple[int, int]]:
        """Row ranges. They depend on the data alone, so that sums come out the same anywhere."""

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """These rows: a dense array, or the three arrays of CSR."""

    def operands(self, start: int, stop: int) -> tuple[Any, ...]:
        """The leading arguments of the kernels for these rows."""

    def pack_basis(self, U: np.ndarray) -> np.ndarray:
        """U (d x c) in the layout of the kernels."""

    def pack_factors(self, U: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """U (d x c) and the weights (m x d) in the layout of the kernels."""

    def pack_grams(self, grams: np.ndarray) -> np.ndarray:
        """Matrices (g x c x c) in the layout of the kernels."""

    def unpack_grams(self, total: np.ndarray, n_components: int) -> np.ndarray:
        """A g x c x c sum out of the layout of the kernels."""

    def unpack_basis(self, total: np.ndarray, n_components: int) -> np.ndarray:
        """A d x c sum out of the layout of the kernels."""

    def unpack_moments(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        """Two m x d sums, 2 x m x d, out of the layout of the kernels."""

    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        """An m x d x c sum out of the layout of the kernels."""

    def row_energy(self, start: int, stop: int) -> np.ndarray:
        """‖x_i‖² of these rows, in double precision."""

    def column_energy(self, start: int, stop: int) -> np.ndarray:
        """Σ_i x_ik² over these rows, in double precision."""


def view_of(X: np.ndarray | sp.csr_array | MappedCSR) -> View:
    """The view of a data matrix that has passed the door."""
    if isinstance(X, np.ndarray):
        return DenseView(X)
    return SparseView(X)


def _even_blocks(n_rows: int, per_row: float, fewest: float) -> list[tuple[int, int]]:
    """Blocks of equal size with at least ``fewest`` entries, ``per_row`` in each row."""
    per_row = max(per_row, 1)
    rows = int(np.clip(n_rows / _BLOCKS, fewest / per_row, max(_LARGE / per_row, 1)))
    # Whole batches of the dense kernels; not too many, for their sums are in single precision.
    rows = padded(min(max(rows, 1), _MOST_ROWS), BATCH)
    return [(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def working_dtype(dtype: np.dtype) -> np.dtype:
    """Type of all arrays inside: float32 stays, small integers fit into it, the rest is float64."""
    small = dtype == np.float32 or (dtype.kind in "iubf" and dtype.itemsize <= 2)
    return np.dtype(np.float32 if small else np.float64)


class _TiledCodes:
    """Small matrices over the components have one layout for all data: codes are always dense."""

    dtype: np.dtype

    def pack_grams(self, grams: np.ndarray) -> np.ndarray:
        count, n_components, _ = grams.shape
        width = lines(padded(n_components, COMPONENTS))
        out = zeros(count * n_components, width, np.empty(0, self.dtype))
        out.reshape(count, n_components, width)[:, :, :n_components] = grams
        return out

    def unpack_grams(self, total: np.ndarray, n_components: int) -> np.ndarray:
        return total.reshape(-1, n_components, total.shape[1])[:, :, :n_components]


class DenseView(_TiledCodes):
    """A dense array, in memory or memory-mapped, of any layout and number type.

    Blocks of C-ordered float arrays are views; others are copied and converted one at a time.
    """

    kernels = dense

    def __init__(self, X: np.ndarray) -> None:
        self.X = np.asarray(X)
        self.shape = (X.shape[0], X.shape[1])
        self.dtype = working_dtype(X.dtype)

    def blocks(self) -> list[tuple[int, int]]:
        return _even_blocks(self.shape[0], self.shape[1], _SMALL)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        rows = np.ascontiguousarray(self.X[start:stop], dtype=self.dtype).view()
        # One compiled version serves writeable and read-only input.
        rows.flags.writeable = False
        return (rows,)

    def operands(self, start: int, stop: int) -> tuple[Any, ...]:
        return self.block(start, stop)

    def pack_basis(self, U: np.ndarray) -> np.ndarray:
        n_features, n_components = U.shape
        return self._padded(U.T, padded(n_components, COMPONENTS), n_features)

    def pack_factors(self, U: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        n_weightings, n_features = weights.shape
        packed = self._padded(weights, padded(n_weightings, WEIGHTINGS), n_features)
        return self.pack_basis(U), packed

    def _padded(self, values: np.ndarray, rows: int, n_features: int) -> np.ndarray:
        out = zeros(rows, padded(n_features, LINE), np.empty(0, self.dtype))
        out[: values.shape[0], :n_features] = values
        return out

    def unpack_basis(self, total: np.ndarray, n_components: int) -> np.ndarray:
        return total[:n_components, : self.shape[1]].T

    def unpack_moments(self, total: np.ndarray, n_weightings: int) -> np.ndarray:
        return total.reshape(2, -1, total.shape[1])[:, :n_weightings, : self.shape[1]]

    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        return total[:, :n_components, : self.shape[1]].swapaxes(1, 2)

    def row_energy(self, start: int, stop: int) -> np.ndarray:
        rows = self.block(start, stop)[0]
        return np.einsum("ik,ik->i", rows, rows, dtype=np.float64)

    def column_energy(self, start: int, stop: int) -> np.ndarray:
        rows = self.block(start, stop)[0]
        return np.einsum("ik,ik->k", rows, rows, dtype=np.float64)


class SparseView(_TiledCodes):
    """A canonical CSR matrix, in memory or mapped; a mapped block is read when asked for."""

    kernels = sparse

    def __init__(self, X: sp.csr_array | MappedCSR) -> None:
        self.X = X
        self.shape = (X.shape[0], X.shape[1])
        self.dtype = working_dtype(X.dtype)

    def blocks(self) -> list[tuple[int, int]]:
        per_row = len(self.X.indices) / max(self.shape[0], 1)
        # One entry costs as much as several of a dense row: its features lie anywhere.
        fewest = max(_SMALL / 8, _ENTRIES_PER_FEATURE * self.shape[1])
        return _even_blocks(self.shape[0], per_row, fewest)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        pointers = np.asarray(self.X.indptr[start : stop + 1])
        span = slice(int(pointers[0]), int(pointers[-1]))
        arrays = (
            np.asarray(self.X.data[span], dtype=self.dtype).view(),
            np.asarray(self.X.indices[span]).view(),
            pointers,
        )
        for array in arrays:
            array.flags.writeable = False
        return arrays

    def operands(self, start: int, stop: int) -> tuple[Any, ...]:
        return self.block(start, stop)

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
        parts = total.reshape(self.shape[1], -1, 2, QUAD)
        return parts.transpose(2, 1, 3, 0).reshape(2, -1, self.shape[1])[:, :n_weightings]

    def unpack_crosses(self, total: np.ndarray, n_weightings: int, n_components: int) -> np.ndarray:
        return total[:, :, :n_components]

    def row_energy(self, start: int, stop: int) -> np.ndarray:
        data, _, pointers = self.block(start, stop)
        sums = np.concatenate([[0.0], np.cumsum(data.astype(np.float64) ** 2)])
        return np.diff(sums[pointers - pointers[0]])

    def column_energy(self, start: int, stop: int) -> np.ndarray:
        data, indices, _ = self.block(start, stop)
        return np.bincount(indices, data.astype(np.float64) ** 2, self.shape[1])
