"""Sparse rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit
from fnmf.data._mapped import MappedCSR
from fnmf.data._views import DenseView, Scaling, View, sparse_blocks


class SparseView(View):
    """A canonical CSR matrix, in memory or mapped; a mapped block is read when asked for.

    Rescaling copies the values of a block; their pattern stays as it is.
    """

    sparse = True

    def __init__(self, X: sp.csr_array | MappedCSR, scaling: Scaling | None = None) -> None:
        super().__init__(X, scaling)
        self.shape = (X.shape[0], X.shape[1])
        self.kept = np.arange(X.shape[1])
        if scaling is None:
            self.filled = len(X.data) / max(X.shape[0] * X.shape[1], 1)

    @property
    def stored_width(self) -> float:
        return len(self.X.indices) / max(self.shape[0], 1)

    def scaled(self, scaling: Scaling, drop: bool = False) -> SparseView:
        return SparseView(self.X, scaling).weighing(self.weights)

    def dense(self) -> View:
        whole = self.matrix(self.stored(0, self.shape[0])).toarray()
        return DenseView(whole).weighing(self.weights)

    def subset(self, rows: np.ndarray) -> SparseView:
        scaling = self._exact_scaling
        values, indices, pointers = self._gathered(rows)
        # scikit-learn wants the index type that it was given.
        pointers = pointers.astype(self.X.indptr.dtype, copy=False)
        chosen = sp.csr_array((values, indices, pointers), shape=(len(rows), self.shape[1]))
        own = None if scaling is None else scaling.of_rows(rows)
        return SparseView(chosen, own).weighing(self.weights, rows)

    def part(self, start: int, stop: int) -> SparseView:
        scaling = self._exact_scaling
        own = None if scaling is None else scaling.of_rows(slice(start, stop))
        pointers = np.asarray(self.X.indptr[start : stop + 1])
        span = slice(int(pointers[0]), int(pointers[-1]))
        arrays = np.asarray(self.X.data[span]), np.asarray(self.X.indices[span])
        shape = (stop - start, self.shape[1])
        rows = sp.csr_array((*arrays, pointers - pointers[0]), shape=shape)
        return SparseView(rows, own).weighing(self.weights, slice(start, stop))

    def blocks(self) -> list[tuple[int, int]]:
        return sparse_blocks(*self.shape, len(self.X.indices))

    def stored(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
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

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        values, indices, pointers = self.stored(start, stop)
        if self.scaling is not None:
            scaling = self.scaling
            factors = np.ascontiguousarray(scaling.rows[start:stop])
            values = _rescaled(values, indices, pointers, factors, scaling.caps, scaling.columns)
            values.flags.writeable = False
        return values, indices, pointers

    def exact(self, start: int, stop: int) -> sp.csr_array:
        return self.take(np.arange(start, min(stop, self.shape[0])))

    def take(self, rows: np.ndarray) -> sp.csr_array:
        stored, indices, pointers = self._gathered(rows)
        values = stored.astype(np.float64)
        if (scaling := self._exact_scaling) is not None:
            factors = np.repeat(scaling.rows[rows], np.diff(pointers))
            scaling.apply(values, indices, factors, out=values)
        parts = values, indices.astype(np.int64), pointers
        return sp.csr_array(parts, shape=(len(rows), self.shape[1]))

    def matrix(self, block: tuple[np.ndarray, ...]) -> sp.csr_array:
        values, indices, pointers = block
        shape = (len(pointers) - 1, self.shape[1])
        return sp.csr_array((values, indices, pointers - pointers[0]), shape=shape)

    def double(self, start: int, stop: int) -> sp.csr_array:
        # The values alone are copied: the pattern is never changed.
        values, indices, pointers = self.block(start, stop)
        return self.matrix((values.astype(np.float64), indices, pointers))

    def narrowed(self, rows: sp.csr_array) -> sp.csr_array:
        # scikit-learn wants 32-bit indices, which hold the features of any matrix that fits.
        rows.indices, rows.indptr = (a.astype(np.int32) for a in (rows.indices, rows.indptr))
        return rows.astype(self.dtype)

    def mean(self) -> float:
        return float(np.sum(self.X.data, dtype=np.float64)) / (self.shape[0] * self.shape[1])

    def _gathered(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, features and pointers of any rows, as they are stored."""
        begins = np.asarray(self.X.indptr[rows], dtype=np.int64)
        lengths = np.asarray(self.X.indptr[rows + 1], dtype=np.int64) - begins
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(pointers[-1]) + np.repeat(begins - pointers[:-1], lengths)
        return self.X.data[places], self.X.indices[places], pointers


@njit(nogil=True, cache=True)
def _rescaled(values, indices, pointers, rows, caps, columns):  # type: ignore[no-untyped-def]
    """``Scaling.apply`` for the entries of a block."""
    out = np.empty_like(values)
    first = pointers[0]
    for i in range(len(pointers) - 1):
        for e in range(pointers[i] - first, pointers[i + 1] - first):
            k = indices[e]
            out[e] = min(values[e], caps[k]) * columns[k] * rows[i]
    return out
