"""The runner that sends work to the blocks of a Dask array, and does the rest here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.distributed._view import DaskView
from fnmf.distributed._worker import Filling, OnPart
from fnmf.runners import Feed, Result, Rows, Statistics, Threads, Work, add_up, threads


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

    def over(self, work: Callable[..., Result], view: View, *rows: np.ndarray) -> Iterator[Result]:
        """One task for each block."""
        if not isinstance(view, DaskView):
            return self._here.over(work, view, *rows)
        return view.send(OnPart(work), *rows)

    def sweep(self, work: Work[Statistics], feed: Feed, rows: Rows) -> Statistics:
        """One task for each block; the rows that it has filled come back with its sums."""
        view = feed.view
        if not isinstance(view, DaskView):
            return self._here.sweep(work, feed, rows)
        fills: tuple[int, ...] = work.fills  # type: ignore[attr-defined]
        found = view.send(Filling(work, feed.layout), *rows)

        def sums() -> Iterator[Statistics]:
            for (start, stop), (filled, part) in zip(view.blocks(), found, strict=True):
                for place, own in zip(fills, filled, strict=True):
                    rows[place][start:stop] = own
                yield part

        return add_up(sums())


@contextmanager
def dask_runner(n_jobs: int | None) -> Iterator[DaskRunner]:
    """A runner for the length of a fit."""
    with threads(n_jobs) as here:
        yield DaskRunner(here)
