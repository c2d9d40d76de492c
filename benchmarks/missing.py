"""Missing values: accuracy, relevance and imputed cells, beside those who fill or skip them.

    python benchmarks/missing.py cluster [NAME ...] [--draws 3]
    python benchmarks/missing.py impute [NAME ...]
    python benchmarks/missing.py relevance [NAME ...]

Names: mfeat, iris, wine, breast_cancer, digits, and any of the sets of ``unseen.py``; ``NAME+noise``
has five uniform noise features for each of its own. Cells go missing at random.
"""

import argparse
import warnings

import numpy as np
from _unseen_sets import data
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.metrics import pairwise_distances, roc_auc_score

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("cluster", "impute", "relevance"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--draws", type=int, default=3)
    asked = parser.parse_args()
    usual = {
        "cluster": ["mfeat", *TABLES, "digits+noise", "usps+noise", "coil20+noise"],
        "impute": ["digits", "wine", "coil20"],
        "relevance": ["digits", "wine"],
    }
    warnings.simplefilter("ignore")
    run = {"cluster": cluster, "impute": impute, "relevance": relevance}[asked.what]
    run(asked.names or usual[asked.what], asked.draws)


if __name__ == "__main__":
    main()
