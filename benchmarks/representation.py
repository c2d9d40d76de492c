"""The representation: what a linear model and neighbours make of codes of rows not seen in fit.

    FNMF_DATA_HOME=... python benchmarks/representation.py [--out results/representation.csv]

A third of the rows is new. Classes are used by the linear probe (logistic regression on
standardised codes) and by the vote of 5 neighbours alone, never in a fit. Rows are appended to a
CSV file as they come; a second run skips those already there. Prints the table and the bars.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.decomposition import NMF, PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _store import Store
from _unseen_sets import data, noised
from fnmf import FNMF

SETS = ("digits", "mfeat", "usps", "cnae-9", "yale", "orl", "coil20", "pbmc")
# Noise features for each real one.
RATIO = 5
# Splits at most.
SEEDS = 5
METHODS = ("FNMF", "NMF", "PCA")
KEYS = ("data", "noise", "codes", "method", "seed")
FIGURES = ("smoothness", "linear", "neighbours")
PROBES = ("linear", "neighbours")


def estimator(method: str, c: int, k: int, seed: int) -> object:
    if method == "NMF":
        return NMF(c, init="nndsvda", max_iter=300, random_state=seed)
    if method == "PCA":
        return PCA(c, random_state=seed)
    # FNMF with the default representation, or with one by name.
    _, _, representation = method.partition(" ")
    return FNMF(c, n_clusters=k, representation=representation or "auto", random_state=seed)


def probes(codes: np.ndarray, y: np.ndarray, new: np.ndarray, z: np.ndarray) -> tuple[float, float]:
    """Share of new rows whose class is found by a linear model, and by 5 neighbours."""
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(codes, y)
    return linear.score(new, z), KNeighborsClassifier(5).fit(codes, y).score(new, z)


def measure(
    store: Store, names: list[str], methods: list[str], seeds: int, ratios: list[int]
) -> None:
    for seed in range(seeds):
        for noise in ratios:
            for name in names:
                X, y = noised(name, "uniform", noise, seed)[:2] if noise else data(name)
                parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
                for codes in ("k", "3k"):
                    for method in methods:
                        if not store.has(name, noise, codes, method, seed):
                            store.add(
                                name, noise, codes, method, seed, **one(method, codes, parts, seed)
                            )


def one(method: str, codes: str, parts: list[np.ndarray], seed: int) -> dict[str, float]:
    rows, new, y, z = parts
    k = len(np.unique(y))
    model = estimator(method, k if codes == "k" else 3 * k, k, seed)
    found = probes(model.fit_transform(rows), y, model.transform(new), z)
    smoothness = getattr(model, "smoothness_", np.nan)
    return dict(zip(FIGURES, (smoothness, *found), strict=True))


def markdown(store: Store) -> str:
    lines = [
        "| data | codes | FNMF | NMF | PCA | FNMF, noise | NMF, noise | PCA, noise |",
        "|---" * 8 + "|",
    ]
    for name in SETS:
        for codes in ("k", "3k"):
            cells = []
            for noise in (0, RATIO):
                for method in METHODS:
                    found = [
                        store.mean(name, noise, codes, method, field=probe) for probe in PROBES
                    ]
                    text = " / ".join(f"{value:.3f}" for value in found)
                    cells.append("" if np.isnan(found[0]) else text)
            lines.append(f"| {name} | {codes} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def kept_share(store: Store, name: str, codes: str, probe: str) -> float:
    """What FNMF finds with noise over what it finds without, on the splits measured in both."""
    both = [
        [store.mean(name, noise, codes, "FNMF", seed, field=probe) for noise in (RATIO, 0)]
        for seed in range(SEEDS)
    ]
    noisy, clean = np.array(both).T
    known = ~np.isnan(noisy + clean)
    return float(noisy[known].mean() / clean[known].mean()) if known.any() else np.nan


def bars(store: Store) -> list[tuple[str, float, float]]:
    """Name, figure and bar; a figure at or above its bar meets it."""
    rows: list[tuple[str, float, float]] = []
    for probe in PROBES:
        clean = []
        for name in SETS:
            for codes in ("k", "3k"):
                ours, *others = (store.mean(name, 0, codes, m, field=probe) for m in METHODS)
                clean.append((ours, *others))
                rows.append((f"{name}, {codes}: {probe}", ours, max(others) - 0.01))
                kept = kept_share(store, name, codes, probe)
                rows.append((f"{name}, {codes}: {probe}, noise over clean", kept, 0.95))
        means = np.nanmean(clean, axis=0)
        rows.append((f"mean of clean sets: {probe}", float(means[0]), float(means[1:].max())))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("representation.csv"))
    parser.add_argument("--only", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--noise", nargs="*", type=int, default=[0, RATIO])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--print", action="store_true", help="print the tables only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(options.out, KEYS, FIGURES)
    if not options.print:
        measure(store, options.only, options.methods, options.seeds, options.noise)
    print(f"\n{'requirement':<50}{'found':>8}{'bar':>8}")
    for name, found, bar in bars(store):
        verdict = "" if np.isnan(found) else "met" if found >= bar else "MISSED"
        print(f"{name:<50}{found:>8.3f}{bar:>8.3f}  {verdict}")
    print("\nLinear probe / 5 neighbours, rows not seen in fit\n")
    print(markdown(store))


if __name__ == "__main__":
    main()
