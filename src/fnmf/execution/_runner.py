"""Who works through the blocks: the contract between solvers and runners, and threads.

There is one level of parallelism: row blocks on threads, their sums added in the order of blocks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

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
    """Do what is ordered, until ``None`` is."""
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
        """End the help of other threads, whatever is left."""
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
