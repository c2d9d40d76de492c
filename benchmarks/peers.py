"""What a user would pick instead: seconds and accuracy against the number of samples.

    python benchmarks/peers.py --out results/peers.csv [--rows 2000 20000 200000] [--limit 600]
    python benchmarks/peers.py --out results/peers.csv --print [--figure docs/images/peers.png]

Data: ten planted clusters in 20 of 50 and in 20 of 784 features, the rest noise, float32. Each
method runs in a process of its own after a fit of 500 rows that loads what it needs, and is told
the number of clusters where it takes one; those that choose it themselves (HDBSCAN) have the
accuracy of what they find. Seconds are of the processor, with one thread: they hold on a machine
that others use. A method whose last size took longer than a twentieth of ``--limit`` seconds is not
tried on larger ones. What the file has is not measured again.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.decomposition import NMF, PCA
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from _fit_data import K
from _fit_rows import processor
from _store import Store
from fnmf import FNMF
from fnmf.metrics import clustering_accuracy

# Informative features and features in all.
SHAPES = {50: 20, 784: 20}
ROWS = (2_000, 20_000, 200_000)
# Principal components that are usual before neighbours and mixtures, and neighbours.
DIRECTIONS, NEIGHBORS = 30, 15


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the clusters they are of."""
    rng = np.random.default_rng(0)
    informative = SHAPES[d]
    centres = rng.uniform(size=(K, informative))
    labels = rng.integers(0, K, n)
    X = rng.random((n, d), dtype=np.float32)
    X[:, :informative] = np.abs(centres[labels] + 0.3 * rng.standard_normal((n, informative)))
    return X, labels


def _principal(X: np.ndarray) -> np.ndarray:
    return PCA(min(DIRECTIONS, X.shape[1]), random_state=0).fit_transform(X)


def fnmf(X: np.ndarray) -> np.ndarray:
    return FNMF(K, random_state=0, n_jobs=1).fit(X).labels_


def kmeans(X: np.ndarray) -> np.ndarray:
    return KMeans(K, n_init=10, random_state=0).fit(X).labels_


def nmf_kmeans(X: np.ndarray) -> np.ndarray:
    model = NMF(K, init="nndsvda", max_iter=200, random_state=0)
    return KMeans(K, n_init=10, random_state=0).fit(model.fit_transform(X)).labels_


def pca_minibatch(X: np.ndarray) -> np.ndarray:
    return MiniBatchKMeans(K, n_init=10, random_state=0).fit(_principal(X)).labels_


def pca_mixture(X: np.ndarray) -> np.ndarray:
    return GaussianMixture(K, n_init=3, random_state=0).fit_predict(_principal(X))


def spectral(X: np.ndarray) -> np.ndarray:
    options = {"affinity": "nearest_neighbors", "n_neighbors": NEIGHBORS, "random_state": 0}
    return SpectralClustering(K, n_jobs=1, **options).fit(X).labels_


def pca_leiden(X: np.ndarray) -> np.ndarray:
    """Neighbours of principal components, then Leiden with its resolution searched for k."""
    from fnmf.baselines import Leiden

    graph = kneighbors_graph(_principal(X), NEIGHBORS, n_jobs=1)
    return Leiden(K, graph=graph.maximum(graph.T), random_state=0).fit(X).labels_


def umap_hdbscan(X: np.ndarray) -> np.ndarray:
    from umap import UMAP

    places = UMAP(n_neighbors=NEIGHBORS, min_dist=0.0, random_state=0, n_jobs=1).fit_transform(X)
    return HDBSCAN(min_cluster_size=max(5, len(X) // 100)).fit(places).labels_


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "FNMF": fnmf,
    "KMeans": kmeans,
    "NMF + KMeans": nmf_kmeans,
    "PCA + MiniBatchKMeans": pca_minibatch,
    "PCA + mixture": pca_mixture,
    "PCA + neighbours + Leiden": pca_leiden,
    "spectral": spectral,
    "UMAP + HDBSCAN": umap_hdbscan,
}


def one(name: str, n: int, d: int) -> None:
    """One fit in this process; prints seconds and accuracy."""
    warnings.simplefilter("ignore")
    fit = METHODS[name]
    X, labels = data(n, d)
    with threadpool_limits(1):
        fit(X[:500])
        start = time.process_time()
        found = fit(X)
        took = time.process_time() - start
    print(took, clustering_accuracy(labels, np.unique(found, return_inverse=True)[1]))


def measure(store: Store, rows: list[int], limit: float) -> None:
    """All methods that are not in the file yet; one that fails or takes too long has no figures."""
    for d in SHAPES:
        for name in METHODS:
            for n in sorted(rows):
                smaller = [m for m in rows if m < n]
                last = store.mean(name, d, max(smaller), field="seconds") if smaller else 0.0
                if store.has(name, d, n) or not last <= limit / 20:
                    continue
                store.add(name, d, n, **_measured(name, n, d, limit))


def _measured(name: str, n: int, d: int, limit: float) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", __file__, "--one", name, str(n), str(d)]
    one_thread = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    env = {**os.environ, **one_thread, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=env, timeout=limit
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"{name}, {n:,} x {d}: {type(error).__name__}", file=sys.stderr, flush=True)
        return {}
    took, acc = map(float, done.stdout.split()[-2:])
    return {"seconds": took, "acc": acc}


def show(store: Store, rows: list[int]) -> None:
    """A table in Markdown: accuracy, and seconds in brackets."""
    print(f"{processor()}; accuracy (processor seconds of one thread)\n")
    shapes = [(n, d) for d in SHAPES for n in sorted(rows)]
    print("| | " + " | ".join(f"{n:,} x {d}" for n, d in shapes) + " |")
    print("|---" * (len(shapes) + 1) + "|")
    for name in METHODS:
        cells = []
        for n, d in shapes:
            acc, took = store.mean(name, d, n), store.mean(name, d, n, field="seconds")
            cells.append("–" if np.isnan(acc) else f"{acc:.2f} ({took:.1f})")
        print(f"| {name} | " + " | ".join(cells) + " |")


def draw(store: Store, rows: list[int], figure: Path) -> None:
    """Accuracy against seconds; the larger the point, the more samples."""
    import matplotlib.pyplot as plt

    sheet, axes = plt.subplots(1, len(SHAPES), figsize=(11, 4.5), sharey=True, layout="constrained")
    for ax, d in zip(axes, SHAPES, strict=True):
        for number, name in enumerate(METHODS):
            took = [store.mean(name, d, n, field="seconds") for n in sorted(rows)]
            found = [store.mean(name, d, n) for n in sorted(rows)]
            sizes = [25.0 * 3**place for place in range(len(rows))]
            style = {"color": f"C{number}", "zorder": 3 if name == "FNMF" else 2}
            ax.plot(took, found, lw=2.5 if name == "FNMF" else 1.0, **style)
            ax.scatter(took, found, s=sizes, alpha=0.8, linewidths=0, label=name, **style)
        ax.set(xscale="log", xlabel="processor seconds of a fit", ylim=(0, 1.02))
        ax.set_title(f"{SHAPES[d]} informative features of {d}")
        ax.grid(lw=0.3)
    axes[0].set_ylabel("accuracy")
    legend = axes[-1].legend(bbox_to_anchor=(1, 1), loc="upper left", frameon=False)
    for handle in legend.legend_handles:
        handle.set_sizes([40])
    points = ", ".join(f"{n:,}" for n in sorted(rows))
    sheet.supxlabel(f"samples, from small to large points: {points}", fontsize=9)
    sheet.savefig(figure, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("peers.csv"))
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--limit", type=float, default=600, help="most seconds of one fit")
    parser.add_argument("--print", action="store_true", help="print the file, measure nothing")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--one", nargs=3, metavar=("NAME", "ROWS", "COLUMNS"))
    given = parser.parse_args()
    if given.one:
        one(given.one[0], int(given.one[1]), int(given.one[2]))
        return
    store = Store(given.out, ("method", "columns", "rows"), ("seconds", "acc"))
    if not given.print:
        measure(store, given.rows, given.limit)
    show(store, given.rows)
    if given.figure:
        draw(store, given.rows, given.figure)


if __name__ == "__main__":
    main()
