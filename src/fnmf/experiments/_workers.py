"""Processes that do runs: started fresh, watched, replaced when they die or take too long."""

import multiprocessing as mp
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from fnmf.experiments._plan import Run

TOO_LONG = "took longer than"
# One level of parallelism: the processes. Libraries inside them use one thread each.
_THREAD_SETTINGS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _THREAD_SETTINGS}


def _leave_with_parent() -> None:
    """End this process when the one that started it is gone, even by kill -9."""
    parent = mp.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _serve(channel: Connection, data_home: Any, plugins: Sequence[str]) -> None:
    # Ctrl-C reaches the whole group; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    from fnmf.experiments._execute import execute
    from fnmf.experiments._registry import run_plugin

    for plugin in plugins:
        run_plugin(plugin)
    while (run := channel.recv()) is not None:
        channel.send(execute(run, data_home))


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass
class _Worker:
    process: Any
    channel: Connection
    run: Run | None = None
    since: float = 0.0


class Workers:
    """A fixed number of processes; hand runs in, take outcomes out."""

    def __init__(
        self, jobs: int, *, data_home: Any = None, plugins: Sequence[str] = (), limit: float
    ) -> None:
        self._arguments = (data_home, tuple(plugins))
        self._limit = limit
        self._workers = [self._start() for _ in range(jobs)]

    def _start(self) -> _Worker:
        context = mp.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, *self._arguments), daemon=True)
        with _environment(_ONE_THREAD):
            process.start()
        theirs.close()
        return _Worker(process, ours)

    @property
    def idle(self) -> bool:
        """Whether a process waits for a run."""
        return any(worker.run is None for worker in self._workers)

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return any(worker.run is not None for worker in self._workers)

    def submit(self, run: Run) -> None:
        """Give a run to a process that waits."""
        worker = next(worker for worker in self._workers if worker.run is None)
        worker.run, worker.since = run, time.monotonic()
        # A process that died while waiting is noticed and reported by collect().
        with suppress(OSError):
            worker.channel.send(run)

    def collect(self, timeout: float) -> list[tuple[Run, dict[str, Any]]]:
        """Outcomes that have come in; waits for one at most ``timeout`` seconds."""
        busy = [worker for worker in self._workers if worker.run is not None]
        wait([w.channel for w in busy] + [w.process.sentinel for w in busy], timeout)
        outcomes = []
        for index, worker in enumerate(self._workers):
            if worker.run is None:
                continue
            outcome = self._outcome(worker)
            if outcome is None:
                continue
            outcomes.append((worker.run, outcome))
            worker.run = None
            if not worker.process.is_alive():
                worker.channel.close()
                self._workers[index] = self._start()
        return outcomes

    def _outcome(self, worker: _Worker) -> dict[str, Any] | None:
        try:
            if worker.channel.poll():
                return worker.channel.recv()
        except (EOFError, OSError):
            worker.process.join(5)
        if not worker.process.is_alive():
            code = worker.process.exitcode
            return {"reason": f"the process ended with exit code {code} (memory, or a crash)"}
        if time.monotonic() - worker.since > self._limit:
            worker.process.kill()
            worker.process.join()
            return {"reason": f"{TOO_LONG} {self._limit:g} seconds"}
        return None

    def stop(self) -> None:
        """End all processes now."""
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.channel.close()
