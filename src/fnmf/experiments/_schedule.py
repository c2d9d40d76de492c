"""Work off a list of runs: claim, hand out, write at once; done runs are never done again."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fnmf.experiments._execute import versions
from fnmf.experiments._plan import Run
from fnmf.experiments._store import Store
from fnmf.experiments._workers import TOO_LONG, Workers

_TICK_SECONDS = 0.5


@dataclass
class Progress:
    """What a display needs to know: how far, how long still, the best so far."""

    total: int
    done: int = 0
    failed: int = 0
    jobs: int = 1
    remaining: deque[Run] = field(default_factory=deque)
    best: dict[str, tuple[float, str]] = field(default_factory=dict)
    last: Run | None = None
    _seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def note(self, run: Run, outcome: Mapping[str, Any]) -> None:
        """Take in one finished run."""
        self.done += 1
        self.last = run
        if outcome.get("reason"):
            self.failed += 1
            return
        self._seconds.setdefault((run.dataset, run.method), []).append(outcome["seconds"])
        if outcome["acc"] > self.best.get(run.dataset, (-1.0, ""))[0]:
            self.best[run.dataset] = (outcome["acc"], run.method)

    def seconds_left(self) -> float | None:
        """Estimate from runs of the same method on the same data, else from all so far."""
        if not self._seconds:
            return None
        means = {pair: sum(times) / len(times) for pair, times in self._seconds.items()}
        overall = sum(means.values()) / len(means)
        left = sum(means.get((run.dataset, run.method), overall) for run in self.remaining)
        return left / self.jobs


class _Work:
    """One process's share of a list of runs."""

    def __init__(
        self,
        store: Store,
        digests: Mapping[str, str],
        workers: Workers,
        progress: Progress,
        show: Callable[[Progress], None],
    ) -> None:
        self.store, self.digests, self.workers = store, digests, workers
        self.progress, self.show = progress, show
        self._versions = versions()
        self._too_slow: set[tuple[str, str, str]] = set()

    def drain(self) -> list[Run]:
        """Do what remains; runs that another process has are returned."""
        elsewhere: list[Run] = []
        queue = self.progress.remaining
        while queue or self.workers.busy:
            while queue and self.workers.idle:
                run = queue.popleft()
                if not self.store.claim(run, self.digests[run.dataset]):
                    elsewhere.append(run)
                elif _setting(run) in self._too_slow:
                    self._finish(run, {"reason": "not tried: another seed took too long"})
                else:
                    self.workers.submit(run)
            for run, outcome in self.workers.collect(_TICK_SECONDS):
                self._finish(run, outcome)
            self.store.beat()
            self.show(self.progress)
        return elsewhere

    def _finish(self, run: Run, outcome: dict[str, Any]) -> None:
        self.store.finish(run.key(self.digests[run.dataset]), outcome, self._versions)
        self.progress.note(run, outcome)
        if TOO_LONG in (outcome.get("reason") or ""):
            self._too_slow.add(_setting(run))


def _setting(run: Run) -> tuple[str, str, str]:
    return run.dataset, run.method, run.params_json


def _still_open(runs: Iterable[Run], digests: Mapping[str, str], store: Store) -> list[Run]:
    states = store.states()
    over = ("done", "failed")
    return [run for run in runs if states.get(run.key(digests[run.dataset])) not in over]


@dataclass(frozen=True)
class Team:
    """Who does the runs: how many processes, seconds for a run, where data and plugins are."""

    jobs: int
    limit: float
    data_home: Any = None
    plugins: Sequence[str] = ()


def work_off(
    runs: Sequence[Run],
    digests: Mapping[str, str],
    store: Store,
    team: Team,
    show: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Do all runs that nobody has done; returns when every one is in the store.

    Runs that another process has claimed are waited for, and taken over if it dies.
    """
    todo = _still_open(runs, digests, store)
    progress = Progress(len(runs), done=len(runs) - len(todo), jobs=team.jobs)
    if not todo:
        show(progress)
        return progress
    workers = Workers(
        min(team.jobs, len(todo)),
        data_home=team.data_home,
        plugins=team.plugins,
        limit=team.limit,
    )
    work = _Work(store, digests, workers, progress, show)
    try:
        while todo:
            progress.remaining = deque(todo)
            progress.done = len(runs) - len(todo)
            elsewhere = work.drain()
            todo = _still_open(elsewhere, digests, store)
            if todo:
                time.sleep(_TICK_SECONDS)
    finally:
        workers.stop()
        store.release()
    progress.done = len(runs)
    return progress


def digests_of(names: Iterable[str], data_home: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Digest of each data set that can be loaded, and the reason for each that cannot."""
    from fnmf.experiments._execute import data_digest, prepared

    digests, missing = {}, {}
    for name in names:
        try:
            digests[name] = data_digest(prepared(name, data_home))
        except (OSError, ValueError, ImportError) as error:
            missing[name] = " ".join(str(error).split())
    return digests, missing
