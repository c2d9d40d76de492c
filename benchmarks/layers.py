"""What layers are good for: clusters, representation and time beside a single layer.

    FNMF_DATA_HOME=... python benchmarks/layers.py [--out results/layers.csv]

Clusters on the eight sets of the article, COIL20 and warpPIE10P; codes of 96 classes of images
(ORL, COIL20 and BA at 16 x 16 pixels), probed in five folds. Classes are never used in a fit. Rows
are appended to a CSV file as they come; a second run skips those already there. Seconds are those
of the processor.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.ndimage import zoom
from sklearn.decomposition import NMF, PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _store import Store
from _unseen_sets import ARTICLE, data, raw
from fnmf import FNMF, DeepFNMF
from fnmf.metrics import clustering_accuracy

SETS = (*ARTICLE, "coil20", "warppie10p")
MIXED = "96 classes"
IMAGES = {"orl": (32, 32), "coil20": (32, 32), "binary-alphadigits": (20, 16)}
METHODS = ("FNMF", "DeepFNMF", "NMF", "PCA")
KEYS = ("data", "method", "seed")
FIGURES = ("acc", "linear", "neighbours", "falls", "same", "seconds")


def mixed() -> tuple[np.ndarray, np.ndarray]:
    """Images of three sets at 16 x 16 pixels, rows of unit length; 96 classes."""
    rows, classes, above = [], [], 0
    for name, shape in IMAGES.items():
        X, y = raw(name)
        size = 16 / shape[0], 16 / shape[1]
        small = np.stack([zoom(row.reshape(shape), size, order=1).ravel() for row in X])
        lengths = np.linalg.norm(small, axis=1, keepdims=True)
        rows.append(small / np.maximum(lengths, 1e-12))
        classes.append(y + above)
        above += int(y.max()) + 1
    return np.vstack(rows), np.concatenate(classes)


def layers_for(k: int, n: int) -> tuple[int, ...]:
    """Eight and three times the clusters, as far as there are so many rows; then the clusters."""
    fine, middle = min(8 * k, n // 3, 300), min(3 * k, n // 4, 150)
    return max(fine, k), max(middle, k), k


def falls(model: FNMF | DeepFNMF) -> bool:
    """Whether no iteration of a round raises the objective."""
    history = model.history_
    rounds = [history["total"][history["round"] == one] for one in set(history["round"])]
    return all(bool((np.diff(t) <= 1e-7 * t[:-1]).all()) for t in rounds)


def one(method: str, name: str, seed: int) -> dict[str, float]:
    X, y = mixed() if name == MIXED else data(name)
    k = len(np.unique(y))
    models = {
        "FNMF": lambda: FNMF(k, random_state=seed),
        "DeepFNMF": lambda: DeepFNMF(layers_for(k, len(X)), random_state=seed),
        "NMF": lambda: NMF(k, init="nndsvda", max_iter=300, random_state=seed),
        "PCA": lambda: PCA(k, random_state=seed),
    }
    model, start = models[method](), time.process_time()
    codes = model.fit_transform(X)
    found = {"seconds": time.process_time() - start}
    if "FNMF" in method:
        found["acc"] = clustering_accuracy(y, model.labels_)
        found["falls"] = falls(model)
    if method == "FNMF":
        single = DeepFNMF((k,), random_state=seed).fit(X)
        found["same"] = np.array_equal(single.embedding_, codes) and np.array_equal(
            single.components_, model.components_
        )
    if name == MIXED:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
        found["linear"] = cross_val_score(linear, codes, y, cv=folds).mean()
        near = KNeighborsClassifier(5)
        found["neighbours"] = cross_val_score(near, codes, y, cv=folds).mean()
    return found


def measure(store: Store, names: list[str], seeds: int) -> None:
    # Compiled code is loaded by the first fit, which is not to count.
    for rows in (data("iris")[0], data("digits")[0][:300]):
        for model in (FNMF(3), DeepFNMF((6, 4, 3))):
            model.fit(rows)
    for seed in range(seeds):
        for name in names:
            for method in METHODS if name == MIXED else METHODS[:2]:
                if not store.has(name, method, seed):
                    store.add(name, method, seed, **one(method, name, seed))


def bars(store: Store) -> list[tuple[str, float, float]]:
    """Name, figure and bar; a figure at or above its bar meets it."""
    rows, better, ratios = [], 0, []
    for name in SETS:
        single, deep = (store.mean(name, m) for m in METHODS[:2])
        rows.append((f"{name}: ACC", deep, single - 0.01))
        better += deep > single
        ratios.append(
            store.mean(name, "DeepFNMF", field="seconds")
            / store.mean(name, "FNMF", field="seconds")
        )
    rows.append(("sets with ACC above a single layer", float(better), 3.0))
    fallen = [float(r["falls"]) for r in store.rows if r["method"] == "DeepFNMF"]
    rows.append(("fits whose objective falls", float(np.mean(fallen)) if fallen else np.nan, 1.0))
    same = [float(r["same"]) for r in store.rows if r["method"] == "FNMF"]
    rows.append(
        ("one layer equals FNMF bit for bit", float(np.mean(same)) if same else np.nan, 1.0)
    )
    for probe in ("linear", "neighbours"):
        ours, *others = (
            store.mean(MIXED, m, field=probe) for m in ("DeepFNMF", "FNMF", "NMF", "PCA")
        )
        rows.append((f"{MIXED}: {probe}", ours, max(others)))
    rows.append(("-CPU time over a single layer's, mean", -float(np.nanmean(ratios)), -3.0))
    rows.append(("-CPU time over a single layer's, longest", -float(np.nanmax(ratios)), -3.0))
    return rows


def markdown(store: Store) -> str:
    lines = ["| data | FNMF | DeepFNMF | CPU time over FNMF |", "|---|---|---|---|"]
    for name in SETS:
        single, deep = (store.mean(name, m) for m in METHODS[:2])
        ratio = store.mean(name, "DeepFNMF", field="seconds") / store.mean(
            name, "FNMF", field="seconds"
        )
        lines.append(f"| {name} | {single:.3f} | {deep:.3f} | {ratio:.1f} |")
    lines += ["", f"| codes of {MIXED} | linear probe | 5 neighbours |", "|---|---|---|"]
    for method in METHODS:
        found = [store.mean(MIXED, method, field=probe) for probe in ("linear", "neighbours")]
        lines.append(f"| {method} | {found[0]:.3f} | {found[1]:.3f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("layers.csv"))
    parser.add_argument("--only", nargs="*", choices=(*SETS, MIXED), default=[*SETS, MIXED])
    parser.add_argument("--print", action="store_true", help="print the tables only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(options.out, KEYS, FIGURES)
    if not options.print:
        measure(store, options.only, options.seeds)
    print(f"\n{'requirement':<44}{'found':>8}{'bar':>8}")
    for name, found, bar in bars(store):
        verdict = "" if np.isnan(found) else "met" if found >= bar else "MISSED"
        print(f"{name:<44}{found:>8.3f}{bar:>8.3f}  {verdict}")
    print("\nClustering accuracy, and probes of the codes\n")
    print(markdown(store))


if __name__ == "__main__":
    main()
