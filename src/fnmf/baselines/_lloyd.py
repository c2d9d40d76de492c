"""Assignments and means of k-means with feature weights, for dense and sparse rows."""

import numpy as np
import scipy.sparse as sp

from fnmf.baselines._matrix import Matrix, dense, is_sparse


def nearest_centres(X: Matrix, centres: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The cluster with the least Σ_j w_lj (x_ij − c_lj)²; one row of weights serves all."""
    weighted = weights * centres
    costs = np.einsum("lj,lj->l", weighted, centres) - 2.0 * dense(X @ weighted.T)
    # Under common weights ‖x_i‖² is the same for every cluster.
    if len(weights) > 1:
        costs += dense(squared(X) @ weights.T)
    return np.argmin(costs, axis=1)


def means(
    X: Matrix, labels: np.ndarray, n_clusters: int, counts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each cluster, and its size, rows as often as they count; 0 for an empty one."""
    n = len(labels)
    own = np.ones(n) if counts is None else counts
    members = sp.csr_array((own, (labels, np.arange(n))), shape=(n_clusters, n))
    sizes = np.bincount(labels, counts, minlength=n_clusters)
    return dense(members @ X) / np.where(sizes > 0, sizes, 1)[:, None], sizes


def within(
    squares: Matrix,
    labels: np.ndarray,
    centres: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray | None = None,
) -> np.ndarray:
    """Σ_{i in l} (x_ij − c_lj)² for every cluster l and feature j, from squares and means."""
    second = means(squares, labels, len(centres), counts)[0]
    return np.maximum(sizes[:, None] * (second - centres**2), 0.0)


def lloyd(
    X: Matrix, centres: np.ndarray, weights: np.ndarray, max_iter: int
) -> tuple[np.ndarray, np.ndarray]:
    """k-means from given centres under fixed weights; labels and centres. Empty clusters stay."""
    labels = nearest_centres(X, centres, weights)
    for _ in range(max_iter):
        moved, sizes = means(X, labels, len(centres))
        centres = np.where(sizes[:, None] > 0, moved, centres)
        before = labels
        labels = nearest_centres(X, centres, weights)
        if np.array_equal(before, labels):
            break
    return labels, centres


def squared(X: Matrix) -> Matrix:
    """Squares of all entries."""
    return sp.csr_array(X.multiply(X)) if is_sparse(X) else np.asarray(X) ** 2
