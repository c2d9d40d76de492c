"""The runner that sends work to the blocks of a Dask array, and does the rest here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.distributed._view import DaskView
from fnmf.distributed._worker import Filling, OnPart, Walking
from fnmf.runners import (
    Feed,
    Result,
    RowArray,
    Rows,
    State,
    Statistics,
    Threads,
    Work,
    add_up,
    threads,
)


class DaskRunner:
    """Work on rows that are elsewhere is sent there; all other work is done by threads here.

    Parameters
    ----------
    here : Threads
        For work that needs no row of X.
    """

    def __init__(self, here: Threads) -> None:
        self._here = here

    def each(
        self, task: Callable[..., Result], items: Sequence[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """What needs no row of X is done here."""
        return self._here.each(task, items)

    def over(self, work: Callable[..., Result], view: View, *rows: RowArray) -> Iterator[Result]:
        """One task for each block, whose result comes here."""
        if not isinstance(view, DaskView):
            return self._here.over(work, view, *rows)
        return view.results(OnPart(work, view.sight), rows)

    def sweep(self, work: Work[Statistics], feed: Feed, rows: Rows) -> Statistics:
        """One task for each block; rows stay where they were filled, sums come here."""
        view = feed.view
        if not isinstance(view, DaskView):
            return self._here.sweep(work, feed, rows)
        task = Filling(work, view.sight, feed.cut)
        made = view.run(task, rows, data=feed.cut is not None)
        return add_up(view.pick(made, self._filled(task, rows, made)))

    def walk(self, work: Callable[..., Any], feed: Feed, rows: Rows, state: State) -> State:
        """One task for each block, after the one on the block before."""
        view = feed.view
        if not isinstance(view, DaskView):
            return self._here.walk(work, feed, rows, state)
        task = Walking(work, view.sight, feed.cut)
        made = view.chain(task, rows, state, len(task.work.fills), data=feed.cut is not None)
        return view.last(made, self._filled(task, rows, made))

    def _filled(self, task: Filling, rows: Rows, made: list[Any]) -> int:
        """Let rows be what was made; returns the place of what is not rows."""
        fills: tuple[int, ...] = task.work.fills
        for number, place in enumerate(fills):
            rows[place].put(made, number)
        return len(fills)

    def empty(self, view: View, width: tuple[int, ...], dtype: Any) -> RowArray:
        if not isinstance(view, DaskView):
            return self._here.empty(view, width, dtype)
        return view.blank(width, dtype)

    def spread(self, rows: np.ndarray, view: View) -> RowArray:
        return view.spread(rows) if isinstance(view, DaskView) else rows


@contextmanager
def dask_runner(n_jobs: int | None) -> Iterator[DaskRunner]:
    """A runner for the length of a fit."""
    with threads(n_jobs) as here:
        yield DaskRunner(here)
