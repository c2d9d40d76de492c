"""One level of parallelism: row blocks on threads, their sums added in the order of the blocks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import joblib
import numpy as np
from numba import njit
from threadpoolctl import ThreadpoolController

Block = tuple[int, int]
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs``.

    ``None`` means as many as the linear algebra library would use by itself: all cores, or
    fewer where joblib or threadpoolctl have set a limit.
    """
    if n_jobs is not None:
        return max(1, joblib.effective_n_jobs(n_jobs))
    pools = ThreadpoolController().select(user_api="blas").info()
    limits = [pool["num_threads"] for pool in pools]
    return max(1, min([*limits, joblib.effective_n_jobs(-1)]))


class Crew:
    """Threads that work through row blocks; results never depend on how many there are."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        # The calling thread is one of the crew.
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def each(self, task: Callable[[int, int], Result], blocks: Sequence[Block]) -> Iterator[Result]:
        """Results in the order of the blocks, at most one more than the threads held at a time."""
        if self._pool is None or len(blocks) == 1:
            yield from (task(*block) for block in blocks)
            return
        held: deque[tuple[Block, Future[Result]]] = deque()
        upcoming = iter(blocks)
        try:
            while True:
                while len(held) <= self.threads and (block := next(upcoming, None)):
                    held.append((block, self._pool.submit(task, *block)))
                if not held:
                    return
                if not held[0][1].done():
                    self._help(task, held)
                yield held.popleft()[1].result()
        finally:
            for _, future in held:
                future.cancel()

    @staticmethod
    def _help(
        task: Callable[[int, int], Result], held: deque[tuple[Block, Future[Result]]]
    ) -> None:
        """Do the first block that nobody has begun, rather than wait for the next result."""
        for place, (block, future) in enumerate(held):
            if future.cancel():
                done: Future[Result] = Future()
                done.set_result(task(*block))
                held[place] = block, done
                return

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def crew(n_jobs: int | None) -> Iterator[Crew]:
    """A crew for the length of a fit, with the linear algebra library held to one thread."""
    workers = Crew(n_threads(n_jobs))
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        try:
            yield workers
        finally:
            workers.close()


def add_up(parts: Iterable[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Sums over blocks, in double precision and in the order of the blocks."""
    totals: list[np.ndarray] = []
    for part in parts:
        if not totals:
            # The arrays of the first block are nobody else's: double ones take the sums.
            totals = [np.asarray(array, dtype=np.float64) for array in part]
        else:
            for total, array in zip(totals, part, strict=True):
                _add(total.ravel(), array.ravel())
    return totals


@njit(nogil=True, cache=True)
def _add(total, part):  # type: ignore[no-untyped-def]
    for k in range(total.size):
        total[k] += part[k]
