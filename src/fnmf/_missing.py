"""Rows and columns without any value, and values for missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted, FittedClusters
from fnmf._settings import Settings
from fnmf.data import IncompleteView, View
from fnmf.exceptions import EmptyFeatureWarning
from fnmf.labels.known import Known

Record = TypeVar("Record", bound=FittedClusters)
# A cell with the model's own value counts beside those of the nearest rows.
_OWN = 1.0
# What is added to squared distances, as a share of their mean: equal rows do not count alone.
_SLIGHT = 0.05
_TINY = 1e-12


@dataclass(frozen=True)
class Presence:
    """Which rows and columns of the data have values.

    Attributes
    ----------
    rows, columns : ndarray of bool of shape (n,) and (d,)
        Those with any value.
    """

    rows: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, data: Any) -> Presence:
        """Of dense data."""
        step = max(1, (1 << 22) // data.shape[1])
        rows, columns = np.zeros(len(data), bool), np.zeros(data.shape[1], bool)
        for start in range(0, len(data), step):
            known = ~np.isnan(data[start : start + step])
            rows[start : start + step] = known.any(axis=1)
            columns |= known.any(axis=0)
        if not rows.any():
            raise ValueError("X has no value at all: every cell is missing.")
        return cls(rows, columns)

    def rows_with_values(self, data: Any) -> Any:
        """The data without rows that have no value."""
        return data if self.rows.all() else np.asarray(data)[self.rows]

    def settings(self, settings: Settings) -> Settings:
        """Settings for the rows with values: a graph and a start of the user's lose the others."""
        graph, init = settings.graph, settings.init
        is_sparse: bool = sp.issparse(graph)
        if is_sparse:
            graph = sp.csr_array(sp.csr_array(graph)[self.rows][:, self.rows])
        if isinstance(init, tuple):
            init = (np.asarray(init[0])[self.rows], init[1])
        return replace(settings, graph=graph, init=init)

    def all_rows(self, fitted: Record) -> Record:
        """A record with the rows that have no value: in the largest cluster, with confidence 0."""
        empty = np.flatnonzero(~self.rows)
        record = replace(fitted, rows_without_values=empty)
        if not len(empty):
            return record
        assert fitted.labels is not None
        sizes = np.argsort(-np.bincount(fitted.labels), kind="stable")
        second = fitted.second_labels
        graph, graph_rows = fitted.graph, fitted.graph_rows
        if graph_rows is not None:
            graph_rows = self._spread(graph_rows, -1)
        elif graph is not None:
            places, n, entries = np.flatnonzero(self.rows), len(self.rows), sp.coo_array(graph)
            spots = places[entries.coords[0]], places[entries.coords[1]]
            graph = sp.csr_array((entries.data, spots), (n, n))
        sure = fitted.sample_confidence
        factors: dict[str, Any] = {}
        if isinstance(fitted, Fitted):
            V, P, held = fitted.embedding, fitted.assignments, fitted.held_codes
            factors = {
                "embedding": self._spread(V, V.mean(axis=0)),
                "assignments": self._spread(P, P.mean(axis=0)),
                "held_codes": V if held is None else held,
            }
        return replace(
            record,
            **factors,
            labels=self._spread(fitted.labels, sizes[0]),
            sample_confidence=None if sure is None else self._spread(sure, 0),
            second_labels=None if second is None else self._spread(second, sizes[:2][-1]),
            graph=graph,
            graph_rows=graph_rows,
            held_labels=fitted.labels if fitted.held_labels is None else fitted.held_labels,
        )

    def all_classes(self, fitted: Any, known: Known) -> Any:
        """A guided record with the rows that have no value.

        They have the class they are labelled with; others are in the largest, and no label
        reaches them.
        """
        empty = np.flatnonzero(~self.rows)
        if not len(empty):
            return fitted
        codes = known.codes[empty]
        labels, sure = fitted.labels.copy(), fitted.sample_confidence.copy()
        told = codes >= 0
        labels[empty[told]], sure[empty[told]] = codes[told], 1
        shares = fitted.label_distributions
        sizes = np.bincount(fitted.labels[self.rows], minlength=shares.shape[1])
        own = np.where(told[:, None], np.eye(len(sizes))[codes], sizes / sizes.sum())
        places, suspicious = np.flatnonzero(self.rows), fitted.suspicious_labels.copy()
        suspicious["row"] = places[suspicious["row"]]
        violated = fitted.violated_links.copy()
        violated[:, :2] = places[violated[:, :2]]
        return replace(
            fitted,
            labels=labels,
            sample_confidence=sure,
            label_distributions=self._spread(shares, own),
            labelled=known.codes >= 0,
            reached=self._spread(fitted.reached, told),
            suspicious_labels=suspicious,
            violated_links=violated,
        )

    def _spread(self, values: np.ndarray, empty: Any) -> np.ndarray:
        out = np.empty((len(self.rows), *values.shape[1:]), values.dtype)
        out[self.rows], out[~self.rows] = values, empty
        return out

    def warnings(self, names: Sequence[Any] | None) -> tuple[Warning, ...]:
        """What the user should know of columns without any value."""
        empty = np.flatnonzero(~self.columns)
        if not len(empty):
            return ()
        shown = ", ".join(str(k if names is None else names[k]) for k in empty[:5])
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        return (
            EmptyFeatureWarning(
                f"{len(empty)} feature(s) have no value in any sample ({shown}{more}); "
                "they weigh nothing."
            ),
        )


def largest_where_empty(view: View, found: np.ndarray, fitted: FittedClusters) -> np.ndarray:
    """Clusters of new rows; those without any value go to the largest."""
    if not isinstance(view, IncompleteView) or fitted.labels is None:
        return found
    # Models of Dask arrays have labels of some rows only.
    labels = fitted.labels if fitted.held_labels is None else fitted.held_labels
    largest = int(np.bincount(labels).argmax())
    return np.where(view.has_values(), found, largest).astype(found.dtype)


def imputed(
    view: View,
    model: np.ndarray,
    kept: Any,
    missed: np.ndarray,
    near: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Rows whose missing cells are what a model says, and what it missed in the nearest rows.

    Parameters
    ----------
    view : View
        The rows.
    model : ndarray of shape (n, d)
        What the model says of them.
    kept : ndarray of shape (r, d)
        Rows of the fit, missing cells NaN.
    missed : ndarray of shape (r, d)
        What the model says of these.
    near : tuple of ndarray of shape (n, k)
        The nearest of them, and the squares of how far they are.
    """
    if not isinstance(view, IncompleteView):
        return np.array(view.X)
    out = np.array(view.X)
    gaps = np.asarray(kept, np.float64) - missed
    for i, (rows, each) in enumerate(zip(near[0], _nearer_more(near[1]), strict=True)):
        missing = np.isnan(out[i])
        if missing.any():
            beside = gaps[rows][:, missing]
            known = ~np.isnan(beside)
            shares, count = each[:, None] * known, known.sum(axis=0)
            mean = np.nansum(shares * beside, axis=0) / np.maximum(shares.sum(axis=0), _TINY)
            value = model[i, missing] + mean * count / (count + _OWN)
            out[i, missing] = np.maximum(value, 0)
    return out


def _nearer_more(distances: np.ndarray) -> np.ndarray:
    """What near rows count, (n, k): one over their squared distances."""
    squares = np.asarray(distances, np.float64)
    usual = squares.mean(axis=1, keepdims=True)
    return usual / np.maximum(squares + _SLIGHT * usual, _TINY) + _TINY
