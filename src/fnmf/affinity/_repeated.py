"""Nearest rows where many repeat each other: searched among the distinct ones.

Rows that are equal are all equally near to any other, and no score tells which of them come first:
the search would measure every pair.
"""

import numpy as np

from fnmf.affinity._exact import Found, Frame, exact_neighbors
from fnmf.data import View, spans
from fnmf.execution import Runner

# Rows whose lists are made together.
_ROWS = 1024


def neighbors_among_repeated(
    references: View,
    first: np.ndarray,
    groups: np.ndarray,
    k: int,
    frame: Frame,
    runner: Runner,
) -> Found:
    """The k nearest other rows of each, as ``exact_neighbors`` has them.

    Parameters
    ----------
    references : View
        All rows.
    first, groups : ndarray of int of shape (r,) and (n,)
        Where the distinct rows are, and which of them each row is, both in the order of the rows.
    k : int
        Neighbours.
    frame : Frame
        Of all rows.
    runner : Runner
        Works through the blocks.
    """
    n, count = len(groups), min(k, len(first) - 1)
    near, far = np.empty((len(first), 0), np.int64), np.empty((len(first), 0))
    if count:
        some, rows = references.subset(first), np.arange(len(first))
        near, far = exact_neighbors(some, some, rows, rows, count, frame, runner)
    members, distances = _members(groups, near, far, k + 1)
    indices, gaps = np.empty((n, k), np.int64), np.empty((n, k))
    for a, b in spans(n, _ROWS):
        # A row has no part in its own list.
        own = members[groups[a:b]] == np.arange(a, b)[:, None]
        place = np.where(own.any(axis=1), own.argmax(axis=1), k)
        columns = np.arange(k) + (np.arange(k) >= place[:, None])
        indices[a:b] = members[groups[a:b, None], columns]
        gaps[a:b] = distances[groups[a:b, None], columns]
    return indices, gaps


def _members(
    groups: np.ndarray, near: np.ndarray, far: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` rows nearest to each distinct row, itself included, and their distances."""
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    starts, most = np.cumsum(sizes) - sizes, np.minimum(sizes, count)
    members, distances = np.empty((len(sizes), count), np.int64), np.empty((len(sizes), count))
    for group in range(len(sizes)):
        chosen, gaps = np.append(group, near[group]), np.append(0.0, far[group])
        # All that are as near as the last one needed: of these the first rows count.
        last = gaps[np.searchsorted(np.cumsum(most[chosen]), count)]
        chosen = chosen[: np.searchsorted(gaps, last, side="right")]
        rows = np.concatenate([order[starts[one] :][: most[one]] for one in chosen])
        each = np.repeat(gaps[: len(chosen)], most[chosen])
        best = np.lexsort((rows, each))[:count]
        members[group], distances[group] = rows[best], each[best]
    return members, distances
