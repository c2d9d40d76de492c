"""Who works through the blocks: the contract between solvers and runners."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from fnmf.data import View
from fnmf.runners._statistics import Statistics

Result = TypeVar("Result")
Rows = tuple[np.ndarray, ...]
# Given a block of X and the rows that belong to it, returns these rows, filled, and sums. It
# changes nothing else, so it can run anywhere.
Work = Callable[[tuple[Any, ...], Rows], tuple[Rows, Statistics]]


class Feed(Protocol):
    """Where blocks come from."""

    @property
    def view(self) -> View:
        """The data."""

    @property
    def layout(self) -> Any:
        """How the work wants blocks."""

    @property
    def blocks(self) -> Sequence[tuple[int, int]]:
        """Row ranges."""

    def operands(self, start: int, stop: int) -> tuple[Any, ...]:
        """A block of X as the work wants it."""


class Runner(Protocol):
    """Works through blocks; what comes out never depends on how many work at it."""

    def each(
        self, task: Callable[..., Result], items: Sequence[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """``task(*item)`` for all items, in their order."""

    def over(self, work: Callable[..., Result], view: View, *rows: np.ndarray) -> Iterator[Result]:
        """``work(part, *own)`` for every block of a view, in their order.

        ``part`` is a view of the rows of the block, ``own`` what ``rows`` have for them. Work is a
        function of a module or a value with a call, for it may be sent to another machine.
        """

    def sweep(self, work: Work[Statistics], feed: Feed, rows: Rows) -> Statistics:
        """``work`` on every block, its rows filled, its statistics added in the order of blocks."""


def concatenated(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Rows of all blocks, one below the other."""
    return np.concatenate(list(parts))
