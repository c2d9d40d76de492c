"""Rows of a matrix, asked for a few at a time, whatever holds them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf._validation import _canonical, _check_sparse_structure
from fnmf.engine.mapped import MappedCSR
from fnmf.engine.scaled import Scaling


class DenseRows:
    """Rows of an array in memory or on disk, handed out as float64 copies."""

    def __init__(self, X: np.ndarray) -> None:
        self._X = np.asarray(X)  # a memory map becomes a plain view of the same file
        self.shape = self._X.shape
        self.dtype = result_dtype(X.dtype)
        self.sparse = False
        # the array itself where compiled loops can read it without a converted copy
        plain = self._X.dtype in (np.float32, np.float64)
        readable = plain and self._X.flags.c_contiguous and self._X.flags.aligned
        self.in_place: np.ndarray | None = self._X if readable else None

    def block(self, start: int, stop: int) -> np.ndarray:
        return np.array(self._X[start:stop], dtype=np.float64, order="C")

    def take(self, rows: np.ndarray) -> np.ndarray:
        # numpy.take would first copy the whole of an array that is not C-contiguous
        contiguous = self._X.flags.c_contiguous
        chosen = np.take(self._X, rows, axis=0) if contiguous else self._X[rows]
        return np.ascontiguousarray(chosen, dtype=np.float64)


class ChosenColumns(DenseRows):
    """Rows of an array, some of its columns only."""

    def __init__(self, rows: DenseRows, columns: np.ndarray) -> None:
        super().__init__(rows._X)
        self._columns = columns
        self.in_place = None
        self.shape = (self._X.shape[0], len(columns))

    def block(self, start: int, stop: int) -> np.ndarray:
        return np.ascontiguousarray(self._X[start:stop, self._columns], dtype=np.float64)

    def take(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._X[np.ix_(rows, self._columns)], dtype=np.float64)


class SparseRows:
    """Rows of a CSR matrix in memory or on disk, handed out as float64 CSR blocks."""

    in_place = None

    def __init__(self, X: sp.csr_array | MappedCSR) -> None:
        self._data, self._indices, self._indptr = X.data, X.indices, X.indptr
        self.shape = X.shape
        self.dtype = result_dtype(X.dtype)
        self.sparse = True

    def block(self, start: int, stop: int) -> sp.csr_array:
        return self.take(np.arange(start, min(stop, self.shape[0])))

    def take(self, rows: np.ndarray) -> sp.csr_array:
        begins = np.asarray(self._indptr[rows], dtype=np.int64)
        lengths = np.asarray(self._indptr[rows + 1], dtype=np.int64) - begins
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], lengths)
        parts = (
            self._data[places].astype(np.float64),
            self._indices[places].astype(np.int64),
            indptr,
        )
        return sp.csr_array(parts, shape=(len(rows), self.shape[1]))


class ScaledRows:
    """Rows of another matrix, capped and rescaled a block at a time.

    Unless told not to, dense rows leave out the features of factor 0; ``kept`` holds the
    numbers of the others.
    """

    in_place = None

    def __init__(self, X: Any, scaling: Scaling, drop: bool = True) -> None:
        rows: Any = as_rows(X)
        self._factors = scaling.rows
        n, d = rows.shape
        self.dtype, self.sparse = rows.dtype, rows.sparse
        dropped = drop and not self.sparse
        self.kept = np.flatnonzero(scaling.columns) if dropped else np.arange(d)
        if isinstance(rows, DenseRows) and len(self.kept) < d:
            rows = ChosenColumns(rows, self.kept)
        self._rows = rows
        self.shape = (n, len(self.kept))
        self._caps, self._columns = scaling.caps[self.kept], scaling.columns[self.kept]

    def block(self, start: int, stop: int) -> Any:
        return self._scaled(self._rows.block(start, stop), self._factors[start:stop])

    def take(self, rows: np.ndarray) -> Any:
        return self._scaled(self._rows.take(rows), self._factors[rows])

    def _scaled(self, block: Any, factors: np.ndarray) -> Any:
        if is_sparse(block):
            chosen = block.indices
            np.minimum(block.data, self._caps[chosen], out=block.data)
            block.data *= self._columns[chosen] * np.repeat(factors, np.diff(block.indptr))
            return block
        np.minimum(block, self._caps, out=block)
        block *= self._columns
        block *= factors[:, None]
        return block


Rows = DenseRows | SparseRows | ScaledRows


def result_dtype(dtype: np.dtype) -> np.dtype:
    """float32 stays float32; everything else is computed and returned as float64."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def as_rows(X: Any, name: str = "X") -> Rows:
    """Check the form of a matrix and wrap it; its values are checked by the search."""
    if isinstance(X, (DenseRows, SparseRows, ScaledRows)):
        return X
    if isinstance(X, MappedCSR):
        X.check()
        return SparseRows(X)
    if is_sparse(X):
        _check_sparse_structure(X, name)
        _check_not_empty(X.shape, name)
        return SparseRows(_canonical(sp.csr_array(X)))
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} has {array.ndim} dimension(s) and type {array.dtype}; "
            "a two-dimensional array of numbers is needed."
        )
    _check_not_empty(array.shape, name)
    return DenseRows(array)


def _check_not_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape}: at least one sample and feature is needed.")


def is_sparse(block: Any) -> bool:
    return bool(sp.issparse(block))


def as_dense(block: Any) -> np.ndarray:
    return block.toarray() if is_sparse(block) else block
