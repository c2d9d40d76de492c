"""Equal rows, found by a hash of their values, and kept once with how often they are there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fnmf.data._open import view_of
from fnmf.data._views import View, drawn

# Rows and columns that tell whether a full look for equal rows is worth it.
_SCREENED, _COLUMNS, _PROBES = 100_000, 32, 64
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


def row_keys(
    view: View, rows: np.ndarray | None = None, columns: np.ndarray | None = None
) -> np.ndarray:
    """A number for each row that depends on its values alone, dense or CSR; mostly another one."""
    if rows is not None:
        view = view.subset(rows)
    keys = np.zeros(view.shape[0], np.uint64)
    for start, stop in view.few():
        values, *pattern = view.stored(start, stop)
        if pattern:
            indices, pointers = pattern
            sums = np.zeros(len(values) + 1, np.uint64)
            np.cumsum(_mixed(_bits(values), indices), out=sums[1:])
            keys[start:stop] = np.diff(sums[pointers - pointers[0]])
        else:
            own = np.arange(values.shape[1]) if columns is None else columns
            mixed = _mixed(_bits(values if columns is None else values[:, own]), own)
            keys[start:stop] = mixed.sum(axis=1, dtype=np.uint64)
    return keys


def repeats(view: View) -> bool:
    """Whether some rows are equal; of very many a sample is looked at."""
    n, d = view.shape
    if n > _SCREENED:
        view = view.subset(drawn(n, _SCREENED // 5, np.random.RandomState(0)))
        n = view.shape[0]
    if view.sparse or d <= _COLUMNS:
        return len(np.unique(row_keys(view))) < n
    probes = view.take(np.linspace(0, n - 1, min(n, _PROBES), dtype=np.int64))
    telling = np.argsort(-np.count_nonzero(probes != probes[0], axis=0), kind="stable")[:_COLUMNS]
    _, groups, counts = np.unique(
        row_keys(view, columns=np.sort(telling)), return_inverse=True, return_counts=True
    )
    # Only rows that agree in the columns that tell most can be equal.
    candidates = np.flatnonzero(counts[groups.ravel()] > 1)
    return len(np.unique(row_keys(view, candidates))) < len(candidates)


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


def _bits(values: np.ndarray) -> np.ndarray:
    """Double precision as integers; there is one zero and one number that is none."""
    values = np.add(values, 0.0, dtype=np.float64)
    values[np.isnan(values)] = np.nan
    return np.ascontiguousarray(values).view(np.uint64)


def _mixed(bits: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Steele, Lea and Flood's mix of 64 bits, other for every column."""
    z = bits + (columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # Zeros have no part, so that CSR gives the same as dense rows.
    return np.where(bits == 0, np.uint64(0), z ^ (z >> np.uint64(31)))
