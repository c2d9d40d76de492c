"""The view of a Dask array: it knows where rows are and how they are rescaled, but has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from fnmf.data import Scaling, View, view_of, working_dtype
from fnmf.execution import Rows
from fnmf.execution.dask._blocks import Blocks, blocks_of
from fnmf.execution.dask._row_arrays import DistantRows, argument, by_block
from fnmf.execution.dask._store import Lineage, Stored
from fnmf.execution.dask._worker import (
    BlockTransform,
    Facts,
    Kept,
    dense_block,
    facts,
    handed,
    rows_at,
    total,
)


class DaskView(View):
    """Rows that only a runner can reach; some of them can be fetched by their numbers.

    Parameters
    ----------
    X : dask.array.Array
        The data, in chunks of rows.
    blocks : Blocks
        Its chunks.
    sparse : bool
        Whether they are CSR.
    scaling : Scaling or None
        How rows are rescaled.
    columns : ndarray or None
        The features that a dense view has, if not all.
    filled : float
        Share of entries that are stored.
    """

    remote = True
    # Whether cells are missing; they are filled before anything else looks at the rows.
    gaps = False

    def __init__(
        self,
        X: Any,
        blocks: Blocks,
        sparse: bool,
        scaling: Scaling | None = None,
        columns: np.ndarray | None = None,
        filled: float = 0.0,
    ) -> None:
        # Blocks are rescaled where they are: nothing as long as X is made here.
        super().__init__(X, None)
        self._exact_scaling = scaling
        self.filled = filled
        self._blocks, self.sparse, self._columns = blocks, sparse, columns
        self.kept = np.arange(X.shape[1]) if columns is None else columns
        self.shape = (X.shape[0], len(self.kept))

    def scaled(self, scaling: Scaling, drop: bool = False) -> DaskView:
        if self.sparse or not drop or scaling.columns.all():
            return DaskView(self.X, self._blocks, self.sparse, scaling)
        columns = np.flatnonzero(scaling.columns)
        return DaskView(self.X, self._blocks, False, scaling.of_columns(columns), columns)

    def dense(self) -> DaskView:
        return self.mapped(dense_block)

    def mapped(self, function: Any, **given: Any) -> DaskView:
        """What a function makes of every block: as many dense rows of the same number type."""
        X = self.X.map_blocks(function, **given, meta=np.empty((0, 0), self.X.dtype))
        return DaskView(X, blocks_of(X), False)

    def blocks(self) -> list[tuple[int, int]]:
        return self._blocks.bounds

    @property
    def transform(self) -> BlockTransform:
        """How a worker has to see its blocks."""
        scaling = self._exact_scaling
        if scaling is None:
            return BlockTransform(None, None, self._columns)
        return BlockTransform(scaling.caps, scaling.columns, self._columns)

    def run(
        self, function: Any, rows: Rows, *, data: bool = True, stored: Stored | None = None
    ) -> list[Any]:
        """A function to every block, with its share of the scaling and of ``rows``.

        If rows are to be stored, the place for it comes first.
        """
        numbers = range(len(self.blocks()))
        arguments = [
            (*_place(stored, number), *self._arguments(number, rows, data)) for number in numbers
        ]
        return self._blocks.run(function, arguments, numbers, data=data)

    def chain(
        self,
        function: Any,
        rows: Rows,
        state: Any,
        place: int,
        *,
        data: bool,
        stored: Stored | None,
    ) -> list[Any]:
        """The same, one block after the other: each gets what the last one has left at a place."""
        made: list[Any] = []
        for number in range(len(self.blocks())):
            before = Kept(made[-1], place) if made else state
            scales, *own = self._arguments(number, rows, data)
            arguments = (*_place(stored, number), scales, before, *own)
            made += self._blocks.run(function, [arguments], [number], data=data)
        return made

    def line(self, rows: Rows, tasks: int) -> Lineage:
        """Where that comes from what is made of ``rows`` by so many more tasks."""
        scaling = self._exact_scaling
        given = rows if scaling is None else (scaling.rows, *rows)
        return Lineage.after([one.line for one in given if isinstance(one, DistantRows)], tasks)

    def version(self, line: Lineage) -> Stored | None:
        """Where to store rows of such a line, if it is time."""
        return self._blocks.version(line.tasks)

    def recall(self, stored: Stored, rows: Sequence[DistantRows]) -> list[Any]:
        """What was stored of ``rows``, as if tasks had made it."""
        numbers = range(len(self.blocks()))
        return self._blocks.recall(stored, [[one.kind(at) for one in rows] for at in numbers])

    def _arguments(self, number: int, rows: Rows, data: bool) -> tuple[Any, ...]:
        scaling, bounds = self._exact_scaling, self.blocks()[number]
        scales = None if scaling is None or not data else argument(scaling.rows, number, bounds)
        return scales, *(argument(array, number, bounds) for array in rows)

    def results(self, function: Any, rows: Rows) -> Iterator[Any]:
        """What a function returns for every block."""
        return self._blocks.results(self.run(function, rows))

    def pick(self, made: list[Any], place: int) -> Iterator[Any]:
        """One part of what ``run`` has left, for every block."""
        return self._blocks.pick(made, place)

    def last(self, made: list[Any], place: int) -> Any:
        """One part of what ``chain`` has left at its end."""
        end = self._blocks.run(handed, [(Kept(made[-1], place),)], [0], data=False)
        return next(self._blocks.results(end))[0]

    def blank(self, width: tuple[int, ...], dtype: Any) -> DistantRows:
        """Rows that are yet to be filled."""
        return DistantRows(self._blocks, width, dtype)

    def spread(self, rows: np.ndarray) -> DistantRows:
        """Rows of our own, brought to where the blocks are."""
        there = self.blank(rows.shape[1:], rows.dtype)
        arguments = [(rows[slice(*bounds)],) for bounds in self.blocks()]
        numbers = range(len(arguments))
        there.put(self._blocks.run(handed, arguments, numbers, data=False), 0, Lineage(1))
        return there

    def take(self, rows: np.ndarray) -> Any:
        return self._fetched(rows).take(np.arange(len(rows)))

    def subset(self, rows: np.ndarray) -> View:
        return self._fetched(rows).subset(np.arange(len(rows)))

    def narrowed(self, rows: Any) -> Any:
        return view_of(rows).narrowed(rows).astype(self.dtype)

    def mean(self) -> float:
        numbers = range(len(self.blocks()))
        made = self._blocks.run(total, [() for _ in numbers], numbers)
        return sum(self._blocks.results(made), 0.0) / (self.X.shape[0] * self.X.shape[1])

    def _fetched(self, rows: np.ndarray) -> View:
        """Any rows, here."""
        places, there, order = by_block(rows, self._blocks)
        made = self._blocks.run(rows_at, [(some, self._columns) for some in there], places)
        parts = list(self._blocks.results(made))
        if not parts:
            found: Any = np.empty((0, self.shape[1]), self.X.dtype)
            found = sp.csr_array(found) if self.sparse else found
        elif self.sparse:
            found = sp.csr_array(sp.vstack(parts, format="csr"))[order]
        else:
            found = np.concatenate(parts)[order]
        scaling = self._exact_scaling
        view = view_of(found, None if scaling is None else scaling.of_rows(rows))
        view.kept = self.kept
        return view

    def _elsewhere(self, *_: Any) -> NoReturn:
        raise RuntimeError("Rows of a Dask array are reached through a runner only.")

    part: Any = _elsewhere
    stored: Any = _elsewhere
    block: Any = _elsewhere
    exact: Any = _elsewhere
    matrix: Any = _elsewhere


def _place(stored: Stored | None, number: int) -> tuple[str, ...]:
    """A leading argument of tasks that store rows."""
    return () if stored is None else (stored.paths[number],)


def dask_view(estimator: Any, X: Any) -> DaskView:
    """The view of a Dask array of sound form; every block of it is validated here."""
    name = type(estimator).__name__
    blocks = blocks_of(X)
    numbers = range(len(blocks.bounds))
    found = list(blocks.results(blocks.run(facts, [() for _ in numbers], numbers)))
    for place, (bounds, one) in enumerate(zip(blocks.bounds, found, strict=True)):
        which = f"Block {place} of X (rows {bounds[0]} to {bounds[1] - 1})"
        if one.shape[0] != bounds[1] - bounds[0]:
            raise ValueError(
                f"{which} has {one.shape[0]} rows, but X says {bounds[1] - bounds[0]}; mend the "
                "function that makes the blocks, or give its chunks."
            )
        _check_block(which, one, found[0], X)
        if one.smallest < 0 and getattr(estimator, "_non_negative", True):
            raise ValueError(
                f"Negative values in data passed to {name}: block {place} of X (rows {bounds[0]} "
                f"to {bounds[1] - 1}) goes down to {one.smallest:g}. {name} factorises "
                "non-negative data; shift each feature by its minimum, or scale it to [0, 1]."
            )
    sparse = found[0].sparse
    filled = sum(one.stored for one in found) / (X.shape[0] * X.shape[1])
    view = DaskView(X, blocks, sparse, filled=filled if sparse else 0.0)
    view.gaps = any(one.missing for one in found)
    return view


def _check_block(which: str, one: Facts, first: Facts, X: Any) -> None:
    if len(one.shape) != 2 or one.shape[1] != X.shape[1]:
        raise ValueError(
            f"{which} has shape {one.shape}, but X says {X.shape[1]} features; mend the function "
            "that makes the blocks."
        )
    if one.dtype != first.dtype or working_dtype(one.dtype) != working_dtype(X.dtype):
        raise ValueError(
            f"{which} is of type {one.dtype}, the first one of {first.dtype}, and X says "
            f"{X.dtype}; use X.map_blocks(lambda block: block.astype({X.dtype.name!r}))."
        )
    if one.sparse != first.sparse:
        raise ValueError(
            f"{which} is {'sparse' if one.sparse else 'dense'}, the first one is not; make all "
            "blocks alike with X.map_blocks."
        )
    if not one.finite:
        raise ValueError(f"{which} contains infinity; fill or drop such values first.")
