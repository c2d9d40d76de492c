"""``fnmf reproduce``: the paper's tables and figures, run, resumed and drawn by one command."""

import os
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fnmf.cli._commands import grouped
from fnmf.cli._signals import interruption

if TYPE_CHECKING:
    from fnmf.experiments import Progress

# Lines printed when the output is no terminal, at most one in so many seconds.
_LINE_EVERY_SECONDS = 30.0


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "–:––"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def _state(progress: "Progress") -> str:
    parts = [f"{_clock(progress.seconds_left())} left"]
    if progress.last is not None:
        parts.append(f"{progress.last.dataset} · {progress.last.method}")
        best = progress.best.get(progress.last.dataset)
        if best is not None:
            parts.append(f"best {best[0]:.3f} {best[1]}")
    if progress.failed:
        parts.append(f"{progress.failed} without result")
    return " · ".join(parts)


class _Display:
    """A live bar on a terminal, now and then a line elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        console = Console(stderr=True, markup=False, highlight=False)
        self._live = console.is_terminal
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            console=console,
            disable=not self._live,
        )
        self._tasks: dict[str, Any] = {}
        self._spoke = 0.0

    def __enter__(self) -> "_Display":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, stage: str, progress: "Progress") -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=progress.total, state="")
        self._bar.update(self._tasks[stage], completed=progress.done, state=_state(progress))
        over = progress.done == progress.total
        if not self._live and (over or time.monotonic() - self._spoke > _LINE_EVERY_SECONDS):
            self._spoke = time.monotonic()
            line = f"{stage}: {progress.done}/{progress.total} · {_state(progress)}"
            typer.echo(line, err=True)

    def tell(self, line: str) -> None:
        self._bar.console.print(line)


def _names(text: str | None) -> list[str] | None:
    """Names set apart by commas; a name may hold one itself."""
    if text is None:
        return None
    from fnmf.experiments import methods

    parts = [part.strip() for part in text.split(",") if part.strip()]
    joined: list[str] = []
    for part in parts:
        whole = f"{joined[-1]}, {part}" if joined else ""
        known = {name.casefold() for name in methods()}
        if part.casefold() not in known and whole.casefold() in known:
            joined[-1] = whole
        else:
            joined.append(part)
    return joined


@dataclass(frozen=True)
class Chosen:
    """Which experiments, and how thorough."""

    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="quick: coarse grid, few repeats; full: the paper's protocol; screened: the "
            "same, but all repeats for the best settings only.",
        ),
    ] = "quick"
    repeats: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Repeats of each setting, if not as in the profile."),
    ] = None
    datasets: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these, set apart by commas.")
    ] = None
    methods: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these, set apart by commas.")
    ] = None
    plugins: Annotated[
        list[Path] | None,
        typer.Option(
            "--with", metavar="FILE.py", help="Python file that registers methods or data sets."
        ),
    ] = None


@dataclass(frozen=True)
class Folders:
    """Where data come from, and where results go."""

    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the store.")] = Path(
        "fnmf-reproduce"
    )
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder of tables and figures, if not that of the store."
        ),
    ] = None
    data_home: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder that holds the data sets.")
    ] = None


@dataclass(frozen=True)
class Stored:
    """What becomes of runs that there are."""

    run: Annotated[
        bool, typer.Option("--run/--no-run", help="--no-run: draw from the store only.")
    ] = True
    retry: Annotated[bool, typer.Option("--retry", help="Try runs again that gave no result.")] = (
        False
    )
    adopted: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="Take over the runs of an earlier RESULTS folder (runs.csv).",
        ),
    ] = None
    again: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="With --from: do all runs of these methods again. Set apart by commas.",
        ),
    ] = None


@grouped
def reproduce(
    chosen: Chosen,
    folders: Folders,
    stored: Stored,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET",
            help="table-acc, table-nmi, table-noise, fig-toy, fig-features, fig-occlusion, "
            "fig-convergence, fig-parameters, fig-components, or all (the default).",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Processes that work at the same time.")
    ] = 2,
) -> None:
    """Run the paper's experiments and write its tables and figures beside the published numbers.

    Every run goes to OUT/store.sqlite at once. Stopped in whatever way, the same command
    continues; several processes may work on one folder. To do some methods anew and draw
    everything again from stored results: --from results --again "NAME,NAME" --results results.

    \b
    Examples:
      fnmf reproduce table-acc --datasets yale --methods NMF,FNMF
      fnmf reproduce all --profile full --jobs 2
    """
    from fnmf.experiments import PROFILES, TARGETS, Order, run_plugin
    from fnmf.experiments import reproduce as run_experiments

    wanted = targets or ["all"]
    unknown = [target for target in wanted if target not in (*TARGETS, "all")]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not a target; use all, {', '.join(TARGETS)}.")
    if chosen.profile not in PROFILES:
        known = ", ".join(PROFILES)
        raise typer.BadParameter(f"--profile {chosen.profile!r} is not known; use {known}.")
    if stored.again and stored.adopted is None:
        raise typer.BadParameter("--again needs --from: it says which of those runs not to take.")
    command = shlex.join(["fnmf", *sys.argv[1:]])
    plugins = [str(path.resolve()) for path in chosen.plugins or []]
    try:
        for path in plugins:
            run_plugin(path)
        with _Display() as display:
            order = Order(
                wanted,
                folders.out,
                profile=chosen.profile,
                repeats=chosen.repeats,
                results=folders.results,
                datasets=_names(chosen.datasets),
                methods=_names(chosen.methods),
                jobs=jobs,
                data_home=folders.data_home,
                plugins=plugins,
                run=stored.run,
                retry=stored.retry,
                adopted=stored.adopted,
                again=_names(stored.again) or (),
                command=command,
            )
            written = run_experiments(order, display.show, display.tell)
    except KeyboardInterrupt as error:
        typer.echo(f"\nStopped; finished runs are in {folders.out}. To go on: {command}", err=True)
        raise typer.Exit(interruption(error)) from None
    except (ValueError, FileNotFoundError, ModuleNotFoundError) as error:
        typer.echo(f"fnmf reproduce: {error}", err=True)
        raise typer.Exit(2) from error
    for file in written:
        typer.echo(os.path.relpath(file))
