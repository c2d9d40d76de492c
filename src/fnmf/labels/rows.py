"""Classes of rows that are not among those on which opinions were formed: many, or new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import Nearest, adaptive_weights, neighbors_of
from fnmf.data import IncompleteView, View
from fnmf.execution import BlockSource, RowArray, Runner
from fnmf.labels.linear import Linear
from fnmf.labels.opinions import plain_rows, said_of
from fnmf.labels.pool import log_shares, logs, pooled
from fnmf.relevance.new_rows import TransformedRows


@dataclass(frozen=True)
class ClassTables:
    """What classes of rows are read from, given their nearest rows of the r that are kept.

    Attributes
    ----------
    graph, clusters, shares : ndarray of shape (r, k)
        Log probabilities by graph and by clusters, and the pooled probabilities.
    reached : ndarray of shape (r,)
        Whether a label reaches them.
    slopes, level : ndarray of shape (d, k) and (k,)
        The linear opinion.
    weights, offsets : ndarray of shape (3,) and (k,)
        How opinions are pooled, and what class sizes add.
    spread_by : ndarray of shape (d,) or None
        Weights of the features that labels spread by, if they are not those of the fit.
    """

    graph: np.ndarray
    clusters: np.ndarray
    shares: np.ndarray
    reached: np.ndarray
    slopes: np.ndarray
    level: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray
    spread_by: np.ndarray | None

    def pooled(self, near: Nearest, by_features: np.ndarray) -> np.ndarray:
        """Probabilities (n, k) of rows from their neighbours and the linear opinion of them."""
        shares = near.shares.astype(np.float64)
        tables = (np.exp(table)[near.indices] for table in (self.graph, self.clusters))
        met = [logs(np.einsum("nk,nkc->nc", shares, table)) for table in tables]
        return np.exp(log_shares(pooled([*met, by_features], self.weights) + self.offsets))


def row_shares(
    tables: ClassTables,
    nearest: Nearest,
    by_features: RowArray,
    decided: tuple[np.ndarray, np.ndarray],
    view: View,
    runner: Runner,
) -> RowArray:
    """Probabilities (n, k) of all rows by their anchors; those of some rows are ``decided``."""
    rows, shares = decided
    place = np.full(view.shape[0], -1, np.int32)
    place[rows] = np.arange(len(rows))
    own = (*nearest, by_features, runner.spread(place, view))
    work = partial(_row_shares, tables, shares)
    return runner.map_rows(work, BlockSource(view), own, shares.shape[1:], np.float64)


def _row_shares(tables: ClassTables, decided: np.ndarray, *own: np.ndarray) -> np.ndarray:
    indices, shares, by_features, place = own
    found = tables.pooled(Nearest(indices, shares), by_features)
    here = place >= 0
    found[here] = decided[place[here]]
    return found


def reached_rows(tables: ClassTables, nearest: Nearest, view: View, runner: Runner) -> RowArray:
    """Whether a label reaches a row along its anchors, (n,)."""
    work = partial(_reached, tables.reached)
    return runner.map_rows(work, BlockSource(view), (nearest.indices,), (), bool)


def _reached(reached: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return reached[indices].any(axis=1)


def best_class(shares: RowArray, view: View, runner: Runner) -> RowArray:
    """The most probable class of each row, (n,)."""
    return _by_row(partial(np.argmax, axis=1), shares, view, runner, np.int64)


def second_class(shares: RowArray, view: View, runner: Runner) -> RowArray:
    """The second of them, (n,)."""
    return _by_row(_second, shares, view, runner, np.int64)


def confidence_of(shares: RowArray, view: View, runner: Runner) -> RowArray:
    """The probability of the most probable class, (n,)."""
    return _by_row(partial(np.max, axis=1), shares, view, runner, view.dtype)


def _second(shares: np.ndarray) -> np.ndarray:
    others = shares.copy()
    others[np.arange(len(shares)), shares.argmax(axis=1)] = -1
    return others.argmax(axis=1)


def _by_row(function: Any, shares: RowArray, view: View, runner: Runner, dtype: Any) -> RowArray:
    return runner.map_rows(function, BlockSource(view), (shares,), (), dtype)


def class_distributions(
    fitted: Any, settings: Settings, view: View, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the classes (n, k) of new rows, and whether a label reaches a row, (n,)."""
    tables = fitted.tables
    if tables.spread_by is not None:
        fitted = replace(fitted, omega=tables.spread_by[None])
    new = TransformedRows.of(fitted, view, runner)
    k = min(settings.n_neighbors, len(tables.reached) - 1)
    indices, distances = neighbors_of(new.there, k + 1, runner, queries=new.weighted)
    near = Nearest(indices[:, :k], adaptive_weights(distances))
    plain = plain_rows(view, fitted.caps, fitted.row_scale is None, runner)
    found = tables.pooled(near, said_of(Linear(tables.slopes, tables.level), plain, runner))
    # A row that the fit has seen is what it was.
    seen = distances[:, 0] == 0
    found[seen] = tables.shares[indices[seen, 0]]
    reached = tables.reached[near.indices].any(axis=1)
    if isinstance(view, IncompleteView):
        # Of a row without any value all that is known is how large the classes are.
        empty = ~view.has_values()
        labels = fitted.labels if fitted.held_labels is None else fitted.held_labels
        found[empty] = np.bincount(labels, minlength=found.shape[1]) / len(labels)
        reached[empty] = False
    return found, reached
