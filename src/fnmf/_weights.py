"""Samples that do not all count once: weights of the user's, and rows that repeat each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted, FittedClusters
from fnmf._settings import Settings
from fnmf._sklearn import checked_weights
from fnmf.data import Data, DistinctRows, View, as_counts, distinct_rows, is_dask, view_of
from fnmf.exceptions import NoStructureWarning

# Of more rows than this a copy without the few that repeat others is not worth its memory.
_MANY = 100_000


def check_sample_weight(sample_weight: Any, data: Any) -> np.ndarray | None:
    """Weights of the user's, one for each sample; ``None`` if there are none."""
    if sample_weight is None:
        return None
    if is_dask(data):
        raise ValueError(
            "sample_weight takes data in memory; leave it out for Dask arrays, and repeat rows "
            "that count more than once."
        )
    rows = np.empty((data.shape[0], 0))
    weights = checked_weights(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    if not np.isfinite(weights.sum()) or not weights.any():
        raise ValueError(
            "sample_weight has no finite positive sum; at least one sample must count."
        )
    return weights


@dataclass(frozen=True)
class CountedRows:
    """The rows of a fit, each there once, and as how many it counts.

    A sample that is there twice is a sample of weight 2, and one of weight 0 is not there. Weights
    with a mean below 1 are no counts, and brought to a mean of 1.

    Attributes
    ----------
    data : array, CSR or MappedCSR
        All samples.
    distinct : DistinctRows
        Those that are fitted.
    """

    data: Data
    distinct: DistinctRows

    @classmethod
    def of(
        cls, data: Any, weights: np.ndarray | None, settings: Settings, *, merge: bool = True
    ) -> CountedRows | None:
        """``None`` if every sample counts once and none equals another.

        What the user knows of single rows, a graph or a start, keeps them apart, and so does
        ``merge=False``.
        """
        if is_dask(data):
            return None
        own_rows = settings.graph is None or settings.builds_graph
        if merge and own_rows and settings.starts_itself:
            found = distinct_rows(view_of(data), weights, settings.batch)
            few = found is not None and 2 * len(found.rows) <= len(found.groups)
            if found is None or (weights is None and len(found.groups) > _MANY and not few):
                return None
            found = found._replace(weights=as_counts(found.weights))
            return cls(data, enough_rows(found, settings))
        if weights is None or np.all(weights == 1):
            return None
        rows = np.flatnonzero(weights > 0)
        index = np.full(len(weights), -1, np.int64)
        index[rows] = np.arange(len(rows))
        return cls(data, DistinctRows(rows, as_counts(weights[rows]), index))

    @property
    def rows(self) -> Data:
        """The rows that are fitted."""
        return view_of(self.data).subset(self.distinct.rows).X

    def settings(self, settings: Settings) -> Settings:
        """Settings for these rows: batches, a graph and a start of the user's lose the others."""
        graph, init, rows = settings.graph, settings.init, self.distinct.rows
        batch = None if settings.batch is None else settings.batch[rows]
        is_sparse: bool = sp.issparse(graph)
        if is_sparse:
            graph = sp.csr_array(sp.csr_array(graph)[rows][:, rows])
            if self.distinct.weights is not None:
                each = sp.diags_array(self.distinct.weights)
                graph = sp.csr_array(each @ graph @ each)
        if isinstance(init, tuple):
            init = (np.asarray(init[0])[rows], init[1])
        return replace(settings, graph=graph, init=init, batch=batch)

    def all_rows(self, fitted: FittedClusters) -> Any:
        """The record with all samples; those that do not count stay as the first one is."""
        index = self.distinct.groups
        at = np.maximum(index, 0)
        names = ["labels", "sample_confidence", "second_labels"]
        if isinstance(fitted, Fitted):
            names += ["embedding", "assignments"]
        values = {name: getattr(fitted, name) for name in names}
        found: dict[str, Any] = {
            name: None if one is None else one[at] for name, one in values.items()
        }
        if fitted.held_labels is None:
            found["held_labels"], found["graph_rows"] = fitted.labels, index
            if isinstance(fitted, Fitted):
                found["held_codes"] = fitted.embedding
        return replace(fitted, **found)


def tell_empty_clusters(fitted: FittedClusters, n_clusters: int, counted: CountedRows) -> Any:
    """The record, without structure if fewer rows differ than there are clusters."""
    labels = fitted.labels
    if not isinstance(labels, np.ndarray) or fitted.feature_qvalues is None:
        return fitted
    if counted.distinct.groups.max() + 1 >= n_clusters:
        return fitted
    empty = n_clusters - len(np.unique(labels))
    said = NoStructureWarning(
        f"{empty} of {n_clusters} clusters have no sample, because so few rows of X differ; lower "
        f"the number of clusters to {n_clusters - empty} or less."
    )
    others = [one for one in fitted.warnings if not isinstance(one, NoStructureWarning)]
    return replace(
        fitted,
        structure_found=False,
        feature_qvalues=np.ones_like(fitted.feature_qvalues),
        warnings=(said, *others),
    )


def place_absent(estimator: Any, data: Data, weightless: np.ndarray, rows: np.ndarray) -> None:
    """Samples of weight 0, which had no part in the fit, are where new ones would be.

    Nobody knows how sure that is: their confidence is 0, and what else is not known of new samples
    they have from those of their cluster.

    Parameters
    ----------
    estimator : ClusterBase
        Fitted on ``data`` and on samples without any value.
    data : array, CSR or MappedCSR of shape (m, d)
        Samples that have values.
    weightless : ndarray of bool of shape (m,)
        Which of these have no weight.
    rows : ndarray of int of shape (m,)
        Their places among all samples.
    """
    if not weightless.any():
        return
    new, absent = view_of(data).subset(np.flatnonzero(weightless)).X, rows[weightless]
    counts = np.zeros(len(estimator.labels_), bool)
    counts[rows[~weightless]] = True
    labels = estimator._new_rows("predict", new)
    estimator.labels_[absent] = labels
    estimator.sample_confidence_[absent] = 0
    shared = hasattr(estimator, "assignments_")
    for label in np.unique(labels):
        own, others = absent[labels == label], counts & (estimator.labels_ == label)
        if others.any():
            second = np.bincount(estimator.second_labels_[others]).argmax()
            estimator.second_labels_[own] = second
            if shared:
                estimator.assignments_[own] = estimator.assignments_[others].mean(axis=0)
    if shared:
        estimator.embedding_[absent] = estimator._new_rows("encode", new)


def counted_batch(data: Data, weights: np.ndarray | None, settings: Settings) -> View:
    """The distinct rows of a batch that count, with their weights as they are.

    All rows, as a plain view, if each counts once and none equals another.
    """
    view = view_of(data)
    found = distinct_rows(view, weights)
    if found is None or (weights is None and len(found.groups) > _MANY):
        return view
    found = enough_rows(found, settings)
    return view.subset(found.rows).weighing(found.weights)


def enough_rows(found: DistinctRows, settings: Settings) -> DistinctRows:
    """Rows repeated, each copy with its share of the weight, until a fit has what it needs.

    As many as clusters and neighbours that samples which repeat each other were asked for.
    """
    numbers = [settings.n_components, settings.n_clusters, *settings.layers]
    needed = max([2, *(one for one in numbers if isinstance(one, int))])
    if settings.builds_graph:
        needed = max(needed, settings.n_neighbors + 2)
    each = np.ones(len(found.rows)) if found.weights is None else found.weights
    times = -(-needed // len(found.rows))
    if times == 1 or each.sum() < needed:
        return found
    return found._replace(rows=np.tile(found.rows, times), weights=np.tile(each / times, times))
