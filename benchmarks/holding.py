"""What it costs to hold samples to anchors instead of neighbours, and to begin with a sample.

    python benchmarks/holding.py [--seeds 3] [--out results/holding.csv]

``hold``: the exact graph, the approximate one (extra ``ann``) and 500 to 4,000 anchors
on all 9,298 digits of USPS and on planted clusters with noise; accuracy, AUC of the importances
where it is known which features are informative, and seconds of a fit.
``begin``: a run of the solver that begins with the factors of a sample against one that does not,
on planted clusters; its objective, its iterations over all rows, and seconds of a fit.
"""

import argparse
import csv
import os
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

from _fit_data import K, planted
from _streams import digits
from _timing import seconds
from fnmf import FNMF
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.defaults import DEFAULTS

FIELDS = ("part", "data", "way", "seed", "acc", "auc", "objective", "iterations", "seconds")
HOLDS = {
    "exact": {"exact_rows": 10**9},
    "approximate": {"exact_rows": 10_000},
    **{
        f"{count:,} anchors": {"exact_rows": 0, "n_anchors": count}
        for count in (500, 1000, 2000, 4000)
    },
}


def clusters(n: int, informative: int, noise: int, spread: float, seed: int) -> tuple:
    """Ten clusters that touch each other, in some of the features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    centres = rng.uniform(size=(K, informative))
    X = rng.uniform(size=(n, informative + noise))
    X[:, :informative] = np.abs(centres[y] + spread * rng.standard_normal((n, informative)))
    return X.astype(np.float32), y, np.arange(informative + noise) < informative


class Rows:
    """Rows of the file, appended as they come; what is there is not measured again."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.known = path, set()
        if path is not None and path.exists():
            with path.open(newline="") as file:
                self.known = {tuple(found[:4]) for found in csv.reader(file)}
        elif path is not None:
            path.write_text(",".join(FIELDS) + "\r\n", newline="")

    def add(self, part: str, data: tuple, way: str, seed: int, **options: object) -> None:
        name, X, y, real = data
        if (part, name, way, str(seed)) in self.known:
            return
        model = FNMF(K, random_state=seed, **options)
        took = seconds(lambda: model.fit(X))
        acc = None if y is None else clustering_accuracy(y, model.labels_)
        auc = None if real is None else roc_auc_score(real, model.feature_importances_)
        numbers = (acc, auc, model.objective_, model.n_iter_, took)
        told = [part, name, way, seed, *(n if n is None else round(float(n), 4) for n in numbers)]
        print("  ".join(map(str, told)), flush=True)
        if self.path is not None:
            with self.path.open("a", newline="") as file:
                csv.writer(file).writerow(told)


def hold(rows: Rows, seeds: int) -> None:
    found = digits(os.environ.get("FNMF_DATA_HOME"))
    sets = [] if found is None else [("USPS 9,298 x 256", *found)]
    for n in (9_000, 30_000):
        sets.append((f"planted {n:,} x 20 + 180", *clusters(n, 20, 180, 0.25, 0)))
    for data in sets:
        for way, changes in HOLDS.items():
            graph = "approximate" if way == "approximate" else "adaptive"
            with patch.object(FNMF, "_defaults", replace(DEFAULTS, **changes)):
                for seed in range(seeds):
                    rows.add("hold", data, way, seed, graph=graph)


def begin(rows: Rows, seeds: int) -> None:
    for n, informative, noise in ((80_000, 100, 684), (500_000, 20, 30)):
        X = planted(n, informative, noise)
        real = np.arange(informative + noise) < informative
        data = (f"planted {n:,} x {informative} + {noise}", X, None, real)
        at_once = patch("fnmf.relevance.pipeline.sample_sizes", return_value=[])
        for way, instead in (("all rows", at_once), ("a sample first", nullcontext())):
            with instead:
                for seed in range(seeds):
                    rows.add("begin", data, way, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["hold", "begin"], metavar="PART")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, metavar="CSV")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = Rows(args.out)
    for part in args.parts:
        {"hold": hold, "begin": begin}[part](rows, args.seeds)


if __name__ == "__main__":
    main()
