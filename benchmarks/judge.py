"""How well does the judge choose? Candidates of every data set, and the regret of several judges.

    FNMF_DATA_HOME=... python benchmarks/judge.py [--out results/judge.csv] [--seeds 2] [--print]

All candidates of the portfolio are explored on each data set, on its raw form and on some noised
forms; their accuracies are known here, not to the judges. A judge with parameters is tuned on all
data sets but one and judged on that one, in turn; forms of one data set stay together.
"""

import argparse
import csv
import itertools
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from _unseen_sets import ALL, TABLES, copied, data, noised, raw, unbalanced_digits
from fnmf.data import view_of
from fnmf.execution import threads
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.candidates import search_context
from fnmf.relevance.preparations import column_preparations, duplicate_groups, row_preparations
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.search import SearchSpace, search_preparations
from fnmf.statistics import column_sums

FIELDS = ("family", "data", "seed", "rows", "columns", "clusters", "modularity", "explained", "acc")
RAW = ("yale", "orl", "usps", "cnae-9", "glass", "pbmc", "worm", *TABLES)
NOISED = (
    ("digits", "half-normal", 3),
    ("digits", "heavy tails", 3),
    ("digits", "blocks", 3),
    ("digits", "permuted", 10),
    ("mfeat", "half-normal", 3),
    ("mfeat", "blocks", 10),
    ("coil20", "blocks", 3),
    ("pbmc", "half-normal", 3),
)
ROWS = 1000
# Parameters that were searched: worth of explanation, priors against common units, for unit
# rows and against clusters about means.
GRID = tuple(
    itertools.product(
        (1, 2, 2.5, 3, 3.5, 4), (0, 0.1, 0.2, 0.3), (-0.1, 0, 0.1, 0.2, 0.3), (0, 0.2, 0.4, 0.6)
    )
)
OURS = (3, 0.3, 0.2, 0.4)


def forms(seed: int) -> Iterator[tuple[str, str, partial]]:
    """Family, name, and how to make each form of the data."""
    for name in ALL:
        yield name, name, partial(data, name)
    for name in RAW:
        yield name, f"{name}, raw", partial(raw, name)
    for name, kind, ratio in NOISED:
        yield name, f"{name} + {ratio} x {kind}", partial(noised, name, kind, ratio, seed)
    yield "digits", "digits + copies", partial(copied, "digits", seed)
    yield "digits", "digits, unbalanced", partial(unbalanced_digits, seed)


def candidates(X: np.ndarray, y: np.ndarray, seed: int) -> list[dict[str, object]]:
    """What the portfolio finds, with accuracies."""
    view = view_of(X.astype(np.float32))
    rng = np.random.RandomState(seed)
    chosen = np.arange(len(y))
    if len(y) > ROWS:
        chosen = np.sort(rng.choice(len(y), ROWS, replace=False))
    k = len(np.unique(y))
    with threads(1) as runner:
        sums, positive = column_sums(view, runner)
        typical = sums / np.maximum(positive, 1)
        capped = view_of(np.minimum(X, 2 * typical).astype(np.float32))
        table = SampleTable.of(capped, typical, chosen)
        task = search_context(table, duplicate_groups(table), k, 5, 3, seed)
        ways = SearchSpace(
            row_preparations(table), column_preparations(table, task.refreshes), means=True
        )
        found = search_preparations(task, ways, runner)
    return [
        {
            "rows": one.rows,
            "columns": one.columns,
            "clusters": one.clusters,
            "modularity": one.modularity,
            "explained": one.explained,
            "acc": clustering_accuracy(y[chosen], one.labels),
        }
        for one in found
    ]


def measure(path: Path, seeds: int) -> None:
    done = {(row["data"], row["seed"]) for row in read(path)}
    for seed in range(seeds):
        for family, name, make in forms(seed):
            if (name, str(seed)) in done:
                continue
            X, y, *_ = make()
            with path.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                if file.tell() == 0:
                    writer.writeheader()
                for row in candidates(X, y, seed):
                    writer.writerow({"family": family, "data": name, "seed": seed, **row})
            print(name, seed, flush=True)


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


class Problem:
    """The candidates of one form of the data."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.family = rows[0]["family"]
        self.modularity = np.array([float(row["modularity"]) for row in rows])
        self.explained = np.array([float(row["explained"]) for row in rows])
        self.acc = np.array([float(row["acc"]) for row in rows])
        self.common = np.array([row["columns"] in ("typical", "spread") for row in rows])
        self.unit = np.array([row["rows"] == "unit" for row in rows])
        self.means = np.array([row["clusters"] == "means" for row in rows])

    @property
    def plain(self) -> float:
        """Accuracy of what the field does by habit."""
        habit = self.acc[self.unit & ~self.common & ~self.means]
        return float(habit[0] if len(habit) else self.acc.mean())

    def judged(
        self, worth: float, against_common: float, for_unit: float, against_means: float
    ) -> float:
        """Accuracy of what the judge with these parameters chooses."""
        held = np.log(np.maximum(self.modularity, 1e-9))
        lack = np.log(np.maximum(1 - self.modularity, 0.01))
        gained = worth * np.log(np.maximum(self.explained, 1e-9))
        prior = against_common * self.common + against_means * self.means
        return float(self.acc[np.argmax(gained + held - lack - prior + for_unit * self.unit)])


def by_family(problems: list[Problem], values: list[float]) -> dict[str, float]:
    """Mean over the forms of each data set."""
    families: dict[str, list[float]] = {}
    for problem, value in zip(problems, values, strict=True):
        families.setdefault(problem.family, []).append(value)
    return {family: float(np.mean(found)) for family, found in families.items()}


def show(rows: list[dict[str, str]]) -> None:
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["data"], row["seed"]), []).append(row)
    problems = [Problem(group) for group in groups.values()]

    def say(what: str, values: list[float]) -> None:
        print(f"{what:<58}{np.mean(list(by_family(problems, values).values())):.3f}")

    print(f"{len(problems)} problems; mean ACC over the data sets of what is chosen\n")
    say("the best candidate, by labels", [p.acc.max() for p in problems])
    say("the mean candidate", [p.acc.mean() for p in problems])
    say("own units, unit rows, if tried; else the mean", [p.plain for p in problems])
    say("modularity on the own graph", [p.acc[np.argmax(p.modularity)] for p in problems])
    say("independent features explained", [p.acc[np.argmax(p.explained)] for p in problems])
    say("both, as the library does", [p.judged(*OURS) for p in problems])
    tables = {g: by_family(problems, [p.judged(*g) for p in problems]) for g in GRID}
    left = []
    for family in next(iter(tables.values())):
        others = {g: sum(v for f, v in t.items() if f != family) for g, t in tables.items()}
        left.append(tables[max(others, key=others.__getitem__)][family])
    print(f"{'both, tuned on all data sets but the one judged':<58}{np.mean(left):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("judge.csv"))
    parser.add_argument("--print", action="store_true", help="print what is in the file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.print:
        measure(options.out, options.seeds)
    show(read(options.out))


if __name__ == "__main__":
    main()
