"""From runs to what a table shows: the best setting of each method, its mean, its rank."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import rankdata

Pair = tuple[str, str]  # data set, method


@dataclass(frozen=True)
class Cell:
    """A method on a data set, at the setting with the best mean accuracy.

    ``reason`` says why there is no number. ``key`` names the run whose accuracy is the
    median one, for figures that show a single run.
    """

    acc: float = float("nan")
    acc_std: float = float("nan")
    nmi: float = float("nan")
    nmi_std: float = float("nan")
    params: Mapping[str, Any] = field(default_factory=dict)
    repeats: int = 0
    settings: int = 0
    seconds: float = float("nan")
    key: str = ""
    reason: str | None = None

    def value(self, metric: str) -> tuple[float, float]:
        """Mean and standard deviation of a metric."""
        return (self.acc, self.acc_std) if metric == "acc" else (self.nmi, self.nmi_std)


def _frozen(params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def by_setting(
    rows: Sequence[Mapping[str, Any]], purpose: str = "table"
) -> dict[Pair, dict[tuple[tuple[str, Any], ...], list[Mapping[str, Any]]]]:
    """Finished runs of one purpose, grouped by data set and method, then by setting."""
    groups: dict[Pair, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["purpose"] == purpose and row["state"] == "done":
            groups[row["dataset"], row["method"]][_frozen(row["params"])].append(row)
    return groups


def median_row(method: str) -> str:
    """Name of the row with the median setting of a method."""
    return f"{method}, median"


def summarise(rows: Sequence[Mapping[str, Any]], doubled: Collection[str] = ()) -> dict[Pair, Cell]:
    """One cell for each data set and method with any run.

    Methods that are ``doubled`` get a second cell, with the setting in the middle of all by mean
    accuracy instead of the best.

    Only settings with as many repeats as the best covered one compete, so that a lucky
    single run of an unfinished setting cannot win.
    """
    cells: dict[Pair, Cell] = {}
    for row in rows:
        if row["purpose"] == "table" and row["state"] == "failed":
            cells.setdefault((row["dataset"], row["method"]), Cell(reason=row["reason"]))
    for pair, settings in by_setting(rows).items():
        most = max(len(runs) for runs in settings.values())
        covered = {params: runs for params, runs in settings.items() if len(runs) == most}
        # Ties go to the smaller parameters, so that the choice never depends on the order of runs.
        falling = sorted(covered, key=lambda p: (-_printed(_mean(covered[p], "acc")), repr(p)))
        cells[pair] = _cell(dict(falling[0]), covered[falling[0]], len(settings))
        if pair[1] in doubled:
            middle = falling[len(falling) // 2]
            cells[pair[0], median_row(pair[1])] = _cell(
                dict(middle), covered[middle], len(settings)
            )
    return cells


def ranking(rows: Sequence[Mapping[str, Any]], seeds: int) -> dict[Pair, list[dict[str, Any]]]:
    """Settings of each method by falling mean accuracy over the first seeds."""
    early = [row for row in rows if row["seed"] < seeds]
    order = {}
    for pair, settings in by_setting(early).items():
        means = {params: _mean(runs, "acc") for params, runs in settings.items()}
        falling = sorted(means.items(), key=lambda item: (-item[1], repr(item[0])))
        order[pair] = [dict(params) for params, _ in falling]
    return order


def _printed(value: float) -> float:
    """As many digits as an export has, so that adopted runs and their repetition are equal."""
    return round(value, 6)


def _mean(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


def _cell(params: dict[str, Any], runs: Sequence[Mapping[str, Any]], settings: int) -> Cell:
    ordered = sorted(runs, key=lambda run: (_printed(run["acc"]), run["seed"]))
    return Cell(
        acc=_mean(runs, "acc"),
        acc_std=float(np.std([run["acc"] for run in runs])),
        nmi=_mean(runs, "nmi"),
        nmi_std=float(np.std([run["nmi"] for run in runs])),
        params=params,
        repeats=len(runs),
        settings=settings,
        seconds=_mean(runs, "seconds"),
        key=ordered[(len(ordered) - 1) // 2]["key"],
    )


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Mean rank of each row over the columns that have any number; 1 is best.

    Equal values share the mean of their ranks; a missing value ranks behind all others. A row
    without any number has no rank and takes no place.
    """
    ranked = ~np.isnan(values).all(axis=1)
    ranks = np.full(len(values), np.nan)
    if not ranked.any():
        return ranks
    present = values[ranked][:, ~np.isnan(values).all(axis=0)]
    filled = np.where(np.isnan(present), -np.inf, present)
    ranks[ranked] = rankdata(-filled, axis=0).mean(axis=1)
    return ranks
