"""Batches: blood cells of scanpy's package, a random half of them with a gain for each gene.

``python benchmarks/batches.py [--spread 0.5] [--draws 3] [--out results/batches.csv]`` prints, mean
over draws, the accuracy of clusters against the labels of the file and how well batches are mixed
within clusters (entropy as a share of the best possible, mean over cells): of cells as they are, of
both batches together without being told, and with ``batch``. Gains are lognormal.
"""

import argparse
import csv
import warnings

import numpy as np
import scanpy as sc
from scipy.stats import entropy

from fnmf import FNMF
from fnmf.metrics import clustering_accuracy


def mixing(labels: np.ndarray, batch: np.ndarray) -> float:
    """Entropy of the batches in the cluster of a cell, as a share of that in all cells."""
    table = np.zeros((labels.max() + 1, batch.max() + 1))
    np.add.at(table, (labels, batch), 1)
    own = np.array([entropy(row) if row.any() else 0.0 for row in table])
    return float(own @ table.sum(axis=1) / len(labels) / entropy(np.bincount(batch)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spread", type=float, default=0.5)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = sc.datasets.pbmc68k_reduced()
    truth = cells.obs["bulk_labels"].cat.codes.to_numpy()
    k, values = len(np.unique(truth)), np.asarray(cells.raw.X.toarray(), np.float64)
    rows = []
    for draw in range(asked.draws):
        rng = np.random.default_rng(draw)
        batch = rng.permutation(len(values)) % 2
        gains = rng.lognormal(0, asked.spread, values.shape[1])
        both = np.where(batch[:, None] == 1, np.log1p(np.expm1(values) * gains), values)
        ways = {"single batch": (values, None), "untold": (both, None), "batch=": (both, batch)}
        for name, (X, given) in ways.items():
            labels = FNMF(k, random_state=draw).fit(X, batch=given).labels_
            found = clustering_accuracy(truth, labels), mixing(labels, batch)
            rows.append((asked.spread, draw, name, *found))
    for name in ways:
        mean = np.mean([row[3:] for row in rows if row[2] == name], axis=0)
        print(f"{name:<14} ACC {mean[0]:.3f}  mixing {mean[1]:.3f}")
    if asked.out:
        with open(asked.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("spread", "draw", "way", "accuracy", "mixing"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
