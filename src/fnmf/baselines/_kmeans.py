"""k-means, the first comparison everybody makes."""

from typing import Any, ClassVar

import numpy as np
import sklearn.cluster
from sklearn.base import ClusterMixin
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from fnmf.baselines._base import Competitor, as_seed
from fnmf.baselines._matrix import Matrix, is_sparse
from fnmf.baselines._rival import count_rows

_STARTS = 10


class KMeans(ClusterMixin, Competitor):
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

    def _learn(self, X: Any) -> None:
        """Find the clusters."""
        rows, n_clusters = self._check_fit(X)
        spread = np.ones(rows.shape[1])
        if self.standardize:
            data: Any = rows
            variance = mean_variance_axis(data, axis=0)[1] if is_sparse(rows) else data.var(axis=0)
            spread = np.sqrt(np.asarray(variance, dtype=float))
        self.scale_ = np.where(spread > 0, spread, 1.0)
        scaled = self._scaled(rows)
        model = sklearn.cluster.KMeans(
            count_rows(scaled, n_clusters),
            n_init=_STARTS,
            random_state=as_seed(self.random_state) % 2**32,
        ).fit(scaled)
        self.labels_ = model.labels_
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
