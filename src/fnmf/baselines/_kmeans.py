"""k-means, the first comparison everybody makes."""

from typing import Any, ClassVar

import numpy as np
import sklearn.cluster
from sklearn.base import ClusterMixin
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from fnmf._weights import check_sample_weight
from fnmf.baselines._base import WeightedCompetitor, as_seed
from fnmf.baselines._matrix import Matrix, is_sparse
from fnmf.kmeans import count_distinct

_STARTS = 10


class KMeans(ClusterMixin, WeightedCompetitor):
    """scikit-learn's k-means with ten starts, by default on columns of unit variance.

    Parameters
    ----------
    standardize : bool, default=True
        Whether columns are divided by their standard deviation first.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Their centres, in the units of the data.
    scale_ : ndarray of shape (n_features,)
        What columns were divided by.

    References
    ----------
    D. Arthur, S. Vassilvitskii, "k-means++: The Advantages of Careful Seeding", SODA 2007,
    1027-1035.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import KMeans
    >>> X, y = make_blobs(60, centers=2, random_state=0, cluster_std=0.3)
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _stored_shapes: ClassVar = {"cluster_centers_": "kd", "scale_": "d"}
    cluster_centers_: np.ndarray
    scale_: np.ndarray

    def __init__(
        self, n_clusters: int = 8, *, standardize: bool = True, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.standardize = standardize
        self.random_state = random_state

    def _learn(self, X: Any, sample_weight: Any = None) -> None:
        """Find the clusters."""
        rows, n_clusters = self._check_fit(X)
        weights = check_sample_weight(sample_weight, rows)
        spread = np.ones(rows.shape[1])
        if self.standardize:
            spread = np.sqrt(_variances(rows, weights))
        self.scale_ = np.where(spread > 0, spread, 1.0)
        scaled = self._scaled(rows)
        there = slice(None) if weights is None else np.flatnonzero(weights)
        model = sklearn.cluster.KMeans(
            count_distinct(scaled[there], n_clusters),
            n_init=_STARTS,
            random_state=as_seed(self.random_state) % 2**32,
        ).fit(scaled[there], sample_weight=None if weights is None else weights[there])
        self.labels_ = model.labels_ if weights is None else model.predict(scaled)
        self.cluster_centers_ = model.cluster_centers_ * self.scale_

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of each new row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        from sklearn.metrics import pairwise_distances_argmin

        rows = self._scaled(self._check_rows(X, reset=False))
        return pairwise_distances_argmin(rows, self.cluster_centers_ / self.scale_)

    def _scaled(self, rows: Matrix) -> Any:
        if not self.standardize:
            return rows
        if is_sparse(rows):
            import scipy.sparse as sp

            return rows @ sp.diags_array(1 / self.scale_)
        return rows / self.scale_


def _variances(rows: Matrix, weights: np.ndarray | None) -> np.ndarray:
    """Variance of each column, rows as often as they count, (d,)."""
    data: Any = rows
    if is_sparse(rows):
        return np.asarray(mean_variance_axis(data, axis=0, weights=weights)[1], dtype=float)
    if weights is None:
        return np.asarray(data.var(axis=0), dtype=float)
    mean = np.average(data, axis=0, weights=weights)
    return np.average((data - mean) ** 2, axis=0, weights=weights)
