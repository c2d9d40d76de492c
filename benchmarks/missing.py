"""Missing values: accuracy, relevance and imputed cells, beside those who fill or skip them.

    python benchmarks/missing.py cluster [NAME ...] [--draws 3]
    python benchmarks/missing.py impute [NAME ...]
    python benchmarks/missing.py relevance [NAME ...]
    python benchmarks/missing.py picture FILE [--draws 3]

Names: mfeat, and those of the sets of ``unseen.py``, as iris, wine, digits, coil20; ``NAME+noise``
has five uniform noise features for each of its own. Cells go missing at random.
"""

import argparse
import warnings

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.metrics import pairwise_distances, roc_auc_score

from _unseen_sets import data
from fnmf import FNMF
from fnmf.datasets import load
from fnmf.metrics import clustering_accuracy

SHARES = (0.1, 0.3, 0.5)
TABLES = ("iris", "wine", "breast_cancer")


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


def spectral(X: np.ndarray, k: int) -> np.ndarray:
    """Spectral clustering of ten neighbours by distances over shared features."""
    distances = pairwise_distances(X, metric="nan_euclidean")
    distances = np.nan_to_num(distances, nan=np.nanmax(distances))
    np.fill_diagonal(distances, 0)
    near = np.argsort(distances, axis=1, kind="stable")[:, 1:11]
    ties = np.zeros(distances.shape)
    np.put_along_axis(ties, near, 1, axis=1)
    model = SpectralClustering(k, affinity="precomputed", random_state=0)
    return model.fit_predict((ties + ties.T) / 2)


def ours(X: np.ndarray, k: int) -> np.ndarray:
    return FNMF(k, random_state=0).fit_predict(X)


METHODS = {"FNMF": ours, "5-nn + k-means": imputed_kmeans, "k-POD": k_pod, "spectral": spectral}


def cluster(names: list[str], draws: int) -> None:
    """Accuracy by share of missing cells, mean over draws."""
    print(f"{'set':<18}{'method':<18}" + "".join(f"{share:>8.0%}" for share in (0, *SHARES)))
    for name in names:
        X, y, _ = rows_of(name)
        k = len(np.unique(y))
        for method, run in METHODS.items():
            found = [clustering_accuracy(y, run(X, k))]
            for share in SHARES:
                rows = [with_gaps(X, share, draw) for draw in range(draws)]
                found.append(np.mean([clustering_accuracy(y, run(one, k)) for one in rows]))
            figures = "".join(f"{value:>8.3f}" for value in found)
            print(f"{name:<18}{method:<18}{figures}", flush=True)


def impute(names: list[str], draws: int) -> None:
    """Root mean square error of imputed cells."""
    print(f"{'set':<18}{'method':<18}" + "".join(f"{share:>8.0%}" for share in SHARES))
    for name in names:
        X, y, _ = rows_of(name)
        k = len(np.unique(y))
        methods = {
            "FNMF.impute": lambda Z, k=k: FNMF(k, random_state=0).fit(Z).impute(Z),
            "KNNImputer": KNNImputer(n_neighbors=5, keep_empty_features=True).fit_transform,
        }
        if X.shape[1] <= 100:
            iterative = IterativeImputer(random_state=0, max_iter=10, keep_empty_features=True)
            methods["IterativeImputer"] = iterative.fit_transform
        for method, run in methods.items():
            errors = []
            for share in SHARES:
                found = []
                for draw in range(draws):
                    Z = with_gaps(X, share, draw)
                    found.append(np.sqrt(np.mean((run(Z) - X)[np.isnan(Z)] ** 2)))
                errors.append(np.mean(found))
            print(f"{name:<18}{method:<18}" + "".join(f"{e:>8.4f}" for e in errors), flush=True)


def relevance(names: list[str], draws: int) -> None:
    """Area under the ROC curve of relevance, with 30 % of the cells missing."""
    for name in names:
        X, y, real = rows_of(f"{name}+noise")
        varies = X.std(axis=0) > 0
        truth = (np.arange(X.shape[1]) < real)[varies]
        scores = []
        for draw in range(draws):
            model = FNMF(len(np.unique(y)), random_state=0).fit(with_gaps(X, 0.3, draw))
            scores.append(roc_auc_score(truth, model.feature_relevance_[varies]))
        print(f"{name:<18}AUC {np.mean(scores):.3f}", flush=True)


def picture(names: list[str], draws: int) -> None:
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
    parser.add_argument("what", choices=("cluster", "impute", "relevance", "picture"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args()
    usual = {
        "cluster": ["mfeat", *TABLES, "digits+noise", "usps+noise", "coil20+noise"],
        "impute": ["digits", "wine", "coil20"],
        "relevance": ["digits", "wine"],
        "picture": ["missing.png"],
    }
    warnings.simplefilter("ignore")
    methods = {"cluster": cluster, "impute": impute, "relevance": relevance, "picture": picture}
    methods[asked.what](asked.names or usual[asked.what], asked.draws)


if __name__ == "__main__":
    main()
