"""Blood cells of scanpy's own package: agreement with their labels, beside scanpy's usual way.

``python benchmarks/pbmc.py`` prints the table of docs/scanpy.md.
"""

import warnings

import numpy as np
import scanpy as sc
from sklearn.metrics import adjusted_rand_score

import fnmf.scverse as fv

SEEDS = range(25)


def main():
    """Fit with 25 seeds; print mean, median and range of the adjusted Rand index."""
    warnings.simplefilter("ignore")
    cells = sc.datasets.pbmc68k_reduced()
    truth = cells.obs["bulk_labels"]

    def show(name, found):
        scores = [adjusted_rand_score(truth, labels) for labels in found]
        middle, ends = np.median(scores), f"{min(scores):.3f} to {max(scores):.3f}"
        print(f"| {name} | {np.mean(scores):.3f} | {middle:.3f} | {ends} |")

    def ours(seed, n_components):
        fv.tl.fnmf(cells, n_components, rng=seed)
        return cells.obs["fnmf"].copy()

    def leiden(seed, resolution):
        sc.tl.leiden(
            cells,
            resolution=resolution,
            random_state=seed,
            flavor="igraph",
            n_iterations=2,
            directed=False,
        )
        return cells.obs["leiden"].copy()

    print("| clusters | ARI, mean of 25 seeds | median | range |\n|---|---|---|---|")
    show("`fv.tl.fnmf(cells, 10)`", [ours(seed, 10) for seed in SEEDS])
    show('`fv.tl.fnmf(cells, "auto")`', [ours(seed, "auto") for seed in SEEDS])
    show("`louvain` of the file (11 clusters)", [cells.obs["louvain"]])
    show("Leiden on the file's graph, resolution 1", [leiden(seed, 1.0) for seed in SEEDS])
    show("Leiden on the file's graph, resolution 0.5", [leiden(seed, 0.5) for seed in SEEDS])


if __name__ == "__main__":
    main()
