"""Accuracy against the number of useless features, ours and the peers', and the features found.

    python benchmarks/useless_features.py --out results/useless_features.csv [--seeds 3]
    python benchmarks/useless_features.py --draw docs/images/useless-features.png

Handwritten digits of scikit-learn, 61 pixels that are ever inked, and more and more uniform noise
features beside them; rows at unit length; ten clusters; one setting each, no labels in any fit.
Rows are appended as they come, and a second run skips those already there.
"""

import argparse
import csv
import json
import platform
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF

from fnmf import FNMF
from fnmf.baselines import GNMF
from fnmf.datasets import add_noise_features, unit_rows
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy

COUNTS = (0, 20, 61, 183, 610, 1830)
FIELDS = ("useless", "method", "seed", "acc", "found", "mistaken")
RESULTS = Path("results/useless_features.csv")
COLOURS = {
    "FNMF": "#286893",
    "FNMF, article's weights": "#00a4a7",
    "GNMF": "#fc6128",
    "NMF": "#a23e24",
    "k-means": "#b34cff",
    "spectral": "#8a8f98",
}


def _fnmf(X: np.ndarray, seed: int) -> np.ndarray | FNMF:
    return FNMF(10, random_state=seed, n_jobs=1).fit(X)


def _paper(X: np.ndarray, seed: int) -> np.ndarray:
    return FNMF(10, weighting="paper", random_state=seed, n_jobs=1).fit(X).labels_


def _nmf(X: np.ndarray, seed: int) -> np.ndarray:
    codes = NMF(10, init="nndsvda", random_state=seed, max_iter=300).fit_transform(X)
    return _kmeans(codes, seed)


def _kmeans(X: np.ndarray, seed: int) -> np.ndarray:
    return KMeans(10, n_init=10, random_state=seed).fit_predict(X)


def _spectral(X: np.ndarray, seed: int) -> np.ndarray:
    graph = adaptive_neighbors(X)
    # scikit-learn wants indices of 32 bits.
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    return SpectralClustering(10, affinity="precomputed", random_state=seed).fit_predict(graph)


METHODS: dict[str, Callable[[np.ndarray, int], np.ndarray | FNMF]] = {
    "FNMF": _fnmf,
    "FNMF, article's weights": _paper,
    "GNMF": lambda X, seed: GNMF(10, random_state=seed).fit(X).labels_,
    "NMF": _nmf,
    "k-means": _kmeans,
    "spectral": _spectral,
}


def measure(out: Path, seeds: int) -> None:
    """Append the runs that are missing, and say with what they were made."""
    digits = load_digits()
    pixels = digits.data[:, digits.data.max(axis=0) > 0]
    done = set()
    if out.is_file():
        with open(out, encoding="utf-8", newline="") as file:
            done = {(int(r["useless"]), r["method"], int(r["seed"])) for r in csv.DictReader(file)}
    else:
        out.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for useless in COUNTS:
        for seed in range(seeds):
            X, informative = pixels, np.ones(pixels.shape[1], dtype=bool)
            if useless:
                X, informative = add_noise_features(pixels, useless, random_state=seed)
            X = unit_rows(X)
            for name, run in METHODS.items():
                if (useless, name, seed) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fitted = run(X, seed)
                found: list[int | str] = ["", ""]
                labels = fitted
                if isinstance(fitted, FNMF):
                    labels = fitted.labels_
                    relevant = fitted.feature_relevance_ > 0
                    found = [int(relevant[informative].sum()), int(relevant[~informative].sum())]
                acc = clustering_accuracy(digits.target, labels)
                row = [useless, name, seed, f"{acc:.4f}", *found]
                with open(out, "a", encoding="utf-8", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerow(row)
                print(*row, flush=True)
    about = {
        "command": f"python benchmarks/useless_features.py --out {out.as_posix()} --seeds {seeds}",
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("fnmf", "numpy", "scipy", "scikit-learn", "numba")},
    }
    out.with_suffix(".json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def draw(source: Path, target: Path) -> None:
    """The picture of the landing page."""
    from matplotlib.figure import Figure

    with open(source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # A count that not every method has finished yet is left out.
    done = {(int(row["useless"]), row["method"]) for row in rows}
    counts = [count for count in COUNTS if all((count, name) in done for name in COLOURS)]
    places = np.arange(len(counts))
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
    ends = []
    for name, colour in COLOURS.items():
        means = [_mean(rows, name, count, "acc") for count in counts]
        thick = 3.2 if name == "FNMF" else 1.6
        left.plot(places, means, "o-", color=colour, linewidth=thick, markersize=thick + 2)
        ends.append((means[-1], name, colour))
    # Names at the ends of the lines, moved apart where lines end together.
    lowest = 0.0
    for end, name, colour in sorted(ends):
        lowest = max(end, lowest)
        left.text(places[-1] + 0.12, lowest, name, color=colour, va="center")
        lowest += 0.06
    left.set_xlim(-0.2, places[-1] + 2.1)
    left.set_ylim(0, 1)
    left.set_xticks(places, [f"{count:,}" for count in counts])
    left.set_xlabel("useless features beside the 61 pixels")
    left.set_title("Handwritten digits in the right cluster", loc="left", fontsize=11)
    found = [_mean(rows, "FNMF", count, "found") for count in counts]
    mistaken = [_mean(rows, "FNMF", count, "mistaken") for count in counts]
    right.bar(places, found, color=COLOURS["FNMF"], width=0.6)
    right.bar(places, mistaken, bottom=found, color="#fc6128", width=0.6)
    right.axhline(61, color="#555", linewidth=1, linestyle="--")
    right.text(-0.4, 62, "61 pixels", va="bottom", fontsize=9)
    for place, useful, useless in zip(places, found, mistaken, strict=True):
        right.text(place, 28, f"{useful:.0f}", ha="center", color="white")
        if useless >= 0.5:
            # Above the line of all pixels, which would run through it.
            height = max(useful + useless, 61) + 0.7
            right.text(place, height, f"+{useless:.0f} noise", ha="center",
                       fontsize=8, color="#c2410c")  # fmt: skip
    right.set_ylim(0, 80)
    right.set_xticks(places, [f"{count:,}" for count in counts])
    right.set_xlabel("useless features")
    right.set_title("Features FNMF calls relevant", loc="left", fontsize=11)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=110)


def _mean(rows: list[dict[str, str]], method: str, useless: int, field: str) -> float:
    chosen = [r for r in rows if r["method"] == method and int(r["useless"]) == useless]
    return float(np.mean([float(row[field]) for row in chosen]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="CSV file of the runs; they are computed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draw", type=Path, help="picture to draw from the runs")
    given = parser.parse_args()
    if given.out:
        measure(given.out, given.seeds)
    if given.draw:
        draw(given.out or RESULTS, given.draw)


if __name__ == "__main__":
    main()
