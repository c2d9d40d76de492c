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
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

from _streams import digits
from _timing import seconds
from fit import K, planted
from fnmf import FNMF
from fnmf.metrics import clustering_accuracy

FIELDS = ("part", "data", "way", "seed", "acc", "auc", "objective", "iterations", "seconds")
HOLDS = {
    "exact": {"EXACT_ROWS": 10**9},
    "approximate": {},
    **{
        f"{count:,} anchors": {"EXACT_ROWS": 0, "_ANCHORS": count}
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


def row(part: str, data: tuple, way: str, seed: int, **options: object) -> dict:
    name, X, y, real = data
    model = FNMF(K, random_state=seed, **options)
    took = seconds(lambda: model.fit(X))
    auc = None if real is None else roc_auc_score(real, model.feature_importances_)
    found = (
        clustering_accuracy(y, model.labels_),
        auc,
        model.objective_,
        model.n_iter_,
        took,
    )
    told = [
        part,
        name,
        way,
        seed,
        *(None if value is None else round(float(value), 4) for value in found),
    ]
    print("  ".join(str(value) for value in told), flush=True)
    return dict(zip(FIELDS, told, strict=True))


def hold(seeds: int) -> list[dict]:
    found = digits(os.environ.get("FNMF_DATA_HOME"))
    sets = [] if found is None else [("USPS 9,298 x 256", *found)]
    for n in (9_000, 30_000):
        sets.append((f"planted {n:,} x 20 + 180", *clusters(n, 20, 180, 0.25, 0)))
    rows = []
    for data in sets:
        for way, changes in HOLDS.items():
            graph = "approximate" if way == "approximate" else "adaptive"
            with patch.multiple("fnmf.schemes._hold", **changes):
                rows += [row("hold", data, way, seed, graph=graph) for seed in range(seeds)]
    return rows


def begin(seeds: int) -> list[dict]:
    rows = []
    for n, informative, noise in ((80_000, 100, 684), (500_000, 20, 30)):
        X = planted(n, informative, noise)
        real = np.arange(informative + noise) < informative
        data = (f"planted {n:,} x {informative} + {noise}", X, None, real)
        for way, fewest in (("all rows", 10**9), ("a sample first", 20_000)):
            with patch("fnmf.schemes._begin._FEWEST", fewest):
                rows += [row("begin", data, way, seed) for seed in range(seeds)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["hold", "begin"], metavar="PART")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", metavar="CSV")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [
        found for part in args.parts for found in {"hold": hold, "begin": begin}[part](args.seeds)
    ]
    if args.out:
        with Path(args.out).open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
