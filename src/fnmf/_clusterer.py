"""The clusterer: the first stage of the default fit, without the factorisation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from fnmf._base import ClusterBase
from fnmf._fitted import FittedClusters
from fnmf._fnmf import FNMF
from fnmf._parameters import with_parameters_of
from fnmf._settings import Settings
from fnmf._sklearn import with_callbacks
from fnmf.data import MappedCSR, is_dask, view_of
from fnmf.validation import (
    check_data,
    check_integer,
    check_real,
    is_frame,
    with_categories_encoded,
)

if TYPE_CHECKING:
    from fnmf.factorization import Scheme

_OWN = ("n_clusters", "false_discovery_rate", "random_state")


@cache
def _defaults() -> dict[str, Any]:
    """Parameters of FNMF that clusters are found with."""
    return FNMF("auto").get_params(deep=False)


class RelevanceClusterer(ClusterBase, SelectorMixin, ClusterMixin, BaseEstimator):
    """Clusters, and the features that they rest on, when many features are useless.

    The first stage of :class:`fnmf.FNMF`: how rows and columns are to be prepared is found out on
    a sample of the rows, features are weighted by how much of them the clusters explain beyond
    chance, and clusters are those of a neighbour graph of all rows, or about means. There is no
    factorisation, so that it is cheaper and takes any real data. It is a clusterer, and a selector
    of features.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters; ``"auto"`` takes the number that :func:`fnmf.choose_n_components`
        recommends, 1 if nothing beyond chance is found.

    n_neighbors : int, default=5
        Neighbours of a sample in the graph.

    graph : {"adaptive", "approximate"} or sparse matrix, default="adaptive"
        ``"adaptive"`` builds the adaptive-neighbour graph from an exact search; with more than
        10,000 samples it holds each sample to the nearest of 2,000 anchors instead.
        ``"approximate"`` searches with faiss (extra ``ann``). A symmetric non-negative matrix of
        shape (n_samples, n_samples) is used as it is.

    row_norm : {"auto", "unit", "none"}, default="auto"
        Whether rows are brought to unit length. ``"auto"`` tries both on a sample and keeps the
        better, see ``chosen_``; rows with negative values keep their lengths.

    column_units : {"auto", "own", "typical", "spread"}, default="auto"
        Whether features are left in their own units or divided by their typical value or their
        standard deviation. ``"auto"`` tries what makes sense for the data; their own units and the
        standard deviation if there are negative values.

    feature_groups : array-like of shape (n_features,) or None, default=None
        Group of each feature, a name or a number; groups count alike, however many features they
        have, as for :class:`fnmf.FNMF`.

    column_kinds : dict, array-like of shape (n_columns,) or None, default=None
        Kinds of columns of a table that shall not be found, as for :class:`fnmf.FNMF`.

    false_discovery_rate : float, default=0.1
        Features with a q-value of at most this are selected: about that share of them is there by
        chance.

    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample, the anchors and the clusters.

    n_jobs : int or None, default=None
        Threads. ``None`` means as many as the linear algebra library would use. Results do not
        depend on it.

    verbose : int, default=0
        1 prints what is done.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    feature_relevance_ : ndarray of shape (n_features,)
        Share of each feature's variance that the clusters explain beyond what chance would: 0 for
        a feature without information, 1 for one the clusters determine; comparable across fits.
    feature_qvalues_ : ndarray of shape (n_features,)
        The smallest rate of false discoveries at which a feature is called relevant.
    feature_importances_ : ndarray of shape (n_features,)
        Relevance as a share of the sum of all; sums to 1.
    sample_confidence_ : ndarray of shape (n_samples,)
        Probability that a sample is of the kind that most of its cluster is of, from the votes of
        its neighbours.
    second_labels_ : ndarray of shape (n_samples,)
        The second-best cluster of each sample: the one with the most votes of its neighbours, or
        the one whose mean is nearest in the weighted features if none has a vote.
    cluster_stability_ : ndarray of shape (n_clusters,)
        How much of each cluster comes back when halves of the samples are clustered anew.
    structure_ : float or None
        Agreement of the clusters found from two halves of the features, in standard deviations
        from chance; ``None`` where it could not be tested.
    structure_found_ : bool or None
        Whether the clusters are more than chance, by ``structure_`` (more than 5) or by a second
        test with the features in use, see the page on relevance; ``None`` if neither could be made.
    chosen_ : list of dict
        Preparations that were tried, the chosen first: ``rows``, ``columns``, ``clusters`` by graph
        or means, ``features`` used, ``modularity``, features ``explained``, ``score``.
    column_kinds_ : ndarray of shape (n_features,)
        Kind of each feature: ``"flag"``, ``"category"``, ``"integer"``, ``"continuous"`` or
        ``"constant"``. Only for data of few columns, which are treated as a table.
    graph_ : csr_array of shape (n_samples, n_samples) or None
        Neighbour graph; ``None`` where samples are held to anchors.
    graph_rows_ : ndarray of shape (n_samples,)
        Row of ``graph_`` that each sample is, -1 if its weight is 0. Only where samples have
        weights or equal each other, and ``graph_`` has the distinct ones.
    n_clusters_ : int
        Number of clusters, chosen or given.
    k_scores_ : structured ndarray
        Scores by number of clusters, see :class:`fnmf.choosing.NumberOfClusters`. Only for
        ``n_clusters="auto"``, as the next two.
    k_interval_, k_also_ : tuple of int
        Smallest and largest defensible number of clusters; other levels of a hierarchy.
    batch_relevance_, batch_mixing_ : ndarray of shape (n_features,) and (n_clusters,)
        What batches do, as for :class:`fnmf.FNMF`; only if ``fit`` had ``batch``.
    rows_without_values_ : ndarray of int
        Samples without any value: they are in the largest cluster, with confidence 0. Only if
        values are missing.
    unit_ : float
        A power of two by which data in extreme units were divided, 1 for all others.
    categories_ : dict
        Levels of the categories of a frame, by column. Only for frames with categories.
    n_features_in_ : int
        Features seen during fit; each level of a category is one.

    See Also
    --------
    fnmf.FNMF : The same, and a non-negative representation of the samples.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from fnmf import RelevanceClusterer
    >>> from fnmf.datasets import make_planted_subspaces
    >>> X, y, _ = make_planted_subspaces(300, 3, random_state=0)
    >>> model = RelevanceClusterer(random_state=0).fit(X)
    >>> model.n_clusters_, model.transform(X).shape[1] < X.shape[1]
    (3, True)
    >>> scaled = make_pipeline(StandardScaler(), RelevanceClusterer(3, random_state=0))
    >>> scaled.fit_predict(X).shape
    (300,)
    """

    _record = FittedClusters
    _number = "n_clusters"
    _non_negative = False

    graph: Any

    @with_parameters_of(
        FNMF,
        "n_neighbors",
        "graph",
        "row_norm",
        "column_units",
        "feature_groups",
        "column_kinds",
        "random_state",
        "n_jobs",
        "verbose",
    )
    def __init__(
        self, n_clusters: Any = "auto", *, false_discovery_rate: float = 0.1, **shared: Any
    ) -> None:
        self.n_clusters = n_clusters
        self.false_discovery_rate = false_discovery_rate
        self.__dict__.update(shared)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @with_callbacks
    def fit(
        self,
        X: ArrayLike | sp.sparray,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        batch: ArrayLike | None = None,
    ) -> Self:
        """Find clusters and the features that they rest on.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, MappedCSR} of shape (n_samples, n_features)
            Any real data; NaN are missing values.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            As how many samples each counts: one of weight 2 is the same as two equal ones, one of
            weight 0 has no part in the fit. Equal rows are always taken together.
        batch : array-like of shape (n_samples,), default=None
            Batches, as for :meth:`fnmf.FNMF.fit`.

        Returns
        -------
        self
        """
        from fnmf._fitting import fit_estimator

        fit_estimator(self, X, sample_weight=sample_weight, batch=batch)
        return self

    def transform(self, X: ArrayLike | sp.sparray) -> Any:
        """The selected features of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of the kind that was fitted.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_selected_features)
        """
        given: Any = X
        if is_frame(X):
            given = with_categories_encoded(self, X, reset=False)
        if not isinstance(given, MappedCSR) and not is_dask(given):
            return super().transform(given)
        mask = self.get_support()
        data: Any = check_data(self, X, reset=False, non_negative=False)
        if is_dask(data):
            return data[:, mask]
        view = view_of(data)
        return view.rows(0, view.shape[0])[:, mask]

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.feature_qvalues_ <= self.false_discovery_rate

    def _read_settings(self) -> Settings:
        k, defaults = self.n_clusters, _defaults()
        automatic = isinstance(k, str) and k == "auto"
        if not automatic:
            check_integer("n_clusters", k, low=1, or_else="auto")
        check_real("false_discovery_rate", self.false_discovery_rate)
        if self.graph is None or getattr(self.graph, "nnz", 1) == 0:
            raise ValueError(
                "graph has no ties, and clusters are those of the graph; use "
                '"adaptive", "approximate" or a matrix with ties.'
            )
        # Not from get_params: a subclass may have fewer parameters than it keeps.
        own = {name: value for name, value in vars(self).items() if name in defaults}
        given = {name: value for name, value in own.items() if name not in _OWN}
        given["n_clusters"] = None if automatic else k
        return replace(Settings.of({**defaults, **given}), negative="keep")

    def _settings(self) -> Settings:
        return self._read_settings().with_components(self.n_clusters_)

    def _scheme(self, settings: Settings) -> type[Scheme]:
        from fnmf.relevance.scheme import ClusterScheme

        return ClusterScheme
