"""What to run for each target: a pure list of runs, known before anything starts."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fnmf.experiments._registry import NOISED_SETS, TABLE_SETS, Method

TABLES = ("table-acc", "table-nmi", "table-noise")
FIGURES = (
    "fig-toy",
    "fig-features",
    "fig-occlusion",
    "fig-convergence",
    "fig-parameters",
    "fig-components",
)
TARGETS = (*TABLES, *FIGURES)

TOY_METHODS = ("NMF", "RNMF", "GNMF", "FNMF (article)", "FNMF (tuned)")
FACE_SETS = ("yale", "orl")
STUDIED = "FNMF (article)"  # the method of the paper's figures
PAPER_WEIGHTINGS = 3


@dataclass(frozen=True)
class Profile:
    """How thorough: values of the grid, repeats, patience.

    With ``finalists``, every setting gets ``screening`` repeats first, and only so many
    settings of each method, the best ones, get them all.
    """

    name: str
    repeats: int
    limit_seconds: float
    coarse: bool = False
    screening: int = 0
    finalists: int = 0
    weightings: tuple[int, ...] = (1, 2, 3, 4, 5, 6)

    def values(self, grid: Sequence[Any]) -> Sequence[Any]:
        """The values of one parameter that are tried."""
        if not self.coarse or len(grid) <= 2:
            return grid
        # Two inner points; of the paper's seven these are 0.1 and 10.
        return [grid[len(grid) // 3], grid[2 * len(grid) // 3]]


PROFILES = {
    "quick": Profile("quick", 2, 600.0, coarse=True, weightings=(1, 3, 6)),
    "screened": Profile("screened", 20, 3600.0, screening=3, finalists=3),
    "full": Profile("full", 20, 3600.0),
}


@dataclass(frozen=True)
class Run:
    """One fit of one method on one data set with one seed.

    ``purpose`` is "table", "components" (another number of weightings) or "detail" (the
    history and the weights are kept).
    """

    dataset: str
    method: str
    params: tuple[tuple[str, Any], ...]
    seed: int
    purpose: str = "table"

    @property
    def params_json(self) -> str:
        return json.dumps(dict(self.params), sort_keys=True)

    def key(self, data_sha256: str) -> str:
        """The same for the same run of the same data, whoever asks."""
        parts = [self.dataset, data_sha256, self.method, self.params_json, self.seed, self.purpose]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def grid_points(method: Method, profile: Profile) -> list[tuple[tuple[str, Any], ...]]:
    """All settings of a method, the full product of its grid."""
    names = sorted(method.grid)
    values = [profile.values(method.grid[name]) for name in names]
    return [tuple(zip(names, point, strict=True)) for point in itertools.product(*values)]


def _repeats(method: Method, profile: Profile) -> range:
    return range(profile.repeats if method.random else 1)


def _table_runs(datasets: Iterable[str], methods: Iterable[Method], profile: Profile) -> list[Run]:
    runs = []
    for dataset in datasets:
        for method in methods:
            points = grid_points(method, profile)
            seeds = _repeats(method, profile)
            if 0 < profile.finalists < len(points):
                seeds = seeds[: profile.screening]
            runs += [Run(dataset, method.name, point, seed) for point in points for seed in seeds]
    return runs


def first_stage(
    targets: Iterable[str], datasets: Sequence[str], methods: Mapping[str, Method], profile: Profile
) -> list[Run]:
    """Runs that depend on nothing: the grids of all tables and of the studied method."""
    wanted = set(targets)
    runs: list[Run] = []
    toy = [methods[name] for name in TOY_METHODS if name in methods]
    studied = [methods[STUDIED]] if STUDIED in methods else []
    clean = [name for name in datasets if name not in (*NOISED_SETS, "toy")]
    noised = [name for name in datasets if name in NOISED_SETS]
    if "fig-toy" in wanted and "toy" in datasets:
        runs += _table_runs(["toy"], toy, profile)
    if wanted & {"table-acc", "table-nmi"}:
        runs += _table_runs(clean, methods.values(), profile)
    if wanted & {"fig-parameters", "fig-components", "fig-convergence"}:
        runs += _table_runs([name for name in clean if name in TABLE_SETS], studied, profile)
    if "fig-features" in wanted:
        runs += _table_runs([name for name in clean if name in FACE_SETS], studied, profile)
    if "table-noise" in wanted:
        runs += _table_runs(noised, methods.values(), profile)
    return list(dict.fromkeys(runs))


def final_stage(
    runs: Iterable[Run],
    methods: Mapping[str, Method],
    profile: Profile,
    ranking: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> list[Run]:
    """All repeats of the best settings that the runs of the first stage have shown."""
    if not profile.finalists:
        return []
    pairs = dict.fromkeys((run.dataset, run.method) for run in runs)
    return [
        Run(dataset, method, tuple(sorted(setting.items())), seed)
        for dataset, method in pairs
        for setting in ranking.get((dataset, method), ())[: profile.finalists]
        for seed in _repeats(methods[method], profile)
    ]


def second_stage(
    targets: Iterable[str],
    datasets: Sequence[str],
    methods: Mapping[str, Method],
    profile: Profile,
    best: Mapping[tuple[str, str], Mapping[str, Any]],
) -> list[Run]:
    """Runs at the best setting of the studied method, once the grid has shown it."""
    wanted = set(targets)
    runs = []
    for dataset in datasets:
        setting = best.get((dataset, STUDIED))
        if STUDIED not in methods or dataset not in TABLE_SETS or setting is None:
            continue
        params = tuple(sorted(setting.items()))
        if "fig-convergence" in wanted or ("fig-features" in wanted and dataset in FACE_SETS):
            runs.append(Run(dataset, STUDIED, params, 0, "detail"))
        if "fig-components" in wanted:
            for m in profile.weightings:
                point = tuple(sorted({**setting, "n_weightings": m}.items()))
                if m != PAPER_WEIGHTINGS:
                    runs += [
                        Run(dataset, STUDIED, point, seed, "components")
                        for seed in _repeats(methods[STUDIED], profile)
                    ]
    return runs
