"""Missing values: accuracy, relevance and imputed cells, beside those who fill or skip them.

    python benchmarks/missing.py cluster [NAME ...] [--draws 3] [--results results]
    python benchmarks/missing.py impute [NAME ...]
    python benchmarks/missing.py relevance [NAME ...]
    python benchmarks/missing.py cost [NAME ...]
    python benchmarks/missing.py views
    python benchmarks/missing.py picture FILE

What is stored in the folder of results is not measured again.
Names: mfeat, and those of the sets of ``unseen.py``, as iris, wine, digits, coil20; ``NAME+noise``
has five uniform noise features for each of its own. Cells go missing at random.
"""

import argparse
import os
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.metrics import pairwise_distances, roc_auc_score

from _store import Store
from _unseen_sets import data
from fnmf import FNMF
from fnmf.datasets import load
from fnmf.metrics import clustering_accuracy

SHARES = (0.1, 0.3, 0.5)
TABLES = ("iris", "wine", "breast_cancer")
KEYS = ("set", "method", "share", "draw")
IMPUTERS = ("FNMF.impute", "KNNImputer", "IterativeImputer")
VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")
USUAL = {
    "cluster": [*TABLES, "mfeat", "digits+noise", "usps+noise", "coil20+noise"],
    "impute": ["wine", "digits", "coil20"],
    "relevance": ["wine", "digits"],
    "cost": ["digits", "mfeat", "coil20"],
    "views": [],
    "picture": ["docs/images/missing.png"],
}


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Data, classes and how many features are real."""
    plain, _, noise = name.partition("+")
    if plain == "mfeat":
        bunch = load("mfeat")
        X, y = np.asarray(bunch.data, np.float64), bunch.target
    else:
        X, y = data(plain)
        X = np.asarray(X, np.float64)
    real = X.shape[1]
    if noise:
        X = np.hstack([X, np.random.default_rng(7).uniform(0, X.max(), (len(X), 5 * real))])
    return X, y, real


def with_gaps(X: np.ndarray, share: float, draw: int) -> np.ndarray:
    gaps = np.random.default_rng(draw).random(X.shape) < share
    # No row is left without any value.
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X)


def kmeans(X: np.ndarray, k: int) -> np.ndarray:
    return KMeans(k, n_init=10, random_state=0).fit_predict(X)


def imputed_kmeans(X: np.ndarray, k: int) -> np.ndarray:
    return kmeans(KNNImputer(n_neighbors=5, keep_empty_features=True).fit_transform(X), k)


def k_pod(X: np.ndarray, k: int) -> np.ndarray:
    """k-means in which missing cells are those of the own centre (Chi, Chi and Baraniuk 2016)."""
    gaps = np.isnan(X)
    filled = np.where(gaps, np.nan_to_num(np.nanmean(X, axis=0)), X)
    centres: object = "k-means++"
    for _ in range(20):
        starts = 10 if isinstance(centres, str) else 1
        model = KMeans(k, init=centres, n_init=starts, random_state=0).fit(filled)
        centres = model.cluster_centers_
        filled = np.where(gaps, centres[model.labels_], X)
    return model.labels_


def spectral(X: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """Spectral clustering of ten neighbours by distances over shared features."""
    distances = pairwise_distances(X, metric="nan_euclidean")
    distances = np.nan_to_num(distances, nan=np.nanmax(distances))
    np.fill_diagonal(distances, 0)
    near = np.argsort(distances, axis=1, kind="stable")[:, 1:11]
    ties = np.zeros(distances.shape)
    np.put_along_axis(ties, near, 1, axis=1)
    model = SpectralClustering(k, affinity="precomputed", random_state=seed)
    return model.fit_predict((ties + ties.T) / 2)


def ours(X: np.ndarray, k: int) -> np.ndarray:
    return FNMF(k, random_state=0).fit_predict(X)


METHODS = {"FNMF": ours, "5-nn + k-means": imputed_kmeans, "k-POD": k_pod, "spectral": spectral}


def parts_of(store: Store, names: list[str], methods: Any, shares: Any, draws: int) -> Any:
    """What is not yet stored: set, method, share, draw, and the rows with their gaps."""
    for name in names:
        X, y, real = rows_of(name)
        for share, draw in [(s, d) for d in range(draws) for s in shares]:
            if share == 0 and draw:
                continue
            for method in methods(X):
                if not store.has(name, method, share, draw):
                    yield (name, method, share, draw), (X, y, real), with_gaps(X, share, draw)


def cluster(folder: Path, names: list[str], draws: int) -> None:
    """Accuracy by share of missing cells."""
    store = Store(folder / "missing.csv", KEYS, ("acc", "cpu"))
    for key, (_, y, _), rows in parts_of(store, names, lambda X: METHODS, (0, *SHARES), draws):
        begin = time.process_time()
        labels = METHODS[key[1]](rows, len(np.unique(y)))
        cpu = time.process_time() - begin
        store.add(*key, acc=clustering_accuracy(y, labels), cpu=cpu)
    print(f"{'set':<18}{'method':<18}" + "".join(f"{share:>8.0%}" for share in (0, *SHARES)))
    for name in names:
        for method in METHODS:
            means = (store.mean(name, method, share) for share in (0, *SHARES))
            print(f"{name:<18}{method:<18}" + "".join(f"{mean:>8.3f}" for mean in means))


def imputed_by(method: str, rows: np.ndarray, k: int) -> np.ndarray:
    if method == "FNMF.impute":
        return FNMF(k, random_state=0).fit(rows).impute(rows)
    if method == "KNNImputer":
        return KNNImputer(n_neighbors=5, keep_empty_features=True).fit_transform(rows)
    # All of very many columns would take hours.
    near = None if rows.shape[1] <= 100 else 50
    more = {"max_iter": 10 if near is None else 2, "n_nearest_features": near}
    model = IterativeImputer(random_state=0, keep_empty_features=True, **more)
    return model.fit_transform(rows)


def impute(folder: Path, names: list[str], draws: int) -> None:
    """Root mean square error of imputed cells."""
    store = Store(folder / "missing_cells.csv", KEYS, ("rmse",))
    for key, (X, y, _), rows in parts_of(store, names, lambda X: IMPUTERS, SHARES, draws):
        found = imputed_by(key[1], rows, len(np.unique(y)))
        store.add(*key, rmse=np.sqrt(np.mean((found - X)[np.isnan(rows)] ** 2)))
    print(f"{'set':<18}{'method':<18}" + "".join(f"{share:>8.0%}" for share in SHARES))
    for name in names:
        for method in IMPUTERS:
            means = (store.mean(name, method, share, field="rmse") for share in SHARES)
            print(f"{name:<18}{method:<18}" + "".join(f"{mean:>8.4f}" for mean in means))


def relevance(folder: Path, names: list[str], draws: int) -> None:
    """Area under the ROC curve of relevance, with 30 % of the cells missing."""
    store = Store(folder / "missing_relevance.csv", KEYS, ("auc",))
    noisy = [f"{name}+noise" for name in names]
    for key, (X, y, real), rows in parts_of(store, noisy, lambda X: ["FNMF"], (0.3,), draws):
        varies = X.std(axis=0) > 0
        truth = (np.arange(X.shape[1]) < real)[varies]
        model = FNMF(len(np.unique(y)), random_state=0).fit(rows)
        store.add(*key, auc=roc_auc_score(truth, model.feature_relevance_[varies]))
    for name in noisy:
        print(f"{name:<18}AUC {store.mean(name, field='auc'):.3f}")


def cost(folder: Path, names: list[str], draws: int) -> None:
    """CPU seconds and memory of a fit with 10 % missing cells beside the complete one."""
    for name in names:
        X, y, _ = rows_of(name)
        k = len(np.unique(y))
        spent, held = [], []
        for rows in (X, with_gaps(X, 0.1, 0)):
            FNMF(k, random_state=0).fit(rows)
            times = []
            for _ in range(draws):
                begin = time.process_time()
                FNMF(k, random_state=0).fit(rows)
                times.append(time.process_time() - begin)
            spent.append(min(times))
            tracemalloc.start()
            FNMF(k, random_state=0).fit(rows)
            held.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        print(
            f"{name:<18}CPU {spent[0]:.2f} s, with gaps {spent[1]:.2f} s, ratio "
            f"{spent[1] / spent[0]:.2f}; most memory {held[0] / X.nbytes:.2f} and "
            f"{held[1] / X.nbytes:.2f} of X",
            flush=True,
        )


def views(folder: Path, names: list[str], draws: int) -> None:
    """Six views of Mfeat: each alone, together, as groups, and where samples lack views."""
    store = Store(folder / "views.csv", KEYS, ("acc",))
    home = Path(os.environ["FNMF_DATA_HOME"])
    files = [np.load(home / f"mfeat_{name}.npz", allow_pickle=False) for name in VIEWS]
    y = files[0]["y"]
    parts = [np.asarray(file["X"], np.float64) for file in files]
    parts = [part - part.min(axis=0) for part in parts]
    even = np.hstack([part / np.sqrt(part.var(axis=0).sum()) for part in parts])
    sizes = [part.shape[1] for part in parts]
    whole, groups = np.hstack(parts), np.repeat(VIEWS, sizes)
    for draw in range(draws):
        lacks = np.random.default_rng(draw).random((len(y), len(VIEWS))) < 1 / 3
        lacks[lacks.all(axis=1), 0] = False
        gaps = np.where(np.repeat(lacks, sizes, axis=1), np.nan, whole)
        fits: dict[str, Any] = dict(zip(VIEWS, ((part, None) for part in parts), strict=True))
        fits |= {"together": (whole, None), "feature_groups": (whole, groups)}
        fits |= {"a third of the views missing": (gaps, groups)}
        for what, (X, known) in fits.items():
            if not store.has(what, "FNMF", 0, draw):
                model = FNMF(10, random_state=draw, feature_groups=known)
                store.add(what, "FNMF", 0, draw, acc=clustering_accuracy(y, model.fit_predict(X)))
        if not store.has("together", "spectral", 0, draw):
            found = clustering_accuracy(y, spectral(even, 10, draw))
            store.add("together", "spectral", 0, draw, acc=found)
    for what, method in dict.fromkeys((row["set"], row["method"]) for row in store.rows):
        print(f"{what:<32}{method:<12}{store.mean(what, method):.3f}")


def picture(folder: Path, names: list[str], draws: int) -> None:
    """Wine with cells missing at random, the larger ones missing, and columns mostly missing."""
    import matplotlib.pyplot as plt

    X, y, _ = rows_of("wine")

    def larger(share: float, draw: int) -> np.ndarray:
        chance = 2 * share * (X.argsort(axis=0).argsort(axis=0) / len(X))
        return np.where(np.random.default_rng(draw).random(X.shape) < chance, np.nan, X)

    def columns(share: float, draw: int) -> np.ndarray:
        rng = np.random.default_rng(draw)
        chosen = rng.permutation(X.shape[1])[: round(share * X.shape[1])]
        gaps = np.isin(np.arange(X.shape[1]), chosen) & (rng.random(X.shape) < 0.9)
        return np.where(gaps, np.nan, X)

    ways = {
        "missing at random": lambda share, draw: with_gaps(X, share, draw),
        "the larger, the more often missing": larger,
        "columns that are 90 % missing": columns,
    }
    shares = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
    for axis, (title, gaps) in zip(axes, ways.items(), strict=True):
        for name, style in (("FNMF", "o-"), ("5-nn + k-means", "s--"), ("k-POD", "^:")):
            means = []
            for share in shares:
                rows = [gaps(share, draw) for draw in range(draws if share else 1)]
                found = [clustering_accuracy(y, METHODS[name](one, 3)) for one in rows]
                means.append(np.mean(found))
            axis.plot(shares, means, style, label=name)
            print(f"{title:<36}{name:<18}" + "".join(f"{m:>7.3f}" for m in means), flush=True)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("share of columns" if "columns" in title else "share of cells")
        axis.set_ylim(0.6, 1)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("accuracy of clusters")
    axes[0].legend(loc="lower left", fontsize=9)
    figure.savefig(names[0], dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=tuple(USUAL))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("results"))
    asked = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    globals()[asked.what](asked.results, asked.names or USUAL[asked.what], asked.draws)


if __name__ == "__main__":
    main()
