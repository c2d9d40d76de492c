"""From targets to results: plan, load, run in two stages, keep what figures need, write."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fnmf.experiments._adopt import adopt
from fnmf.experiments._execute import prepared
from fnmf.experiments._output import write_all
from fnmf.experiments._plan import (
    FACE_SETS,
    PROFILES,
    TARGETS,
    TOY_METHODS,
    Run,
    final_stage,
    first_stage,
    second_stage,
)
from fnmf.experiments._registry import NOISED_SETS, TABLE_SETS, methods, problems
from fnmf.experiments._schedule import Progress, Team, digests_of, work_off
from fnmf.experiments._store import Store
from fnmf.experiments._summary import Cell, Pair, ranking, summarise

_SHOWN_IMAGES = 10


def choose(kind: str, wanted: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The names wanted, in the order of the known ones; titles and any case will do."""
    if not wanted:
        return list(known)
    titles = {p.title.casefold(): p.name for p in problems().values()} if kind == "datasets" else {}
    exact = {name.casefold(): name for name in known}
    chosen = []
    for name in wanted:
        found = exact.get(name.casefold()) or titles.get(name.casefold())
        if found is None:
            raise ValueError(f"--{kind} {name!r} is not known; use some of {', '.join(known)}.")
        chosen.append(found)
    return [name for name in known if name in chosen]


def default_datasets(targets: Sequence[str]) -> list[str]:
    """Data sets that the targets need."""
    wanted = set(targets)
    names = []
    if wanted & {"table-acc", "table-nmi"}:
        names += [p.name for p in problems().values() if p.table == "clean"]
    if wanted & {"fig-parameters", "fig-components", "fig-convergence"}:
        names += TABLE_SETS
    if "fig-features" in wanted:
        names += FACE_SETS
    if "table-noise" in wanted:
        names += [p.name for p in problems().values() if p.table == "noised"]
    if "fig-occlusion" in wanted:
        names += NOISED_SETS[1:]
    if "fig-toy" in wanted:
        names.append("toy")
    return list(dict.fromkeys(names))


def _keep_pictures(targets: Sequence[str], names: Sequence[str], store: Store, home: Any) -> None:
    """What figures show beside results: points, mean faces, a few images."""
    for name in names:
        if store.picture(name) is not None:
            continue
        if name == "toy" and "fig-toy" in targets:
            data = prepared(name, home)
            store.keep_picture(name, points=data.data[:, :2], classes=data.target)
        elif name in FACE_SETS and "fig-features" in targets:
            data = problems()[name].load(home)
            store.keep_picture(
                name, mean=data.data.mean(axis=0), image_shape=np.array(data.image_shape)
            )
        elif name in NOISED_SETS[1:] and "fig-occlusion" in targets:
            data = problems()[name].load(home)
            # One image of each of the first persons.
            first = [np.flatnonzero(data.target == c)[0] for c in range(_SHOWN_IMAGES)]
            store.keep_picture(name, images=data.data[first].reshape(-1, *data.image_shape))


@dataclass(frozen=True)
class Order:
    """What is asked for.

    Parameters
    ----------
    targets : sequence of str
        Tables and figures, or "all".
    folder : Path
        Where the store is; ``results`` is where tables and figures go, if elsewhere.
    profile : str
        How thorough.
    repeats : int, optional
        Another number of repeats than the profile has.
    datasets, methods : sequence of str, optional
        Only these.
    jobs : int
        Processes.
    data_home : path-like, optional
        Where the data are.
    plugins : sequence of str
        Files that register methods or data sets, run in every process.
    run, retry : bool
        Whether anything is run, and whether failed runs are tried again.
    adopted : Path, optional
        Folder with an earlier export whose runs are taken over.
    again : sequence of str
        Methods whose runs are not taken from there.
    command : str
        How it was asked for, in words.
    """

    targets: Sequence[str]
    folder: Path
    profile: str = "quick"
    repeats: int | None = None
    results: Path | None = None
    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    jobs: int = 1
    data_home: Any = None
    plugins: Sequence[str] = ()
    run: bool = True
    retry: bool = False
    adopted: Path | None = None
    again: Sequence[str] = ()
    command: str = ""


def reproduce(
    order: Order,
    show: Callable[[str, Progress], None] = lambda stage, progress: None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Run what is missing and write all outputs; the paths written.

    Interrupted by ``KeyboardInterrupt``, everything finished is in the store, and calling it
    again continues.
    """
    plan = PROFILES[order.profile]
    if order.repeats is not None:
        plan = replace(plan, repeats=order.repeats)
    targets = list(TARGETS) if "all" in order.targets else list(order.targets)
    # A data set asked for by name may be any; otherwise those that the targets need.
    names = (
        choose("datasets", order.datasets, list(problems()))
        if order.datasets
        else default_datasets(targets)
    )
    selected = {name: methods()[name] for name in choose("methods", order.methods, list(methods()))}
    again = choose("again", order.again, list(methods())) if order.again else []
    with Store(order.folder / "store.sqlite") as store:
        if order.adopted is not None:
            tell(f"{adopt(store, order.adopted, again)} runs taken from {order.adopted}")
        if order.run:
            if order.retry:
                store.forget_failures()
            digests, missing = digests_of(names, order.data_home)
            for name, reason in missing.items():
                tell(f"{name} is left out: {reason}")
            names = [name for name in names if name in digests]
            _keep_pictures(targets, names, store, order.data_home)

            def work(stage: str, runs: list[Run]) -> None:
                if not runs:
                    return
                team = Team(order.jobs, plan.limit_seconds, order.data_home, order.plugins)
                work_off(runs, digests, store, team, lambda progress: show(stage, progress))

            grid = first_stage(targets, names, selected, plan)
            work("grid", grid)
            ranked = ranking(store.results(), plan.screening)
            work("finalists", final_stage(grid, selected, plan, ranked))
            cells = summarise(store.results())
            best = {pair: cell.params for pair, cell in cells.items() if not cell.reason}
            work("at the best setting", second_stage(targets, names, selected, plan, best))
            if "fig-toy" in targets and "toy" in names:
                work("labels for the figure", _unlabelled(store, cells, set(selected)))
        about = {"command": order.command, "profile": order.profile, "repeats": plan.repeats}
        return write_all(targets, store, order.results or order.folder, about)


def _unlabelled(store: Store, cells: Mapping[Pair, Cell], known: Collection[str]) -> list[Run]:
    """The runs that the figure of the toy shows, if they were adopted: labels are not exported."""
    shown = {
        cells["toy", method].key
        for method in TOY_METHODS
        if method in known and ("toy", method) in cells and not cells["toy", method].reason
    }
    runs = []
    for row in store.results():
        if row["key"] in shown and not store.has_labels(row["key"]):
            store.forget(row["key"])
            params = tuple(sorted(row["params"].items()))
            runs.append(Run("toy", row["method"], params, row["seed"]))
    return runs
