"""How FNMF's defaults were chosen: accuracy on the eight data sets over settings and seeds.

    FNMF_DATA_HOME=... python benchmarks/defaults.py [--seeds 3] [--out defaults.csv]

Labels are used here to choose one setting for all data; a user's fit never sees them.
Rows are appended as they come; a second run skips those already there.
"""

import argparse
import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np

from fnmf import FNMF
from fnmf.datasets import load, make_noisy_gaussians, unit_rows
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy, normalized_mutual_information

NAMES = ("yale", "orl", "binary-alphadigits", "usps", "semeion", "cnae-9", "glass", "mfeat")
GRID = {
    "init": ["kmeans", "random"],
    "normalize_components": [True, False],
    "assignment": ["sample", "shared"],
    "diversity": [1e-2, 1.0, 1e2],
    "smoothness": [1e-1, 1.0, 10.0, 100.0],
    "solver": ["mu"],
    "max_iter": [300],
    "n_init": [1],
}


def data_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "toy":
        return make_noisy_gaussians(random_state=0)
    bunch = load(name)
    return unit_rows(bunch.data.astype(np.float64)), bunch.target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("defaults.csv"))
    parser.add_argument("--names", nargs="*", default=["toy", *NAMES])
    for key, values in GRID.items():
        kind = type(values[0])
        read = (lambda text: text == "True") if kind is bool else kind
        parser.add_argument(f"--{key}", nargs="*", type=read, default=values)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    fields = ["name", *GRID, "seed", "acc", "nmi", "n_iter", "objective", "seconds"]
    done = set()
    if options.out.exists():
        with options.out.open() as file:
            done = {tuple(row[f] for f in fields[:-5]) for row in csv.DictReader(file)}
    with options.out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(fields)
        for name in options.names:
            X, y = data_set(name)
            graph = adaptive_neighbors(X, 5)
            classes = len(np.unique(y))
            settings = [getattr(options, key) for key in GRID]
            for values in itertools.product(*settings, range(options.seeds)):
                if tuple(map(str, (name, *values))) in done:
                    continue
                parameters = dict(zip(GRID, values[:-1], strict=True))
                start = time.perf_counter()
                model = FNMF(
                    classes, weighting="paper", graph=graph, random_state=values[-1], **parameters
                ).fit(X)
                seconds = time.perf_counter() - start
                acc = clustering_accuracy(y, model.labels_)
                nmi = normalized_mutual_information(y, model.labels_)
                figures = acc, nmi, model.n_iter_, model.objective_, seconds
                writer.writerow([name, *values, *figures])
                file.flush()
                print(name, *values, f"ACC {acc:.3f} NMI {nmi:.3f} {model.n_iter_}", flush=True)


if __name__ == "__main__":
    main()
