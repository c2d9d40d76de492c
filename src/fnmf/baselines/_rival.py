"""What the rivals share: clusters of all features at once, or of the features a score chose."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from fnmf.baselines._adaptive import input_graph
from fnmf.baselines._base import Competitor, as_seed
from fnmf.baselines._lloyd import nearest_centres
from fnmf.baselines._matrix import Matrix, is_sparse, unit_scale
from fnmf.kmeans import N_STARTS, count_distinct, fit_kmeans
from fnmf.validation import check_integer, check_real


class Rival(ClusterMixin, Competitor):
    """A clusterer of rows with any sign."""

    _scale: float

    def _check_scaled(self, X: Any) -> tuple[Matrix, int]:
        """Rows near 1, so that squares stay finite, and the number of clusters."""
        checked, n_clusters = self._check_fit(X)
        self._scale = unit_scale(checked)
        return checked * self._scale, n_clusters


class CentreRival(Rival):
    """A clusterer with centres, to which new rows are assigned."""

    cluster_centers_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of each new row, by the distance of the method.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._assigned(self._check_rows(X, reset=False) * self._scale)

    @abstractmethod
    def _assigned(self, rows: Matrix) -> np.ndarray:
        """The nearest centre of rows that are scaled as the training rows were."""


class SelectingKMeans(CentreRival):
    """k-means on the features that score best on a graph; subclasses say what the score is.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        Features kept; a float is a share of all. Nothing in the data says what is best.

    Attributes
    ----------
    selected_features_ : ndarray of shape (n_features,)
        Which features were kept.
    cluster_centers_ : ndarray of shape (n_clusters, n_selected)
        Means on the features kept.
    inertia_ : float
        Squared distances to the nearest centre, summed.
    """

    _stored_shapes: ClassVar = {"scores_": "d", "selected_features_": "d", "cluster_centers_": "ks"}
    scores_: np.ndarray
    selected_features_: np.ndarray
    cluster_centers_: np.ndarray
    inertia_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_features_to_select: int | float = 0.5,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Score the features, then cluster the best of them."""
        check_number_to_select(self.n_features_to_select)
        rows, n_clusters = self._check_scaled(X)
        wanted = number_to_select(self.n_features_to_select, rows.shape[1])
        graph = input_graph(rows, self.graph, self.n_neighbors, self.n_jobs)
        self.scores_ = self._scores(rows, graph, n_clusters, wanted)
        order = np.argsort(-self.scores_, kind="stable")
        self.selected_features_ = np.zeros(rows.shape[1], dtype=bool)
        self.selected_features_[order[:wanted]] = True
        chosen = columns(rows, self.selected_features_)
        model = distinct_kmeans(chosen, n_clusters, as_seed(self.random_state))
        self.labels_, self.inertia_ = model.labels_, float(model.inertia_ / self._scale**2)
        self.cluster_centers_ = model.cluster_centers_ / self._scale

    def _assigned(self, rows: Matrix) -> np.ndarray:
        """The nearest centre of each new row, on the features chosen."""
        chosen = columns(rows, self.selected_features_)
        centres = self.cluster_centers_ * self._scale
        return nearest_centres(chosen, centres, np.ones((1, chosen.shape[1])))

    @abstractmethod
    def _scores(self, X: Matrix, graph: sp.csr_array, n_clusters: int, wanted: int) -> np.ndarray:
        """A number for each feature, the better the larger."""


def check_number_to_select(value: Any) -> None:
    """A whole number, or a share above 0 and at most 1."""
    name = "n_features_to_select"
    if isinstance(value, float | np.floating):
        if check_real(name, value, strict=True) > 1.0:
            raise ValueError(f"{name}={value} is no share; use an integer, or at most 1.0.")
    else:
        check_integer(name, value, low=1)


def number_to_select(value: int | float, n_features: int) -> int:
    """How many features that is; never more than there are."""
    if isinstance(value, float | np.floating):
        return max(1, round(float(value) * n_features))
    return min(int(value), n_features)


def columns(X: Matrix, chosen: np.ndarray) -> Matrix:
    """Some columns, in memory order."""
    return X[:, np.flatnonzero(chosen)] if is_sparse(X) else np.ascontiguousarray(X[:, chosen])


def distinct_kmeans(X: Matrix, n_clusters: int, seed: int) -> KMeans:
    """The k-means of the protocol, with as many clusters as there are distinct rows at most."""
    return fit_kmeans(X, count_distinct(X, n_clusters), n_init=N_STARTS, random_state=seed % 2**32)
