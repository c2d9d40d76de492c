"""Views: how everything inside sees X. Nobody else touches X itself.

A view hands out rows by block or by index, rescaled if it has a ``Scaling``. Two forms of the
same rows are needed: in the working type, without a copy where that is possible, for kernels
that read them once (``block``); and as double precision copies free to be changed (``exact``,
``take``) for sums and distances that must not lose digits. Blocks depend on the data alone, so that
sums over them come out the same anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import numpy as np

# Entries of dense rows that are copied at a time.
_FEW = 1 << 18
# Rows that the dense kernels take together; blocks consist of whole batches.
BATCH = 16
# A block has at least this many entries, so that calling it costs little beside its work,
_SMALL = 1 << 18
# and at most this many, so that a converted copy of it stays small.
_LARGE = 1 << 22
_BLOCKS = 16
# Not too many rows either, for sums inside a block are in single precision.
_MOST_ROWS = 1 << 14
# A block of sparse rows has this many entries for each feature, so that adding up the sums over
# the features of all blocks costs little beside it.
_ENTRIES_PER_FEATURE = 32
# Up to so many rows a draw permutes all of their numbers.
_PERMUTED = 1 << 20


@dataclass(frozen=True)
class Scaling:
    """z_ik = rows_i · min(x_ik, caps_k) · columns_k; its compiled twin is in the kernels.

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

    def astype(self, dtype: Any) -> Self:
        """The same in another number type."""
        rows, others = self.rows, (np.asarray(a, dtype) for a in (self.caps, self.columns))
        if len(rows) and rows.strides == (0,):
            # One number for all of them stays one number.
            return type(self)(np.broadcast_to(rows[0].astype(dtype), rows.shape), *others)
        return type(self)(np.asarray(rows, dtype), *others)

    def of_columns(self, columns: np.ndarray) -> Self:
        """For a matrix that has these columns only."""
        return type(self)(self.rows, self.caps[columns], self.columns[columns])

    def of_rows(self, rows: np.ndarray | slice) -> Self:
        """For a matrix that has these rows only."""
        return type(self)(self.rows[rows], self.caps, self.columns)

    def apply(
        self, values: np.ndarray, features: Any, factors: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """z of some values, given their features and the factors of their rows.

        Dense rows have all features, ``slice(None)``; ``out`` may be the values themselves.
        """
        out = np.minimum(values, self.caps[features], out=out)
        out *= self.columns[features]
        out *= factors
        return out


class View(ABC):
    """Rows of X.

    Attributes
    ----------
    shape : tuple of int
        Samples and features.
    dtype : dtype
        Working type: float32 or float64.
    sparse : bool
        Whether blocks are CSR.
    scaling : Scaling or None
        How rows are rescaled on the way, in the working type.
    kept : ndarray of shape (d,)
        Which features of X the view has.
    in_place : ndarray or None
        The rows themselves, where compiled loops can read them without a converted copy.
    remote : bool
        Whether rows are elsewhere: only runners can reach them.
    incomplete : bool
        Whether cells are missing; these are filled on the way.
    filled : float
        Share of entries that are stored, if a dense copy may be made; else 0.
    weights : ndarray of shape (n,) or None
        As how many rows each counts; ``None`` if all count once.
    """

    sparse: bool
    remote: bool = False
    incomplete: bool = False
    filled: float = 0.0
    in_place: np.ndarray | None = None
    weights: np.ndarray | None = None
    shape: tuple[int, int]
    kept: np.ndarray

    def __init__(self, X: Any, scaling: Scaling | None) -> None:
        self.X = X
        self.dtype = working_dtype(X.dtype)
        self._exact_scaling = scaling
        self.scaling = None if scaling is None else scaling.astype(self.dtype)

    def constant(self, value: float) -> np.ndarray:
        """The same number for every row, kept once."""
        return np.broadcast_to(np.float64(value), self.shape[:1])

    @property
    def stored_width(self) -> float:
        """Stored entries of a row, on average."""
        return float(self.shape[1])

    @property
    def total(self) -> float:
        """How many rows there are, as they count."""
        return self.shape[0] if self.weights is None else float(self.weights.sum())

    @property
    def root(self) -> np.ndarray | None:
        """Roots of the weights; ``None`` if all rows count once."""
        return None if self.weights is None else np.sqrt(self.weights)

    def weighing(self, weights: np.ndarray | None, rows: Any = slice(None)) -> Self:
        """This view with weights, those of some rows of another."""
        self.weights = None if weights is None else weights[rows]
        return self

    def dense(self) -> View:
        """The same rows as they are, dense."""
        return self

    @abstractmethod
    def scaled(self, scaling: Scaling, drop: bool = False) -> View:
        """The same rows rescaled; with ``drop`` dense ones lose the features of factor 0."""

    @abstractmethod
    def subset(self, rows: np.ndarray) -> View:
        """Some of the rows, copied into memory, with their scaling."""

    @abstractmethod
    def part(self, start: int, stop: int) -> View:
        """These rows as a view of their own, not copied where that is possible."""

    @abstractmethod
    def blocks(self) -> list[tuple[int, int]]:
        """Row ranges. They depend on the data alone, so that sums come out the same anywhere."""

    def few(self) -> list[tuple[int, int]]:
        """Row ranges whose copies in double precision are small."""
        return spans(self.shape[0], max(int(_FEW / max(self.stored_width, 1)), 1))

    @abstractmethod
    def stored(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """These rows as they are, not rescaled: a dense array, or the three arrays of CSR."""

    @abstractmethod
    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """These rows, rescaled: a dense array, or the three arrays of CSR."""

    @abstractmethod
    def exact(self, start: int, stop: int) -> Any:
        """These rows in double precision, an array or CSR matrix of our own, free to change."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Any:
        """Any rows, as ``exact``."""

    @abstractmethod
    def matrix(self, block: tuple[np.ndarray, ...]) -> Any:
        """A block as an array or CSR matrix."""

    @abstractmethod
    def mean(self) -> float:
        """Mean of all entries of X."""

    def digest(self) -> bytes:
        """A hash of all rows as they are stored."""
        whole = sha256()
        for part in self.stored(0, self.shape[0]):
            whole.update(np.ascontiguousarray(part).reshape(-1).data)
        if self.weights is not None:
            whole.update(self.weights.data)
        return whole.digest()

    def rows(self, start: int, stop: int) -> Any:
        """These rows as an array or CSR matrix in the working type, for scikit-learn to read."""
        if self.scaling is None:
            return self.matrix(self.stored(start, stop))
        return self.narrowed(self.exact(start, stop))

    def narrowed(self, rows: Any) -> Any:
        """Exact rows in the working type, for scikit-learn to read."""
        return rows.astype(self.dtype)

    def double(self, start: int, stop: int) -> Any:
        """A block in double precision after it was rounded to the working type, free to change."""
        return self.matrix(self.block(start, stop)).astype(np.float64)


def working_dtype(dtype: np.dtype) -> np.dtype:
    """Type of all arrays inside: float32 stays, small integers fit into it, the rest is float64."""
    small = dtype == np.float32 or (dtype.kind in "iubf" and dtype.itemsize <= 2)
    return np.dtype(np.float32 if small else np.float64)


def dense_blocks(n_rows: int, n_features: int) -> list[tuple[int, int]]:
    """Row ranges of dense data."""
    return _even_blocks(n_rows, n_features, _SMALL)


def sparse_blocks(n_rows: int, n_features: int, n_entries: int) -> list[tuple[int, int]]:
    """Row ranges of sparse data."""
    # One entry costs as much as several of a dense row: its features lie anywhere.
    fewest = max(_SMALL / 8, _ENTRIES_PER_FEATURE * n_features)
    return _even_blocks(n_rows, n_entries / max(n_rows, 1), fewest)


def _even_blocks(n_rows: int, per_row: float, fewest: float) -> list[tuple[int, int]]:
    """Blocks of equal size with at least ``fewest`` entries, ``per_row`` in each row."""
    per_row = max(per_row, 1)
    # Asked for in every sweep: plain numbers, no arrays.
    rows = int(min(max(n_rows / _BLOCKS, fewest / per_row), max(_LARGE / per_row, 1)))
    rows = -(-min(max(rows, 1), _MOST_ROWS) // BATCH) * BATCH
    return spans(n_rows, rows)


def spans(n: int, size: int) -> list[tuple[int, int]]:
    """Ranges of ``size`` that cover 0 to n, the last one shorter."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def drawn(n: int, most: int, rng: np.random.RandomState) -> np.ndarray:
    """Numbers of at most ``most`` of n rows, in order."""
    if n <= most:
        return np.arange(n)
    if n > _PERMUTED:
        # Memory in proportion to what is drawn.
        few = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
        return np.sort(few.choice(n, most, replace=False, shuffle=False))
    return np.sort(rng.choice(n, most, replace=False))


class DenseView(View):
    """A dense array, in memory or memory-mapped, of any layout and number type.

    Blocks of C-ordered float arrays are views; others are copied and converted one at a time.
    """

    sparse = False

    def __init__(
        self, X: np.ndarray, scaling: Scaling | None = None, columns: np.ndarray | None = None
    ) -> None:
        # A memory map becomes a plain view of the same file.
        super().__init__(np.asarray(X), scaling)
        self._columns = columns
        self.kept = np.arange(X.shape[1]) if columns is None else columns
        self.shape = (X.shape[0], len(self.kept))
        plain = self.X.dtype in (np.float32, np.float64) and scaling is None and columns is None
        readable = plain and self.X.flags.c_contiguous and self.X.flags.aligned
        self.in_place = self.X if readable else None

    def scaled(self, scaling: Scaling, drop: bool = False) -> DenseView:
        if not drop or scaling.columns.all():
            return DenseView(self.X, scaling).weighing(self.weights)
        columns = np.flatnonzero(scaling.columns)
        view = DenseView(self.X, scaling.of_columns(columns), columns)
        return view.weighing(self.weights)

    def subset(self, rows: np.ndarray) -> DenseView:
        scaling = self._exact_scaling
        view = DenseView(self._chosen(rows), None if scaling is None else scaling.of_rows(rows))
        view.kept = self.kept
        return view.weighing(self.weights, rows)

    def part(self, start: int, stop: int) -> DenseView:
        scaling = self._exact_scaling
        rows = slice(start, stop)
        own = None if scaling is None else scaling.of_rows(rows)
        return DenseView(self.X[rows], own, self._columns).weighing(self.weights, rows)

    def blocks(self) -> list[tuple[int, int]]:
        return dense_blocks(*self.shape)

    def stored(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        part = self.X[start:stop] if self._columns is None else self.X[start:stop, self._columns]
        rows = np.ascontiguousarray(part, dtype=self.dtype).view()
        # One compiled version serves writeable and read-only input.
        rows.flags.writeable = False
        return (rows,)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        (rows,) = self.stored(start, stop)
        if self.scaling is not None:
            rows = self.scaling.apply(rows, slice(None), self.scaling.rows[start:stop, None])
            rows.flags.writeable = False
        return (rows,)

    def exact(self, start: int, stop: int) -> np.ndarray:
        part = self.X[start:stop] if self._columns is None else self.X[start:stop, self._columns]
        return self._rescaled(np.array(part, dtype=np.float64, order="C"), slice(start, stop))

    def take(self, rows: np.ndarray) -> np.ndarray:
        chosen = np.ascontiguousarray(self._chosen(rows), dtype=np.float64)
        return self._rescaled(chosen, rows)

    def matrix(self, block: tuple[np.ndarray, ...]) -> np.ndarray:
        return block[0]

    def mean(self) -> float:
        return float(self.X.mean(dtype=np.float64))

    def _chosen(self, rows: np.ndarray) -> np.ndarray:
        if self._columns is not None:
            return self.X[np.ix_(rows, self._columns)]
        # numpy.take would first copy the whole of an array that is not C-contiguous.
        return np.take(self.X, rows, axis=0) if self.X.flags.c_contiguous else self.X[rows]

    def _rescaled(self, values: np.ndarray, rows: slice | np.ndarray) -> np.ndarray:
        scaling = self._exact_scaling
        if scaling is None:
            return values
        return scaling.apply(values, slice(None), scaling.rows[rows, None], out=values)
