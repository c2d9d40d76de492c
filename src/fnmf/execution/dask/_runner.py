"""The runner that sends work to the blocks of a Dask array, and does the rest here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.execution import (
    BlockSource,
    Result,
    RowArray,
    Rows,
    Runner,
    State,
    Statistics,
    Threads,
    Work,
    add_up,
    threads,
)
from fnmf.execution.dask._row_arrays import DistantRows
from fnmf.execution.dask._store import Lineage, Stored
from fnmf.execution.dask._view import DaskView
from fnmf.execution.dask._worker import Filling, OnPart, Storing, Walking


class DaskRunner(Runner):
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
        return view.results(OnPart(work, view.transform), rows)

    def sweep(self, work: Work[Statistics], source: BlockSource, rows: Rows) -> Statistics:
        """One task for each block; rows stay where they were filled, sums come here."""
        view = source.view
        if not isinstance(view, DaskView):
            return self._here.sweep(work, source, rows)
        task, fills = Filling(work, view.transform, source.cut), _filled_of(work, rows)
        line = view.line(rows, 1)
        stored = view.version(line) if fills else None
        sent = task if stored is None else Storing(task)
        made = view.run(sent, rows, data=source.cut is not None, stored=stored)
        sums = add_up(view.pick(made, len(fills)))
        _put(fills, made, line, stored, view)
        return sums

    def walk(
        self, work: Callable[..., Any], source: BlockSource, rows: Rows, state: State
    ) -> State:
        """One task for each block, after the one on the block before."""
        view = source.view
        if not isinstance(view, DaskView):
            return self._here.walk(work, source, rows, state)
        task, fills = Walking(work, view.transform, source.cut), _filled_of(work, rows)
        line = view.line(rows, len(view.blocks()))
        stored = view.version(line) if fills else None
        sent = task if stored is None else Storing(task)
        data = source.cut is not None
        made = view.chain(sent, rows, state, len(fills), data=data, stored=stored)
        state = view.last(made, len(fills))
        _put(fills, made, line, stored, view)
        return state

    def empty(self, view: View, width: tuple[int, ...], dtype: Any) -> RowArray:
        if not isinstance(view, DaskView):
            return self._here.empty(view, width, dtype)
        return view.blank(width, dtype)

    def spread(self, rows: np.ndarray, view: View) -> RowArray:
        return view.spread(rows) if isinstance(view, DaskView) else rows


def _filled_of(work: Any, rows: Rows) -> list[DistantRows]:
    """The rows that work fills."""
    return [rows[place] for place in work.fills]


def _put(
    fills: list[DistantRows], made: list[Any], line: Lineage, stored: Stored | None, view: DaskView
) -> None:
    """Let rows be what was made, or if it is stored what can be read there."""
    if stored is not None:
        made, line = view.recall(stored, fills), Lineage(0, (stored,))
    for number, rows in enumerate(fills):
        rows.put(made, number, line)


@contextmanager
def dask_runner(n_jobs: int | None) -> Iterator[DaskRunner]:
    """A runner for the length of a fit."""
    with threads(n_jobs) as here:
        yield DaskRunner(here)
