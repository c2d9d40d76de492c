"""What every constant and every step of the default fit is worth.

    FNMF_DATA_HOME=... python benchmarks/ablation.py [--seeds 2] [--quick] [--only NAME ...]
                                                     [--out results/ablation.csv] [--print]

Each constant of ``Defaults`` is halved and doubled, each step is left out, over sets of seven
families; rows and features of large sets are sampled. A constant that a fit does not read cannot
change it, so that only fits which read it are repeated. Rows are appended to a CSV file as they
come; a second run skips those of the same commit. The change of the means against the default of
that commit is printed, and written to ``…_means.csv``; ``--print`` measures nothing before.
"""

import argparse
import csv
import subprocess
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

from _ablation_sets import Case, cut, suite
from _ablation_steps import Variant, steps
from fnmf import FNMF, RelevanceClusterer
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.defaults import DEFAULTS, Defaults

KEY = ("code", "variant", "family", "data", "seed")
MEASURES = ("acc", "auc", "k", "seconds")
FIELDS = (*KEY, *MEASURES)
DEFAULT = "default"
# Families of whole sets that are factorised: labels of codes show on these only.
WITH_CODES = ("sets", "noised", "shuffled")

Key = tuple[str, ...]
Rows = dict[Key, dict[str, str]]


class Reads(Defaults):
    """Constants that note which of them were read."""

    seen: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        Reads.seen.add(name)
        return object.__getattribute__(self, name)


def constants() -> Iterator[Variant]:
    """Each constant halved, doubled and, where that means something, off."""
    for field in fields(Defaults):
        value = getattr(DEFAULTS, field.name)
        if isinstance(value, tuple):
            continue  # coefficients of a fitted map, or a list of what is tried
        changed = (value / 2, value * 2) if isinstance(value, float) else (value // 2, value * 2)
        for other in dict.fromkeys(changed):
            yield Variant(f"{field.name} = {other:g}", {field.name: other})
    for name, off in OFF.items():
        yield Variant(f"{name} = {off:g}", {name: off})


# Values at which a constant does nothing.
OFF: dict[str, Any] = {
    "cap": 1e6,
    "minor": 0.0,
    "explained_weight": 0.0,
    "exchanges": 0,
    "small": 0.0,
    "refreshes": 0,
}


def variants() -> list[Variant]:
    """Steps, then constants."""
    return [*steps(), *constants()]


def varied(text: str) -> dict[str, Any]:
    """Constants that are changed together, as ``a=1,b=2``."""
    pairs = (one.split("=") for one in text.split(","))
    return {name: type(getattr(DEFAULTS, name))(float(value)) for name, value in pairs}


def fit(
    case: Case, made: tuple[np.ndarray, ...], seed: int, variant: Variant, whole: bool
) -> dict[str, float]:
    """Figures of one fit."""
    X, y, *real = made
    k: Any = "auto" if case.family == "number" else len(np.unique(y))
    factorised = ("factorised", *(WITH_CODES if whole else ()))
    model: Any = FNMF if case.family in factorised else RelevanceClusterer
    record = Reads(**{**asdict(DEFAULTS), **variant.changes})
    with ExitStack() as stack:
        stack.enter_context(patch.object(model, "_defaults", record))
        for name, instead in variant.patches.items():
            stack.enter_context(patch(name, instead))
        start = time.process_time()
        found = model(k, random_state=seed, n_jobs=1).fit(X)
        seconds = time.process_time() - start
    figures = {"seconds": seconds}
    if case.family == "shuffled":
        return {**figures, "acc": float(found.structure_found_ is not True)}
    figures["acc"] = clustering_accuracy(y, found.labels_)
    if case.family == "number":
        figures["k"] = float(found.n_clusters_ == len(np.unique(y)))
    if real and not real[0].all():
        figures["auc"] = float(roc_auc_score(real[0], found.feature_relevance_))
    return figures


class Store:
    """Rows of a CSV file, read once and appended to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: Rows = {}
        if path.exists():
            with path.open(newline="") as file:
                self.rows = {tuple(row[name] for name in KEY): row for row in csv.DictReader(file)}

    def add(self, key: Key, figures: dict[str, float]) -> None:
        values = [*key, *(f"{figures[m]:.5g}" if m in figures else "" for m in MEASURES)]
        self.rows[key] = dict(zip(FIELDS, values, strict=True))
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            if new:
                csv.writer(file).writerow(FIELDS)
            csv.writer(file).writerow(values)


def measure(
    store: Store, chosen: list[Variant], sets: list[Case], seeds: int, code: str, whole: bool
) -> None:
    """All rows that are not there yet; what reads no changed constant is as the default."""
    for seed in range(seeds):
        made = {case: case.make(seed) if whole else cut(seed, *case.make(seed)) for case in sets}
        default: dict[Case, tuple[set[str], dict[str, float]]] = {}
        for variant in [Variant(DEFAULT, {}), *chosen]:
            for case in sets:
                key = (code, variant.name, case.family, case.name, str(seed))
                if key in store.rows and variant.name != DEFAULT:
                    continue
                if variant.changes and not default[case][0] & set(variant.changes):
                    store.add(key, default[case][1])
                    continue
                Reads.seen.clear()
                figures = fit(case, made[case], seed, variant, whole)
                if variant.name == DEFAULT:
                    default[case] = set(Reads.seen), figures
                if key not in store.rows:
                    store.add(key, figures)


def show(store: Store, path: Path) -> None:
    """Change of the means against the default, by variant; printed, and written to a file."""
    found: dict[tuple[str, str], Rows] = defaultdict(dict)
    for (code, variant, *case), row in store.rows.items():
        found[variant, code][tuple(case)] = row
    families = list(dict.fromkeys(row["family"] for row in store.rows.values()))
    lines = [["variant", "code", "sets", "ACC", "error", "AUC", "k", "time", *families]]
    for (variant, code), rows in found.items():
        default = found[DEFAULT, code]
        changes = {m: changed(default, rows, m, variant != DEFAULT) for m in MEASURES}
        own = {
            name: changed(default, {k: row for k, row in rows.items() if k[0] == name}, "acc")
            for name in families
        }
        error = changes["acc"].std() / np.sqrt(len(changes["acc"]))
        seconds = [
            sum(float(which[key]["seconds"]) for key in rows if key in default)
            for which in (rows, default)
        ]
        means = [f"{one.mean():+.4f}" if len(one) else "" for one in own.values()]
        figures = [f"{changes[m].mean():+.4f}" if len(changes[m]) else "" for m in MEASURES[:3]]
        figures.insert(1, f"{error:.4f}")
        count = len(changes["acc"])
        lines.append([variant, code, count, *figures, f"{seconds[0] / seconds[1]:.2f}", *means])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    for line in lines:
        print(f"{line[0]:44}", *(f"{one:>9}" for one in line[1:]))


def changed(default: Rows, rows: Rows, measure: str, against: bool = True) -> np.ndarray:
    """A measure of each set less that of the default, or as it is."""
    pairs = [(row[measure], default[key][measure]) for key, row in rows.items() if key in default]
    return np.array([float(own) - against * float(its) for own, its in pairs if own and its])


def commit() -> str:
    return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="fewer sets")
    parser.add_argument("--whole", action="store_true", help="sets as they are, with codes")
    parser.add_argument("--only", nargs="*", default=[], help="constants or steps, by their names")
    parser.add_argument("--vary", nargs="*", default=[], help="instead: constant=value,...")
    parser.add_argument("--families", nargs="*", default=[], help="of sets; all, if none is named")
    parser.add_argument("--out", type=Path, default=Path("results/ablation.csv"))
    parser.add_argument("--code", help="name of the code, instead of its commit")
    parser.add_argument("--print", action="store_true", help="show what is there")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(given.out)
    if not given.print:
        asked = [
            one for one in variants() if not given.only or any(w in one.name for w in given.only)
        ]
        if given.vary:
            asked = [Variant(text, varied(text)) for text in given.vary]
        sets = [
            one for one in suite(given.quick) if not given.families or one.family in given.families
        ]
        measure(store, asked, sets, given.seeds, given.code or commit(), given.whole)
    show(store, given.out.with_stem(f"{given.out.stem}_means"))


if __name__ == "__main__":
    main()
