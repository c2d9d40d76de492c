"""Do stored runs come out again? Runs a random sample of ``results/runs.csv`` with this code.

    python benchmarks/recheck.py [--each 1] [--methods NAME ...] [--datasets NAME ...]

One run of each method on each data set (``--each`` for more) is repeated with its parameters and
seed, and its accuracy compared with the stored one. Other versions of NumPy or other kernels
change rounding, and rounding can send a fit to another local minimum; so equal means count, not
only equal runs. Needs the benchmark data sets (FNMF_DATA_HOME).
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from fnmf.experiments._execute import execute
from fnmf.experiments._plan import Run

RUNS = Path(__file__).parents[1] / "results" / "runs.csv"


def sample(each: int, wanted: dict[str, list[str] | None]) -> dict[str, list[tuple[Run, float]]]:
    """Some finished runs of every method on every data set, by method."""
    rng = np.random.default_rng(0)
    cells = defaultdict(list)
    with RUNS.open(newline="") as lines:
        for row in csv.DictReader(lines):
            chosen = all(names is None or row[key] in names for key, names in wanted.items())
            if chosen and row["state"] == "done" and row["purpose"] == "table":
                cells[row["method"], row["dataset"]].append(row)
    methods = defaultdict(list)
    for (method, dataset), rows in sorted(cells.items()):
        for place in rng.permutation(len(rows))[:each]:
            row = rows[place]
            params = tuple(sorted(json.loads(row["params"]).items()))
            run = Run(dataset, method, params, int(row["seed"]))
            methods[method].append((run, float(row["acc"])))
    return methods


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=1, help="runs of a method on a data set")
    parser.add_argument("--methods", nargs="+", metavar="NAME")
    parser.add_argument("--datasets", nargs="+", metavar="NAME")
    options = parser.parse_args()
    runs_of = sample(options.each, {"method": options.methods, "dataset": options.datasets})
    if not runs_of:
        parser.error(f"no stored run has these names; see the columns of {RUNS.name}")
    print(f"{'method':<20}{'runs':>5}{'equal':>7}{'mean gap':>10}{'largest':>9}")
    for method, runs in runs_of.items():
        gaps = []
        for run, stored in runs:
            outcome = execute(run)
            if "acc" not in outcome:
                raise SystemExit(f"{method} on {run.dataset}: {outcome['reason']}")
            gaps.append(outcome["acc"] - stored)
        # Stored figures have six digits.
        equal = int(np.sum(np.abs(gaps) < 1e-5))
        largest = np.max(np.abs(gaps))
        print(
            f"{method:<20}{len(gaps):>5}{equal:>7}{np.mean(gaps):>10.3f}{largest:>9.3f}", flush=True
        )


if __name__ == "__main__":
    main()
