"""Rows that are elsewhere: arrays whose blocks stay with those who made them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from fnmf.execution.dask._blocks import Blocks
from fnmf.execution.dask._store import Lineage
from fnmf.execution.dask._worker import Blank, Kept, Repeated, some


class DistantRows:
    """An array of the rows of X, of which every block is what a task has left where it ran.

    Parameters
    ----------
    blocks : Blocks
        Those of X.
    width : tuple of int
        Shape of a row.
    dtype : dtype
        Type.
    """

    def __init__(self, blocks: Blocks, width: tuple[int, ...], dtype: Any) -> None:
        self._blocks = blocks
        self.shape, self.dtype = (blocks.bounds[-1][1], *width), np.dtype(dtype)
        self._made: list[Any] = []
        self._place = 0
        self._factors: tuple[np.ndarray, ...] = ()
        self.line = Lineage()

    def __len__(self) -> int:
        return self.shape[0]

    def put(self, made: list[Any], place: int, line: Lineage) -> None:
        """Let it be this part of what tasks on all blocks have made."""
        self._made, self._place, self._factors = made, place, ()
        self.line = line

    def kind(self, number: int) -> tuple[tuple[int, ...], np.dtype]:
        """Shape and type of a block."""
        start, stop = self._blocks.bounds[number]
        return (stop - start, *self.shape[1:]), self.dtype

    def block(self, number: int) -> Kept | Blank:
        """A block as an argument of a task."""
        if not self._made:
            return Blank(*self.kind(number))
        return Kept(self._made[number], self._place, self._factors)

    def copy(self) -> Self:
        """The same as it is now; blocks are never changed, so none is copied."""
        other = type(self)(self._blocks, self.shape[1:], self.dtype)
        other._made, other._place, other._factors = self._made, self._place, self._factors
        other.line = self.line
        return other

    def __imul__(self, factors: np.ndarray) -> Self:
        """Columns times factors, when somebody next needs them."""
        self._factors = (*self._factors, factors)
        return self

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """Some rows by number, here."""
        places, own, order = by_block(rows, self._blocks)
        there = (self.block(place) for place in places)
        made = self._blocks.run(some, list(zip(there, own, strict=True)), places, data=False)
        found = list(self._blocks.results(made))
        return np.concatenate([np.empty((0, *self.shape[1:]), self.dtype), *found])[order]

    def parts(self) -> Iterator[np.ndarray]:
        """All rows, one block after the other, here."""
        for number in range(len(self._blocks.bounds)):
            arguments = [(self.block(number), slice(None))]
            made = self._blocks.run(some, arguments, [number], data=False)
            yield next(self._blocks.results(made))


def by_block(rows: np.ndarray, blocks: Blocks) -> tuple[list[int], list[np.ndarray], np.ndarray]:
    """Blocks in which some rows are, where in each of them, and the order that puts them back."""
    starts = np.array([start for start, _ in blocks.bounds])
    homes = np.searchsorted(starts, rows, side="right") - 1
    places = [int(place) for place in np.unique(homes)]
    own = [rows[homes == place] - starts[place] for place in places]
    return places, own, np.argsort(np.argsort(homes, kind="stable"), kind="stable")


def argument(rows: Any, number: int, bounds: tuple[int, int]) -> Any:
    """What a task on a block gets of an array of rows."""
    if isinstance(rows, DistantRows):
        return rows.block(number)
    if len(rows) and rows.strides[0] == 0:
        # The same row over and over, as broadcast: one of them travels.
        return Repeated(np.array(rows[:1]), bounds[1] - bounds[0])
    return rows[slice(*bounds)]
