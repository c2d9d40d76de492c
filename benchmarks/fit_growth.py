"""Time of a default fit against the number of samples, beside its peers, and what it is spent on.

    python benchmarks/fit_growth.py --out results/fit_growth.csv --figure docs/images/fit-growth.png

Data, threads and peers as in fit.py; spectral clustering (5 neighbours) only up to 10,000
samples. With ``--draw`` the figure is drawn from the file and nothing is measured.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from threadpoolctl import threadpool_limits

from _fit_data import K, planted
from _fit_parts import ours, theirs
from _timing import THREADS, best, seconds
from fnmf.relevance import choice as _choice
from fnmf.relevance import pipeline, results

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
SPECTRAL = 10_000
# Stages of a fit: what is shown, the module in which the function is looked up, its name.
STAGES = (
    ("measuring columns", pipeline, "feature_statistics"),
    ("exploring preparations", _choice, "search_on_sample"),
    ("testing for structure", _choice, "structure"),
    ("preparing all rows", pipeline, "prepare"),
    ("graph or anchors", pipeline, "build_affinity"),
    ("factorising a sample", pipeline, "start_on_samples"),
    ("factorising", pipeline, "solve"),
    ("stability of clusters", results, "cluster_stability"),
)
REST = "clusters, moments, rest"


def kmeans(X: np.ndarray) -> None:
    with threadpool_limits(THREADS):
        KMeans(K, n_init=10, random_state=0).fit(X)


def spectral(X: np.ndarray) -> None:
    with threadpool_limits(THREADS):
        SpectralClustering(
            K, affinity="nearest_neighbors", n_neighbors=5, random_state=0, n_jobs=THREADS
        ).fit(X)


METHODS: dict[str, Callable[[np.ndarray], object]] = {
    "FNMF": ours,
    "NMF + KMeans": theirs,
    "KMeans": kmeans,
    "Spectral, 5 nn": spectral,
}


@contextmanager
def timed_stages() -> Iterator[dict[str, float]]:
    """Seconds in each stage of the fits inside."""
    spent = dict.fromkeys((name for name, *_ in STAGES), 0.0)
    before = [(module, name, getattr(module, name)) for _, module, name in STAGES]

    def timed(title: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            start = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                spent[title] += time.perf_counter() - start

        return call

    try:
        for title, module, name in STAGES:
            setattr(module, name, timed(title, getattr(module, name)))
        yield spent
    finally:
        for module, name, function in before:
            setattr(module, name, function)


def measure(path: Path) -> None:
    rows: list[tuple[int, str, float]] = []
    for n in SIZES:
        X = planted(n)
        for name, fit in METHODS.items():
            if fit is spectral and n > SPECTRAL:
                continue
            if fit is ours:
                fit(X)
            rows.append((n, name, best(lambda X=X, fit=fit: seconds(lambda: fit(X)), 2)))
            print(f"{n:>8,}  {name:<16} {rows[-1][2]:7.2f} s", flush=True)
        with timed_stages() as spent:
            whole = seconds(lambda X=X: ours(X))
        rows += [(n, f"stage: {title}", value) for title, value in spent.items()]
        rows.append((n, f"stage: {REST}", whole - sum(spent.values())))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("samples", "what", "seconds"))
        writer.writerows((n, name, f"{value:.4f}") for n, name, value in rows)


def draw(path: Path, figure: Path) -> None:
    import matplotlib.pyplot as plt

    with path.open() as file:
        rows = [(int(r["samples"]), r["what"], float(r["seconds"])) for r in csv.DictReader(file)]
    sheet, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name in METHODS:
        points = [(n, value) for n, what, value in rows if what == name]
        width = 2.5 if name == "FNMF" else 1.2
        left.plot(*zip(*points, strict=True), marker="o", lw=width, label=name)
    left.set(xscale="log", yscale="log", xlabel="samples (784 features)", ylabel="seconds")
    left.legend(frameon=False)
    left.set_title("a fit and its peers")
    titles = [name for name, *_ in STAGES] + [REST]
    floor = np.zeros(len(SIZES))
    for title in titles:
        found = {n: value for n, what, value in rows if what == f"stage: {title}"}
        share = np.array([found[n] for n in SIZES])
        whole = [sum(v for m, what, v in rows if m == n and what[:6] == "stage:") for n in SIZES]
        right.bar(range(len(SIZES)), share / whole, bottom=floor, label=title)
        floor += share / whole
    right.set_xticks(range(len(SIZES)), [f"{n:,}" for n in SIZES])
    right.set(xlabel="samples", ylabel="share of the time", title="what a fit spends it on")
    handles, names = right.get_legend_handles_labels()
    right.legend(handles[::-1], names[::-1], bbox_to_anchor=(1, 1), loc="upper left", frameon=False)
    sheet.savefig(figure, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("fit_growth.csv"))
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--draw", action="store_true", help="draw only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.draw:
        measure(options.out)
    if options.figure:
        draw(options.out, options.figure)


if __name__ == "__main__":
    main()
