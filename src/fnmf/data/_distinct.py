"""Equal rows, kept once with how often they are there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fnmf.data._open import view_of
from fnmf.data._repeats import repeats, row_keys
from fnmf.data._views import View

# Pairs of rows that are compared at a time.
_PAIRS = 2048


class DistinctRows(NamedTuple):
    """Rows that differ from each other.

    Attributes
    ----------
    rows : ndarray of int of shape (r,)
        Where they are. Their order depends on their values alone; if each is there once and counts
        once, it is the order in which they are given.
    weights : ndarray of shape (r,) or None
        How much each counts; ``None`` if all count once.
    groups : ndarray of int of shape (n,)
        For every row the one of these that it equals, -1 for those that do not count.
    """

    rows: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray


def distinct_rows(
    view: View, weights: np.ndarray | None = None, batch: np.ndarray | None = None
) -> DistinctRows | None:
    """The distinct rows of a view as it is stored; ``None`` if every row is one and counts once.

    Equal rows of several batches stay apart.
    """
    n = view.shape[0]
    if weights is None and not repeats(view):
        return None
    counting = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    keys = row_keys(view)[counting]
    within = np.zeros(n, np.int64) if batch is None else batch
    order = np.lexsort((within[counting], keys))
    places = counting[order]
    first = np.ones(len(places), bool)
    first[1:] = (np.diff(keys[order]) != 0) | (np.diff(within[places]) != 0)
    alike = np.flatnonzero(~first)
    first[alike] = ~_equal(view, places[alike - 1], places[alike])
    begins = np.flatnonzero(first)
    own = np.ones(len(places)) if weights is None else weights[places]
    sums = np.add.reduceat(own, begins)
    groups = np.full(n, -1, np.int64)
    groups[places] = np.cumsum(first) - 1
    if len(begins) == len(places) and np.all(sums == 1):
        if len(counting) == n:
            return None
        groups[counting] = np.arange(len(counting))
        return DistinctRows(counting, None, groups)
    return DistinctRows(places[begins], sums, groups)


def repeated_rows(view: View) -> tuple[np.ndarray, np.ndarray] | None:
    """The distinct rows of a view as it is scaled, and which of them each row is, both in order.

    ``None`` if more than half of the rows are distinct.
    """
    n = view.shape[0]
    some = _keys(view.take(np.arange(0, n, max(n // _PAIRS, 1))))
    if len(np.unique(some)) == len(some):
        return None
    parts = view.few()
    keys = np.concatenate([_keys(view.exact(a, b)) for a, b in parts])
    _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
    if 2 * len(first) > n or any(
        abs(view.exact(a, b) - view.take(first[groups[a:b]])).max() > 0 for a, b in parts
    ):
        return None
    order = np.argsort(first)
    return first[order], np.argsort(order)[groups]


def _keys(rows: Any) -> np.ndarray:
    """Keys of some rows of a view, which are our own."""
    if not isinstance(rows, np.ndarray):
        rows.eliminate_zeros()
    return row_keys(view_of(rows))


def as_counts(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights with a mean of at least 1; ``None`` if there are none."""
    return weights if weights is None or weights.mean() >= 1 else weights / weights.mean()


def _equal(view: View, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which pairs of rows are equal; missing cells equal each other."""
    found = np.empty(len(one), bool)
    for start in range(0, len(one), _PAIRS):
        span = slice(start, start + _PAIRS)
        first, second = view.take(one[span]), view.take(other[span])
        if view.sparse:
            found[span] = np.diff((first != second).tocsr().indptr) == 0
        else:
            same = (first == second) | (np.isnan(first) & np.isnan(second))
            found[span] = same.all(axis=1)
    return found
