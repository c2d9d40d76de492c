"""A progress bar with time left on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WAIT = 2.0
# Without a terminal: the first line after half a minute, then one a minute.
_FIRST_LINE, _NEXT_LINE = 30.0, 60.0


class Step:
    """What a running task reports to."""

    def __init__(self, bar: Any = None, task: Any = None) -> None:
        self._bar, self._task = bar, task
        self.done = 0
        self.total: int | None = None
        self.doing = ""

    def __call__(self, done: int, total: int | None = None) -> None:
        self.done, self.total = done, total if total is not None else self.total
        if self._bar is not None:
            changes = {} if total is None else {"total": total}
            self._bar.update(self._task, completed=done, **changes)

    def stage(self, what: str, name: str) -> None:
        """What is being done now, as a part of ``what``."""
        self.doing = name
        if self._bar is not None:
            self._bar.update(self._task, description=f"{what}: {name}")


@contextmanager
def working(what: str) -> Iterator[Step]:
    """Show that ``what`` is going on, if it takes long."""
    shown = _bar(what) if sys.stderr.isatty() else _lines(what)
    with shown as step:
        yield step


@contextmanager
def _lines(what: str) -> Iterator[Step]:
    """A line on the error stream now and then, for logs."""
    step, over, started = Step(), threading.Event(), time.monotonic()

    def print_lines() -> None:
        wait = _FIRST_LINE
        while not over.wait(wait):
            wait = _NEXT_LINE
            of = f" of {step.total:,}" if step.total else ""
            count = f", {step.done:,}{of}" if step.done else ""
            doing = f", {step.doing}" if step.doing else ""
            line = f"{what}: {time.monotonic() - started:.0f} s{doing}{count}"
            print(line, file=sys.stderr, flush=True)

    printer = threading.Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        yield step
    finally:
        over.set()
        printer.join()


@contextmanager
def _bar(what: str) -> Iterator[Step]:
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
    """scikit-learn callback that counts iterations of a fit, and tells what it does else."""

    def __init__(self, step: Step, total: int | None) -> None:
        self._step, self._total, self._done = step, total, 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clear up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Tell what begins."""
        if context.task_name not in ("fit", "start", "iteration"):
            self._step.stage("Fitting", context.task_name)

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Count; never ask to stop."""
        if context.task_name == "iteration":
            self._done += 1
            self._step(self._done, self._total)
        return False
