"""One level of parallelism: row blocks on threads, their sums added in the order of the blocks."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from fnmf.data import View
from fnmf.execution._runner import (
    BlockSource,
    Result,
    RowArray,
    Rows,
    Runner,
    State,
    Statistics,
    Work,
    add_up,
)

Item = tuple[Any, ...]


@cache
def pools() -> ThreadpoolController:
    """The libraries that have threads of their own.

    Looking for them takes longer than a small batch or k-means; those that matter are loaded by
    the time that anybody asks.
    """
    return ThreadpoolController()


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs``.

    ``None`` means as many as the linear algebra library would use by itself: all cores, or
    fewer where joblib or threadpoolctl have set a limit.
    """
    if n_jobs is not None:
        return max(1, joblib.effective_n_jobs(n_jobs))
    found = pools().select(user_api="blas").info()
    limits = [pool["num_threads"] for pool in found]
    return max(1, min([*limits, joblib.effective_n_jobs(-1)]))


class Threads(Runner):
    """A runner of threads; results never depend on how many there are."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._orders: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # The calling thread is one of them.
        self._workers = [
            Thread(target=_serve, args=(self._orders,), daemon=True) for _ in range(threads - 1)
        ]
        for worker in self._workers:
            worker.start()

    def sweep(self, work: Work[Statistics], source: BlockSource, rows: Rows) -> Statistics:
        """Work on every block; it fills slices of ``rows``, so that nothing is copied."""

        def task(start: int, stop: int) -> Statistics:
            own = tuple(array[start:stop] for array in rows)
            return work(source.operands(start, stop), own)[1]

        return add_up(self.each(task, source.view.blocks()))

    def walk(
        self, work: Callable[..., Any], source: BlockSource, rows: Rows, state: State
    ) -> State:
        """Block after block, in this thread."""
        for start, stop in source.view.blocks():
            own = tuple(array[start:stop] for array in rows)
            state = work(source.operands(start, stop), own, state)[1]
        return state

    def empty(self, view: View, width: tuple[int, ...], dtype: Any) -> RowArray:
        return np.empty((view.shape[0], *width), dtype)

    def spread(self, rows: np.ndarray, view: View) -> RowArray:
        return rows

    def over(self, work: Callable[..., Result], view: View, *rows: RowArray) -> Iterator[Result]:
        """Work on every block, given as a view of its rows."""

        def task(start: int, stop: int) -> Result:
            return work(view.part(start, stop), *(array[start:stop] for array in rows))

        return self.each(task, view.blocks())

    def each(self, task: Callable[..., Result], items: Sequence[Item]) -> Iterator[Result]:
        """Results in the order of the items, at most one more than the threads held at a time."""
        helpers = min(self.threads, len(items)) - 1
        if helpers < 1:
            yield from (task(*item) for item in items)
            return
        sweep = _Sweep(task, items, self.threads + 1)
        for _ in range(helpers):
            self._orders.put(sweep.help)
        try:
            yield from sweep.results()
        finally:
            sweep.stop(helpers)

    def close(self) -> None:
        for _ in self._workers:
            self._orders.put(None)
        for worker in self._workers:
            worker.join()


def _serve(orders: SimpleQueue[Callable[[], None] | None]) -> None:
    """What a worker does all day."""
    while (order := orders.get()) is not None:
        order()
        # Between sweeps nothing of the last one is kept alive.
        del order


class _Sweep(Generic[Result]):
    """Items that are taken in order by whoever is free, the calling thread included.

    Queues and ``next`` on a range are safe between threads by themselves, and cheap: for small
    data the hand-over must not cost more than the work.
    """

    def __init__(self, task: Callable[..., Result], items: Sequence[Item], held: int) -> None:
        self._task, self._items = task, items
        self._numbers = iter(range(len(items)))
        self._finished: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()
        # Whoever takes an item takes a permit, and it returns when the result is handed out.
        self._permits: SimpleQueue[None] = SimpleQueue()
        for _ in range(held):
            self._permits.put(None)

    def help(self) -> None:
        """Do items until none is left."""
        while True:
            self._permits.get()
            if not self._do_one():
                return

    def _do_one(self) -> bool:
        number = next(self._numbers, None)
        if number is None:
            self._permits.put(None)
            return False
        try:
            self._finished.put((number, self._task(*self._items[number]), None))
        except BaseException as error:
            self._finished.put((number, None, error))
        return True

    def results(self) -> Iterator[Result]:
        """Results in order; while the next one is not there, the calling thread does one."""
        early: dict[int, tuple[Any, BaseException | None]] = {}
        for wanted in range(len(self._items)):
            while wanted not in early:
                if self._finished.empty() and self._may_start():
                    self._do_one()
                number, result, error = self._finished.get()
                early[number] = result, error
            result, error = early.pop(wanted)
            if error is not None:
                raise error
            yield result
            self._permits.put(None)

    def _may_start(self) -> bool:
        try:
            self._permits.get_nowait()
        except Empty:
            return False
        return True

    def stop(self, helpers: int) -> None:
        """Let the helpers go home, whatever is left."""
        self._numbers = iter(range(0))
        for _ in range(helpers):
            self._permits.put(None)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Threads]:
    """Threads for the length of a fit, with the linear algebra library held to one thread."""
    workers = Threads(n_threads(n_jobs))
    with pools().limit(limits=1, user_api="blas"):
        try:
            yield workers
        finally:
            workers.close()
