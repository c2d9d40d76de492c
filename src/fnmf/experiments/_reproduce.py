"""From targets to results: plan, load, run in two stages, keep what figures need, write."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fnmf.experiments._execute import prepared
from fnmf.experiments._output import write_all
from fnmf.experiments._plan import (
    FACE_SETS,
    PROFILES,
    TARGETS,
    Run,
    final_stage,
    first_stage,
    second_stage,
)
from fnmf.experiments._registry import NOISED_SETS, TABLE_SETS, methods, problems
from fnmf.experiments._schedule import Progress, digests_of, work_off
from fnmf.experiments._store import Store
from fnmf.experiments._summary import ranking, summarise

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


def reproduce(
    targets: Sequence[str],
    folder: Path,
    *,
    profile: str,
    results: Path | None = None,
    datasets: Sequence[str] | None = None,
    chosen_methods: Sequence[str] | None = None,
    jobs: int = 1,
    data_home: Any = None,
    plugins: Sequence[str] = (),
    run: bool = True,
    retry: bool = False,
    command: str = "",
    show: Callable[[str, Progress], None] = lambda stage, progress: None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Run what is missing and write all outputs; the paths written.

    Interrupted by ``KeyboardInterrupt``, everything finished is in the store, and calling it
    again continues.
    """
    plan = PROFILES[profile]
    targets = list(TARGETS) if "all" in targets else list(targets)
    # A data set asked for by name may be any; otherwise those that the targets need.
    names = (
        choose("datasets", datasets, list(problems())) if datasets else default_datasets(targets)
    )
    selected = {
        name: methods()[name] for name in choose("methods", chosen_methods, list(methods()))
    }
    with Store(folder / "store.sqlite") as store:
        if run:
            if retry:
                store.forget_failures()
            digests, missing = digests_of(names, data_home)
            for name, reason in missing.items():
                tell(f"{name} is left out: {reason}")
            names = [name for name in names if name in digests]
            _keep_pictures(targets, names, store, data_home)

            def work(stage: str, runs: list[Run]) -> None:
                if not runs:
                    return
                work_off(
                    runs,
                    digests,
                    store,
                    jobs=jobs,
                    limit=plan.limit_seconds,
                    data_home=data_home,
                    plugins=plugins,
                    show=lambda progress: show(stage, progress),
                )

            grid = first_stage(targets, names, selected, plan)
            work("grid", grid)
            order = ranking(store.results(), plan.screening)
            work("finalists", final_stage(grid, selected, plan, order))
            cells = summarise(store.results())
            best = {pair: cell.params for pair, cell in cells.items() if not cell.reason}
            work("at the best setting", second_stage(targets, names, selected, plan, best))
        about = {"command": command, "profile": profile, "repeats": plan.repeats}
        return write_all(targets, store, results or folder, about)
