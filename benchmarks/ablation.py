"""What every constant and every step of the default fit is worth.

    FNMF_DATA_HOME=... python benchmarks/ablation.py [--seeds 2] [--quick] [--only NAME ...]
                                                     [--out results/ablation.csv] [--print]

Each constant of ``Defaults`` is halved and doubled, each step is left out, over sets of seven
families; rows and features of large sets are sampled. A constant that a fit does not read cannot
change it, so that only fits which read it are repeated. Rows are appended to a CSV file as they
come; a second run skips those that are there. ``--print`` shows the change against the default.
"""

import argparse
import csv
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

FIELDS = ("variant", "family", "data", "seed", "acc", "auc", "k", "seconds")
MEASURES = ("acc", "auc", "k", "seconds")
DEFAULT = "default"


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
    "nearly_all": 0.0,
    "least_explained": 0.0,
    "minor": 0.0,
    "uncertain": 1.0,
    "explained_weight": 0.0,
    "common_units_price": 0.0,
    "unit_rows_bonus": 0.0,
    "means_price": 0.0,
    "exchanges": 0,
    "merge_ties": 0.0,
    "refreshes": 0,
    "most_neighbors": 0,
    "table_cap": 1e6,
    "eigengap_weight": 0.0,
}
# Constants that are worth most, or are most doubted, come first.
FIRST = (
    *OFF,
    "refreshes",
    "resolution",
    "weight_begins",
    "significant",
    "crossfit_splits",
    "crossfit_certain",
    "table_means_price",
    "splits",
    "row_splits",
    "partition_starts",
    "table_starts",
    "exchange_tries",
    "sample_rows",
)


def variants() -> list[Variant]:
    """Steps, then constants."""
    later = [one for one in constants() if next(iter(one.changes)) not in FIRST]
    first = [one for one in constants() if next(iter(one.changes)) in FIRST]
    return [*steps(), *first, *later]


def varied(text: str) -> dict[str, Any]:
    """Constants that are changed together, as ``a=1,b=2``."""
    pairs = (one.split("=") for one in text.split(","))
    return {name: type(getattr(DEFAULTS, name))(float(value)) for name, value in pairs}


def fit(case: Case, made: tuple[np.ndarray, ...], seed: int, variant: Variant) -> dict[str, float]:
    """Figures of one fit."""
    X, y, *real = made
    k: Any = "auto" if case.family == "number" else len(np.unique(y))
    model: Any = FNMF if case.family == "factorised" else RelevanceClusterer
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
        self.path, self.rows = path, {}
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    self.rows[tuple(row[name] for name in FIELDS[:4])] = row

    def add(self, key: tuple[str, ...], figures: dict[str, float]) -> None:
        values = [*key, *(f"{figures[m]:.5g}" if m in figures else "" for m in MEASURES)]
        self.rows[key] = dict(zip(FIELDS, values, strict=True))
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            if new:
                csv.writer(file).writerow(FIELDS)
            csv.writer(file).writerow(values)


def measure(store: Store, chosen: list[Variant], sets: list[Case], seeds: int) -> None:
    """All rows that are not there yet; the data of a set are made once for all variants."""
    read: dict[tuple[str, str], set[str]] = {}
    made: dict[tuple[Case, int], tuple[np.ndarray, ...]] = {}
    for seed in range(seeds):
        for variant in chosen:
            for case in sets:
                key = (variant.name, case.family, case.name, str(seed))
                own = read.get((case.family, case.name))
                if key in store.rows and own is not None:
                    continue
                unread = own is not None and not variant.patches and not own & set(variant.changes)
                if variant.changes and unread:
                    continue
                if (case, seed) not in made:
                    made[case, seed] = cut(seed, *case.make(seed))
                Reads.seen.clear()
                figures = fit(case, made[case, seed], seed, variant)
                if variant.name == DEFAULT:
                    read[case.family, case.name] = set(Reads.seen)
                if key not in store.rows:
                    store.add(key, figures)
        made.clear()


def show(store: Store) -> None:
    """Change of the means against the default, with its standard error over sets and seeds."""
    default = {key[1:]: row for key, row in store.rows.items() if key[0] == DEFAULT}
    changes: dict[str, dict[tuple[str, ...], dict[str, str]]] = defaultdict(dict)
    for key, row in store.rows.items():
        changes[key[0]][key[1:]] = row
    families = list(dict.fromkeys(key[0] for key in default))
    print(f"{'':42}{'ACC':>9}{'error':>7}{'AUC':>8}{'k':>7}{'time':>7}  ACC by family: {families}")
    for name, rows in changes.items():
        cells = [difference(default, rows, measure) for measure in MEASURES]
        (acc, error), (auc, _), (k, _), _ = cells
        if name == DEFAULT:
            values = [average(default, measure) for measure in MEASURES[:3]]
            acc, auc, k = values
        times = [
            sum(float(found.get(key, row)["seconds"]) for key, row in default.items())
            for found in (rows, default)
        ]
        own = [
            difference({key: row for key, row in default.items() if key[0] == one}, rows, "acc")[0]
            for one in families
        ]
        shown = " ".join(f"{one:+.3f}" for one in own)
        ratio = times[0] / times[1]
        print(f"{name:42}{acc:+9.4f}{error:7.4f}{auc:+8.4f}{k:+7.3f}{ratio:7.2f}  {shown}")


def average(rows: dict[tuple[str, ...], dict[str, str]], measure: str) -> float:
    return float(np.mean([float(row[measure]) for row in rows.values() if row[measure]]))


def difference(
    default: dict[tuple[str, ...], dict[str, str]],
    rows: dict[tuple[str, ...], dict[str, str]],
    measure: str,
) -> tuple[float, float]:
    """Mean change over all rows of the default and its standard error; what is not read stays."""
    known = [(row[measure], rows.get(key, row)[measure]) for key, row in default.items()]
    changes = np.array([float(after) - float(before) for before, after in known if before])
    if not len(changes):
        return 0.0, 0.0
    return float(changes.mean()), float(changes.std() / np.sqrt(len(changes)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="fewer sets")
    parser.add_argument("--only", nargs="*", default=[], help="constants or steps, by their names")
    parser.add_argument("--vary", nargs="*", default=[], help="instead: constant=value,...")
    parser.add_argument("--families", nargs="*", default=[], help="of sets; all, if none is named")
    parser.add_argument("--out", type=Path, default=Path("results/ablation.csv"))
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
        measure(store, [Variant(DEFAULT, {}), *asked], sets, given.seeds)
    show(store)


if __name__ == "__main__":
    main()
