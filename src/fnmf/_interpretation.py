"""What a fitted model can say: how good it is, what its clusters are, why a sample is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from fnmf._fitted import Fitted, FittedClusters
from fnmf._new_rows import NewRows
from fnmf.data import View, view_of
from fnmf.relevance.defaults import DEFAULTS
from fnmf.validation import check_integer


class InterpretationMixin(NewRows):
    """Methods of fitted estimators that keep a ``Fitted`` record."""

    @property
    def group_relevance_(self: Any) -> dict[str, float]:
        """Mean relevance of the features of each of ``feature_groups``, by the name of the group.

        All features of a group have the same scatter, so that it is the share of the group's.
        """
        known = getattr(self, "feature_groups", None)
        if known is None:
            raise AttributeError("there are no groups of features; pass feature_groups.")
        names, groups = np.unique(np.asarray(known).astype(str), return_inverse=True)
        relevance = np.asarray(self.feature_relevance_, np.float64)
        means = np.bincount(groups.ravel(), relevance) / np.bincount(groups.ravel())
        return dict(zip(names.tolist(), means.tolist(), strict=True))

    def describe_clusters(
        self,
        X: Any = None,
        *,
        feature_names: Sequence[Any] | None = None,
        unit: str = "samples",
        top: int = 4,
        as_frame: bool = False,
    ) -> Any:
        """Each cluster in a sentence: the features that set it apart, and how.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The data of the fit in the units to be told; as they were fitted, if not given.
        feature_names : sequence of str, default=None
            Names of the features; those seen in ``fit``, if there were any.
        unit : str, default="samples"
            What a sample is, in the plural.
        top : int, default=4
            Most features for a cluster.
        as_frame : bool, default=False
            Return a pandas data frame with a row for each feature of each cluster.

        Returns
        -------
        list of :class:`fnmf.describe.ClusterDescription`, which shows itself, or DataFrame

        Examples
        --------
        >>> from fnmf import FNMF
        >>> from fnmf.datasets import make_noisy_gaussians
        >>> X, y = make_noisy_gaussians(random_state=0)
        >>> model = FNMF(3, random_state=0).fit(X)
        >>> sorted(cluster.title for cluster in model.describe_clusters())[0]
        'high feature 1'
        """
        from fnmf.describe import describe_clusters

        check_is_fitted(self)
        model: Any = self
        fitted = model._record.of(vars(self))
        rows, labels = _rows_to_describe(fitted, X)
        if X is None and _in_other_units(model):
            rows = model._as_given(rows)
        relevant = None
        if fitted.feature_qvalues is not None:
            relevant = fitted.feature_qvalues <= DEFAULTS.small
        found = describe_clusters(
            rows,
            labels,
            feature_names=_names(self, feature_names),
            relevant=relevant,
            unit=unit,
            top=top,
        )
        return found.to_frame() if as_frame else found

    def explain(
        self,
        sample: Any,
        *,
        X: Any = None,
        feature_names: Sequence[Any] | None = None,
        top: int = 5,
        as_frame: bool = False,
    ) -> Any:
        """Why a sample is in its cluster, and what would move it to another.

        Parameters
        ----------
        sample : int or array-like of shape (n_features,)
            Position of a sample of the fit, or a row of the same features. Models of very many
            samples keep only some of them, and need the row.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The data of the fit in the units to be told; as they were fitted, if not given.
        feature_names : sequence of str, default=None
            Names of the features; those seen in ``fit``, if there were any.
        top : int, default=5
            Most features for and against.
        as_frame : bool, default=False
            Return a pandas data frame with a row for each of these features.

        Returns
        -------
        :class:`fnmf.explain.Explanation`, which shows itself, or DataFrame

        Examples
        --------
        >>> from fnmf import FNMF
        >>> from fnmf.datasets import make_noisy_gaussians
        >>> X, y = make_noisy_gaussians(random_state=0)
        >>> model = FNMF(3, random_state=0).fit(X)
        >>> why = model.explain(0)
        >>> bool(why.cluster == model.labels_[0]), len(why.nearest)
        (True, 5)
        """
        from fnmf.affinity import completed_new, kept_view
        from fnmf.execution import threads
        from fnmf.explain import Case, explained, first_samples

        check_is_fitted(self)
        check_integer("top", top, low=1)
        model: Any = self
        settings, fitted = model._settings(), model._record.of(vars(self))
        own, row = _sample(self, fitted, sample)
        kept_at = own if own is None or fitted.graph_rows is None else fitted.graph_rows[own]
        labels = fitted.labels if fitted.held_labels is None else fitted.held_labels
        assert labels is not None
        shown = None
        if X is not None and own is not None:
            rows, _ = _rows_to_describe(fitted, X)
            shown = (_row(rows, own), _kept_of(rows, fitted))
        elif _in_other_units(model):
            shown = (model._as_given(row), model._as_given(fitted.rows))
        kept = fitted.rows
        with threads(settings.n_jobs) as runner:
            view = completed_new(row, fitted, runner)
            missing = None
            if view.incomplete:
                missing, row = np.isnan(row[0]), view.exact(0, 1)
            if fitted.missing_neighbors is not None:
                kept = kept_view(fitted).exact(0, fitted.rows.shape[0])
            scheme = model._scheme(settings)
            there = scheme.comparable_rows(fitted, view, runner)
            cluster, second, sure = _clusters(model, fitted, row, own, there)
            found = explained(
                Case(
                    row,
                    there,
                    kept,
                    labels,
                    cluster,
                    second,
                    kept_at,
                    sure,
                    lambda rows: model._new_rows("predict", rows),
                    shown,
                    _names(self, feature_names),
                    top,
                    missing,
                    first_samples(fitted.graph_rows, kept.shape[0]),
                    runner=runner,
                )
            )
        return found.to_frame() if as_frame else found


def _in_other_units(model: Any) -> bool:
    """Whether a model sees its rows divided or shifted."""
    shift = getattr(model, "shift_", None)
    return getattr(model, "unit_", 1.0) != 1.0 or (shift is not None and bool(shift.any()))


def _clusters(
    model: Any, fitted: Any, row: Any, own: int | None, there: tuple[View, View]
) -> tuple[int, int, float | None]:
    """Cluster, second-best and confidence of a row."""
    if own is not None and fitted.second_labels is not None and fitted.labels is not None:
        sure = None if fitted.sample_confidence is None else float(fitted.sample_confidence[own])
        return int(fitted.labels[own]), int(fitted.second_labels[own]), sure
    cluster = int(model._new_rows("predict", row)[0])
    if isinstance(fitted, Fitted):
        code = model._new_rows("encode", row)[0].astype(np.float64)
        centres = _centres(fitted)
    else:
        # Without codes the weighted features tell, those of the rows that the model has kept.
        labels = fitted.labels if fitted.held_labels is None else fitted.held_labels
        new, kept = (view.rows(0, view.shape[0]) for view in there)
        code, centres = _dense(new)[0], _means(kept, labels)
    gaps = ((centres - code) ** 2).sum(axis=1)
    gaps[cluster] = np.inf
    return cluster, int(gaps.argmin()) if len(gaps) > 1 else cluster, None


def _centres(fitted: Fitted) -> np.ndarray:
    """Mean code of each cluster; infinitely far where it has no samples."""
    few = fitted.held_labels is not None and fitted.held_codes is not None
    labels: Any = fitted.held_labels if few else fitted.labels
    codes: Any = fitted.held_codes if few else fitted.embedding
    return _means(codes, labels)


def _means(rows: Any, labels: np.ndarray) -> np.ndarray:
    """Means of rows by label; infinitely far where there are none."""
    from fnmf.statistics import indicator

    k = int(labels.max()) + 1
    counts = np.bincount(labels, minlength=k)
    sums = _dense(indicator(labels, k, np.dtype(np.float64)) @ rows)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], np.inf)


def _dense(rows: Any) -> np.ndarray:
    is_sparse: bool = sp.issparse(rows)
    return np.asarray(rows.toarray() if is_sparse else rows, np.float64)


def _rows_to_describe(fitted: FittedClusters, X: Any) -> tuple[Any, np.ndarray]:
    """Rows in the units to be told, and their clusters."""
    if X is None:
        labels = fitted.labels if fitted.held_labels is None else fitted.held_labels
        assert labels is not None
        if fitted.graph_rows is None:
            return fitted.rows, labels
        # As often as they are there: clusters are as large as they have samples.
        at = fitted.graph_rows[fitted.graph_rows >= 0]
        return view_of(fitted.rows).subset(at).X, labels[at]
    assert fitted.labels is not None
    rows: Any = X if hasattr(X, "shape") and not hasattr(X, "columns") else np.asarray(X)
    if rows.shape[0] != len(fitted.labels):
        raise ValueError(
            f"X has {rows.shape[0]} rows, but the model was fitted on {len(fitted.labels)}; "
            "pass the data of the fit, in any units."
        )
    is_sparse: bool = sp.issparse(rows)
    return sp.csr_array(rows) if is_sparse else rows, fitted.labels


def _sample(estimator: Any, fitted: FittedClusters, sample: Any) -> tuple[int | None, Any]:
    """Position of a sample among the rows of the fit, if it is one, and its row."""
    if np.ndim(sample) == 0 and not sp.issparse(sample):
        assert fitted.labels is not None
        n = len(fitted.labels)
        at = check_integer("sample", sample, low=0)
        if at >= n:
            raise ValueError(f"sample={at} is out of range: the model was fitted on {n} samples.")
        if fitted.graph_rows is not None and fitted.graph_rows[at] >= 0:
            return at, _row(fitted.rows, int(fitted.graph_rows[at]))
        if fitted.held_labels is not None:
            raise ValueError(
                "The model keeps only some of its samples; pass the row itself as sample."
            )
        return at, _row(fitted.rows, at)
    row = sample if sp.issparse(sample) else np.atleast_2d(np.asarray(sample))
    data: Any = estimator._checked(row)
    if data.shape[0] != 1:
        raise ValueError(f"sample has {data.shape[0]} rows; explain takes one at a time.")
    return None, data


def _kept_of(rows: Any, fitted: FittedClusters) -> Any:
    """Of all rows of the fit those that the model keeps."""
    if fitted.graph_rows is None:
        return rows
    numbers, first = np.unique(fitted.graph_rows, return_index=True)
    first = first[numbers >= 0]
    return view_of(rows).subset(first[np.arange(fitted.rows.shape[0]) % len(first)]).X


def _row(rows: Any, at: int) -> Any:
    return view_of(rows).subset(np.array([at])).X


def _names(estimator: Any, given: Sequence[Any] | None) -> Sequence[Any] | None:
    return getattr(estimator, "feature_names_in_", None) if given is None else given
