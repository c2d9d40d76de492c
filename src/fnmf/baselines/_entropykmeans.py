"""Entropy-weighted k-means: every cluster has feature weights of its own."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from fnmf._weights import check_sample_weight
from fnmf.baselines._base import WeightedCompetitor, as_seed
from fnmf.baselines._lloyd import means, nearest_centres, squared, within
from fnmf.baselines._matrix import Matrix, dense
from fnmf.baselines._rival import CentreRival
from fnmf.kmeans import count_distinct
from fnmf.validation import check_integer, check_real


class EntropyKMeans(WeightedCompetitor, CentreRival):
    """Entropy-weighted k-means: clusters in subspaces, each with its own feature weights.

    Clusters, centres z_l and weights λ_l minimise

        Σ_l [ Σ_{i in l} Σ_j λ_lj (x_ij − z_lj)² + γ Σ_j λ_lj log λ_lj ]

    subject to λ ≥ 0, Σ_j λ_lj = 1, where γ is ``entropy``: λ_lj is proportional to exp(−D_lj/γ),
    D_lj being what feature j adds to the scatter of cluster l. A large γ weighs all features
    alike; a small one keeps the feature that varies least.

    Parameters
    ----------
    entropy : float, default=1.0
        γ, in the units of a squared feature times the samples of a cluster.
    n_init : int, default=10
        Starts with k-means++; the one with the lowest objective is kept.
    max_iter : int, default=100
        Iterations of each start.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means.
    cluster_weights_ : ndarray of shape (n_clusters, n_features)
        λ; rows sum to 1.
    objective_ : float
        The objective at the end.
    converged_ : bool
        Whether the clusters had settled; if not, a ``ConvergenceWarning`` says so.
    n_iter_ : int
        Iterations of the start that was kept.

    References
    ----------
    L. Jing, M. K. Ng, J. Z. Huang, "An Entropy Weighting k-Means Algorithm for Subspace
    Clustering of High-Dimensional Sparse Data", IEEE TKDE 19(8), 2007, 1026-1041.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import EntropyKMeans
    >>> X, y = make_blobs(120, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    >>> model = EntropyKMeans(n_clusters=3, entropy=100.0, random_state=0).fit(X)
    >>> model.cluster_weights_.sum(axis=1).round(6)
    array([1., 1., 1.])
    """

    _stored_shapes: ClassVar = {"cluster_centers_": "kd", "cluster_weights_": "kd"}
    cluster_centers_: np.ndarray
    cluster_weights_: np.ndarray
    objective_: float
    converged_: bool
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        entropy: float = 1.0,
        n_init: int = 10,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.entropy = entropy
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, X: Any, sample_weight: Any = None) -> None:
        """Learn clusters and weights."""
        check_real("entropy", self.entropy, strict=True)
        n_init = check_integer("n_init", self.n_init, low=1)
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        rows, n_clusters = self._check_scaled(X)
        counts = check_sample_weight(sample_weight, rows)
        whole = rows
        if counts is not None:
            rows, counts = rows[counts > 0], counts[counts > 0]
        n_clusters = count_distinct(rows, n_clusters)
        entropy = float(self.entropy) * self._scale**2
        generator = np.random.RandomState(as_seed(self.random_state) % 2**32)
        runs = [
            descend(rows, n_clusters, entropy, max_iter, generator, counts) for _ in range(n_init)
        ]
        best = min(runs, key=lambda run: run[3])
        self.labels_, centres, self.cluster_weights_, objective, self.n_iter_ = best
        self.cluster_centers_ = centres / self._scale
        if counts is not None:
            self.labels_ = self._assigned(whole)
        self.objective_ = objective / self._scale**2
        self.converged_ = self.n_iter_ < max_iter
        if not self.converged_:
            warnings.warn(
                f"EntropyKMeans stopped at max_iter={max_iter} before the clusters had settled; "
                "raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _assigned(self, rows: Matrix) -> np.ndarray:
        """The nearest centre of each new row, each with the weights of its cluster."""
        return nearest_centres(rows, self.cluster_centers_ * self._scale, self.cluster_weights_)


def descend(
    X: Matrix,
    n_clusters: int,
    entropy: float,
    max_iter: int,
    generator: np.random.RandomState,
    counts: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, int]:
    """One start: labels, centres, weights, objective, iterations."""
    centres, _ = kmeans_plusplus(X, n_clusters, sample_weight=counts, random_state=generator)
    centres = dense(centres)
    weights = np.full((n_clusters, X.shape[1]), 1.0 / X.shape[1])
    squares = squared(X)
    labels = nearest_centres(X, centres, weights)
    iteration = 0
    for iteration in range(1, max_iter + 1):  # noqa: B007
        moved, sizes = means(X, labels, n_clusters, counts)
        centres = np.where(sizes[:, None] > 0, moved, centres)
        scatter = within(squares, labels, centres, sizes, counts)
        weights = entropy_weights(scatter, entropy)
        before = labels
        labels = nearest_centres(X, centres, weights)
        if np.array_equal(before, labels):
            break
    # The last assignment is counted as well, if it was cut off before it settled.
    centres_now, sizes = means(X, labels, n_clusters, counts)
    centres = np.where(sizes[:, None] > 0, centres_now, centres)
    scatter = within(squares, labels, centres, sizes, counts)
    surprise = np.sum(weights * np.log(np.maximum(weights, np.finfo(float).tiny)))
    total = float(np.sum(weights * scatter) + entropy * surprise)
    return labels, centres, weights, total, iteration


def entropy_weights(scatter: np.ndarray, entropy: float) -> np.ndarray:
    """Rows proportional to exp(−D/γ), measured from the smallest D so that none overflows."""
    weights = np.exp(-(scatter - scatter.min(axis=1, keepdims=True)) / entropy)
    return weights / weights.sum(axis=1, keepdims=True)
