"""What the competitors share: validation and fitted attributes."""

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from fnmf._sklearn import as_random_state
from fnmf.baselines._documented import complete_docstring
from fnmf.baselines._matrix import Matrix, is_sparse
from fnmf.baselines._rank import StructuredGraph
from fnmf.data import MappedCSR
from fnmf.validation import check_data, check_integer


class Competitor(BaseEstimator):
    """Checks of the data and of the number of clusters.

    Not a ``ClusterMixin``: scikit-learn's checks feed negative data to every one of those, and
    most methods here must refuse them. The methods that need not add the mixin themselves.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    graph : "adaptive" or sparse matrix of shape (n_samples, n_samples), default="adaptive"
        Adaptive-neighbour graph, or a symmetric one of the user's.
    n_init : int, default=1
        Starts; the one with the lowest objective is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything that is drawn, starts of k-means among it.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters.
    """

    n_clusters: int
    labels_: np.ndarray
    _non_negative = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A class without parameters is only the base of others.
        if cls.__init__ is not object.__init__:
            bases = [base for base in reversed(cls.__mro__[1:]) if issubclass(base, Competitor)]
            complete_docstring(cls, bases)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._non_negative
        return tags

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the cluster of each sample, ``labels_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : ignored

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.fit(X).labels_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the clusters, and all that the attributes hold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples; factorisations take non-negative ones. Sparse data are made dense only where
            the method says so.
        y : ignored

        Returns
        -------
        self : object
        """
        self._learn(X)
        return self

    @abstractmethod
    def _learn(self, X: Any) -> None:
        """Check the parameters, then the data, and set the attributes."""

    def _check_fit(self, X: Any) -> tuple[Matrix, int]:
        """The data in double precision, and the number of clusters."""
        n_clusters = check_integer("n_clusters", self.n_clusters, low=1)
        checked = self._check_rows(X, reset=True, min_samples=3)
        if n_clusters > checked.shape[0]:
            raise ValueError(
                f"n_clusters={n_clusters} is more than n_samples={checked.shape[0]}; "
                "lower n_clusters."
            )
        return checked, n_clusters

    def _check_rows(self, X: Any, *, reset: bool, min_samples: int = 1) -> Matrix:
        checked = check_data(
            self, X, reset=reset, non_negative=self._non_negative, min_samples=min_samples
        )
        if isinstance(checked, MappedCSR):
            raise TypeError(
                f"{type(self).__name__} works in memory; pass a SciPy CSR array instead of a "
                "memory-mapped one."
            )
        if is_sparse(checked):
            return sp.csr_array(checked.astype(np.float64))
        return np.ascontiguousarray(checked, dtype=np.float64)


class WeightedCompetitor(Competitor):
    """A competitor whose objective is a sum over samples, each as often as it counts."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the clusters, and all that the attributes hold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples; factorisations take non-negative ones.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts in the objective; one of weight 0 is not there, and has
            the codes and the cluster of a new one.

        Returns
        -------
        self : object
        """
        self._learn(X, sample_weight)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit and return the cluster of each sample, ``labels_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    @abstractmethod
    def _learn(self, X: Any, sample_weight: Any = None) -> None:
        """Check the parameters, then the data, and set the attributes."""


class Factorisation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Competitor):
    """A competitor with codes, also of new rows."""

    embedding_: np.ndarray
    components_: np.ndarray
    _n_features_out: int

    def transform(self, X: Any) -> np.ndarray:
        """Codes of new rows, each solved on its own with what was fitted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples of the kind that was fitted.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_codes)
            As long as the rows of ``embedding_``.
        """
        check_is_fitted(self)
        return self._encode(X)

    @abstractmethod
    def _encode(self, X: Any) -> np.ndarray:
        """Codes of new rows, which are still to be checked."""


class GraphClusterer(ClusterMixin, Competitor):
    """Fitted attributes of the methods that learn a graph with a given number of components.

    Parameters
    ----------
    n_clusters : int, default=8
        Connected components wanted.
    max_iter : int, default=30
        Steps of the search for λ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The connected component of each sample.
    graph_ : csr_array of shape (n_samples, n_samples)
        Learned similarities S; rows sum to 1.
    n_connected_components_ : int
        Components of ``graph_``, equal to ``n_clusters`` on success.
    converged_ : bool
        Whether that is so. Otherwise a ``ConvergenceWarning`` says what to change.
    history_ : ndarray
        One row an iteration: total, fit, rank (2λ tr(FᵀLF)), strength (λ),
        n_connected_components.
    n_iter_ : int
        Iterations done.
    """

    graph_: sp.csr_array
    n_connected_components_: int
    n_iter_: int
    history_: np.ndarray
    converged_: bool

    def _adopt(self, found: StructuredGraph, n_clusters: int, scale: float = 1.0) -> None:
        """Keep what was found on data multiplied by ``scale``."""
        self.graph_ = found.graph
        self.labels_ = found.labels
        self.n_connected_components_ = found.n_components
        self.history_ = found.history.copy()
        for name in ("total", "fit", "rank", "strength"):
            self.history_[name] /= scale**2
        self.n_iter_ = found.n_iter
        self.converged_ = found.n_components == n_clusters
        if not self.converged_:
            warn_components(self, found.n_components, n_clusters)


def warn_components(estimator: Any, n_found: int, n_clusters: int) -> None:
    """Say that the graph has another number of components than was asked for."""
    remedy = (
        "raise n_neighbors, so that fewer pieces are apart from the start"
        if n_found > n_clusters
        else "raise max_iter, or lower n_neighbors, so that there are fewer edges to cut"
    )
    warnings.warn(
        f"{type(estimator).__name__} found {n_found} connected components, not "
        f"n_clusters={n_clusters}; {remedy}. The labels are the components found.",
        ConvergenceWarning,
        stacklevel=5,
    )


def check_neighbors(n_neighbors: Any, n_samples: int, default: int) -> int:
    """Number of neighbours; None means the default, or as many as there can be."""
    most = n_samples - 2
    if n_neighbors is None:
        return max(1, min(default, most))
    k = check_integer("n_neighbors", n_neighbors, low=1)
    if k > most:
        raise ValueError(
            f"n_neighbors={k} needs at least {k + 2} samples, got n_samples={n_samples}; "
            "lower n_neighbors."
        )
    return k


def as_seed(random_state: Any) -> int:
    """One integer that seeds everything random in a fit; integers stay as they are."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        as_random_state(random_state)
        return int(random_state)
    return int(as_random_state(random_state).randint(np.iinfo(np.int32).max))
