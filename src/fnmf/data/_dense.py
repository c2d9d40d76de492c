"""Dense rows."""

from __future__ import annotations

import numpy as np

from fnmf.data._views import Scaling, View, dense_blocks


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
