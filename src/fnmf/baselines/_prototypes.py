"""Prototypes of K-multiple-means: drawn, and moved to the samples that they stand for."""

import numpy as np
import scipy.sparse as sp

from fnmf.baselines._bipartite import degrees
from fnmf.baselines._matrix import Matrix, dense
from fnmf.kmeans import count_distinct, fit_kmeans


def draw_prototypes(X: Matrix, m: int, init: str, seed: int) -> np.ndarray:
    """k-means centroids or random samples, without duplicates."""
    if init == "random":
        picked = np.random.default_rng(seed).choice(X.shape[0], m, replace=False)
        points = dense(X[np.sort(picked)])
    else:
        points = centroids(X, m, seed)
    distinct = np.unique(points, axis=0)
    # One point is left when all samples are equal; two are needed to have neighbours.
    return distinct if len(distinct) > 1 else np.repeat(distinct, 2, axis=0)


def centroids(X: Matrix, m: int, seed: int) -> np.ndarray:
    """Centroids of one k-means run; fewer if there are fewer distinct samples."""
    k = count_distinct(X, m)
    return fit_kmeans(X, k, n_init=1, random_state=seed % 2**32).cluster_centers_


def move_prototypes(
    X: Matrix, prototypes: np.ndarray, graph: sp.csr_array, nearest: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Means of the samples nearest to each prototype, weighted by s_ij; the idle ones go."""
    n, m = X.shape[0], len(prototypes)
    own = sp.csr_array((np.ones(n), (np.arange(n), nearest)), shape=(n, m))
    weighted = sp.csr_array(own.multiply(graph))
    sizes, masses = degrees(own), degrees(weighted)
    means, by_weight = dense(own.T @ X), dense(weighted.T @ X)
    moved = prototypes.copy()
    full, busy = masses > 0, (sizes > 0) & (masses <= 0)
    moved[full] = by_weight[full] / masses[full, None]
    moved[busy] = means[busy] / sizes[busy, None]
    idle = np.flatnonzero(sizes == 0)
    dropped = idle[: max(0, m - max(n_clusters, 2))]
    return np.delete(moved, dropped, axis=0)
