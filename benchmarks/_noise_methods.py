"""The methods that are compared under noise, one setting everywhere."""

from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import NMF

from fnmf import FNMF
from fnmf.graph import adaptive_neighbors
from sparse_kmeans import SparseKMeans

OURS = {"n_weightings": 4}

# Clusters, and weights of the features if the method has them.
Outcome = tuple[np.ndarray, np.ndarray | None]
Method = Callable[[np.ndarray, int, int], Outcome]


def relevance(smoothness: float) -> Method:
    def run(X: np.ndarray, c: int, seed: int) -> Outcome:
        model = FNMF(c, weighting="relevance", smoothness=smoothness, random_state=seed, **OURS)
        model.fit(X)
        return model.labels_, model.feature_importances_

    return run


def paper(smoothness: float) -> Method:
    def run(X: np.ndarray, c: int, seed: int) -> Outcome:
        model = FNMF(c, weighting="paper", solver="mu", smoothness=smoothness, random_state=seed)
        model.fit(X)
        return model.labels_, model.feature_importances_

    return run


def gnmf(smoothness: float) -> Method:
    def run(X: np.ndarray, c: int, seed: int) -> Outcome:
        model = FNMF(
            c,
            weighting="uniform",
            n_weightings=1,
            solver="mu-fast",
            smoothness=smoothness,
            random_state=seed,
        )
        return model.fit_predict(X), None

    return run


def kmeans(X: np.ndarray, c: int, seed: int) -> Outcome:
    return KMeans(c, n_init=10, random_state=seed).fit_predict(X), None


def spectral(X: np.ndarray, c: int, seed: int) -> Outcome:
    graph = adaptive_neighbors(X, 5).astype(np.float64)
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    model = SpectralClustering(c, affinity="precomputed", random_state=seed)
    return model.fit_predict(graph), None


def nmf(X: np.ndarray, c: int, seed: int) -> Outcome:
    codes = NMF(c, init="nndsvda", random_state=seed, max_iter=300).fit_transform(X)
    return kmeans(codes, c, seed)


def sparse_kmeans(X: np.ndarray, c: int, seed: int) -> Outcome:
    model = SparseKMeans(c, random_state=seed).fit(X)
    return model.labels_, model.weights_


MAIN: dict[str, Method] = {
    "relevance": relevance(100),
    "paper": paper(100),
    "GNMF": gnmf(100),
}
PEERS: dict[str, Method] = {
    "k-means": kmeans,
    "spectral": spectral,
    "NMF": nmf,
    "sparse k-means": sparse_kmeans,
}
TUNED: dict[str, Method] = {
    f"{name}, {strength}": make(strength)
    for name, make in (("relevance", relevance), ("paper", paper), ("GNMF", gnmf))
    for strength in (10, 100)
}
