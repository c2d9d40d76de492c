"""Who works through the blocks: the contract between solvers and runners."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from fnmf.data import View

Result = TypeVar("Result")
State = TypeVar("State")
# A tuple of arrays, mostly a named one.
Statistics = TypeVar("Statistics", bound=tuple[Any, ...])
# What belongs to the rows of X: a NumPy array, or on a cluster one whose blocks are on the workers.
# Both have a length, shape and dtype, give some rows by number, can be copied and be multiplied
# in place by factors of their columns; all else is work for a runner.
RowArray = Any
Rows = tuple[RowArray, ...]
# Given a block of X and the rows that belong to it, returns these rows, filled, and sums. It
# changes nothing else, so it can run anywhere; ``fills`` says which of the rows it changes.
Work = Callable[[tuple[Any, ...], tuple[np.ndarray, ...]], tuple[Rows, Statistics]]


class BlockSource(NamedTuple):
    """Where blocks come from, and how work wants them."""

    view: View
    # From a view and a range of its rows to what the work is given; ``None`` if it needs no X.
    cut: Callable[[View, int, int], tuple[Any, ...]] | None = None

    def operands(self, start: int, stop: int) -> tuple[Any, ...]:
        """A block of X as the work wants it."""
        return () if self.cut is None else self.cut(self.view, start, stop)


def parts_of(view: View) -> BlockSource:
    """Blocks as views of their rows."""
    return BlockSource(view, _part)


def _part(view: View, start: int, stop: int) -> tuple[View]:
    return (view.part(start, stop),)


class Runner(Protocol):
    """Works through blocks; what comes out never depends on how many work at it."""

    def each(
        self, task: Callable[..., Result], items: Sequence[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """``task(*item)`` for all items, in their order."""

    def over(self, work: Callable[..., Result], view: View, *rows: RowArray) -> Iterator[Result]:
        """``work(part, *own)`` for every block of a view, in their order: small things only.

        ``part`` is a view of the rows of the block, ``own`` what ``rows`` have for them. Work is a
        function of a module or a value with a call, for it may be sent to another machine.
        """

    def sweep(self, work: Work[Statistics], source: BlockSource, rows: Rows) -> Statistics:
        """``work`` on every block, its rows filled, its statistics added in the order of blocks."""

    def walk(
        self, work: Callable[..., Any], source: BlockSource, rows: Rows, state: State
    ) -> State:
        """``work(block, own, state)`` on one block after the other; each hands on its state."""

    def empty(self, view: View, width: tuple[int, ...], dtype: Any) -> RowArray:
        """Rows for a sweep to fill."""

    def spread(self, rows: np.ndarray, view: View) -> RowArray:
        """Rows that were made here, brought to where the others are."""

    def map_rows(
        self,
        function: Callable[..., Any],
        source: BlockSource,
        rows: Rows,
        width: tuple[int, ...],
        dtype: Any,
    ) -> RowArray:
        """New rows: what ``function(*block, *own)`` returns for the rows of each block.

        As ``function`` may be sent to another machine, it is one of a module, or a partial of it.
        """
        out = self.empty(source.view, width, dtype)
        self.sweep(_Mapped(function), source, (out, *rows))
        return out

    def sum_rows(
        self, function: Callable[..., Statistics], source: BlockSource, *rows: RowArray
    ) -> Statistics:
        """Sums over all blocks of the arrays that ``function(*block, *own)`` returns."""
        return self.sweep(_Summed(function), source, rows)


@dataclass(frozen=True)
class _Mapped:
    """A function as work that fills the first of its rows."""

    fills: ClassVar = (0,)
    function: Callable[..., Any]

    def __call__(self, block: tuple[Any, ...], rows: Rows) -> tuple[Rows, tuple[()]]:
        out, *own = rows
        out[:] = self.function(*block, *own)
        return rows, ()


@dataclass(frozen=True)
class _Summed:
    """A function as work that fills nothing."""

    fills: ClassVar = ()
    function: Callable[..., Any]

    def __call__(self, block: tuple[Any, ...], rows: Rows) -> tuple[Rows, Any]:
        return rows, self.function(*block, *rows)


def concatenated(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Rows of all blocks, one below the other."""
    return np.concatenate(list(parts))


def add_up(parts: Iterable[Statistics]) -> Statistics:
    """Sums over blocks, in double precision and in the order of the blocks."""
    totals: list[np.ndarray] = []
    make: Any = tuple
    for part in parts:
        if not totals:
            make = getattr(type(part), "_make", tuple)
            # The arrays of the first block are nobody else's: double ones take the sums.
            totals = [np.asarray(array, dtype=np.float64) for array in part]
        else:
            for total, array in zip(totals, part, strict=True):
                total += array
    return make(totals)
