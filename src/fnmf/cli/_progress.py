"""A progress bar with time left: only on a terminal, only after two seconds."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WAIT = 2.0


class Step:
    """What a running task reports to; does nothing when nobody is looking."""

    def __init__(self, bar: Any = None, task: Any = None) -> None:
        self._bar, self._task = bar, task

    def __call__(self, done: int, total: int | None = None) -> None:
        if self._bar is not None:
            changes = {} if total is None else {"total": total}
            self._bar.update(self._task, completed=done, **changes)


@contextmanager
def working(what: str) -> Iterator[Step]:
    """Show that ``what`` is going on, if it takes long and a person is watching."""
    if not sys.stderr.isatty():
        yield Step()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)
    timer = threading.Timer(_WAIT, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield Step(bar, task)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


class IterationCallback:
    """scikit-learn callback that counts iterations of a fit."""

    def __init__(self, step: Step, total: int | None) -> None:
        self._step, self._total, self._done = step, total, 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clear up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to do before an iteration."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Count; never ask to stop."""
        if context.task_name == "iteration":
            self._done += 1
            self._step(self._done, self._total)
        return False
