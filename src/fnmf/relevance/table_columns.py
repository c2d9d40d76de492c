"""Columns of a table: their kinds, which features are one column, and which have several modes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fnmf.kmeans import best_kmeans
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Kinds of columns, as ``column_kinds_`` names them; "ordinal" is given only, and an integer.
FLAG, CATEGORY, INTEGER, CONTINUOUS, CONSTANT = (
    "flag",
    "category",
    "integer",
    "continuous",
    "constant",
)


def column_kinds(
    rows: np.ndarray,
    groups: np.ndarray,
    defaults: Defaults = DEFAULTS,
    given: np.ndarray | None = None,
) -> np.ndarray:
    """The kind of every feature, (d,) strings; those that are ``given``, not "", are not found.

    Missing cells are NaN. ``"flag"``: two values; ``"category"``: one of several 0/1 features
    that exclude each other; ``"integer"``: few whole numbers; ``"constant"``; all others are
    ``"continuous"``.
    """
    members, missing = np.eye(groups.max(initial=0) + 1)[groups], np.isnan(rows)
    totals, known = np.where(missing, 0, rows) @ members, missing @ members == 0
    highest = totals.max(axis=0, where=known, initial=-np.inf)
    exclusive = (highest == totals.min(axis=0, where=known, initial=np.inf))[groups]
    kinds: list[str] = []
    asked = np.full(len(groups), "") if given is None else given
    for values, one_of, kind in zip(rows.T, exclusive, asked, strict=True):
        levels = np.unique(values[~np.isnan(values)])
        if len(levels) < 2:
            kinds.append(CONSTANT)
        elif kind:
            kinds.append(_possible(str(kind), len(levels), len(kinds)))
        elif len(levels) == 2:
            kinds.append(CATEGORY if one_of else FLAG)
        elif len(levels) <= defaults.integer_levels and np.all(levels == np.round(levels)):
            kinds.append(INTEGER)
        else:
            kinds.append(CONTINUOUS)
    return np.array(kinds)


def _possible(kind: str, n_levels: int, feature: int) -> str:
    """A kind that was given, for a feature of so many levels."""
    if n_levels <= {CONSTANT: 1, FLAG: 2, CATEGORY: 2}.get(kind, n_levels):
        return kind
    remedy = "leave it out of column_kinds"
    if kind == CATEGORY:
        remedy = (
            "pass a frame of pandas or Polars, of which categories become a 0/1 feature for each "
            "level, or encode it with sklearn.preprocessing.OneHotEncoder"
        )
    raise ValueError(
        f"column_kinds calls feature {feature} {kind}, but it has {n_levels} values; {remedy}."
    )


def column_groups(
    rows: np.ndarray, defaults: Defaults = DEFAULTS, known: np.ndarray | None = None
) -> np.ndarray:
    """The column that each feature belongs to, (d,), numbered from 0.

    Features of one category (0/1, exactly one of them in every row) are one column, and so are
    features that are nearly copies of each other. Those that are ``known`` to be one stay so.
    """
    groups = np.arange(rows.shape[1]) if known is None else known.copy()
    for members in _one_hot(rows):
        groups[np.isin(groups, groups[members])] = groups[members[0]]
    return related_columns(rows, groups, 1 - defaults.negligible)


def related_columns(rows: np.ndarray, groups: np.ndarray, least: float) -> np.ndarray:
    """``groups``, those with features that correlate by more than ``least`` joined, (d,)."""
    groups = groups.copy()
    # Missing cells are at the mean, where they say nothing.
    centred = np.nan_to_num(rows - np.nanmean(rows, axis=0))
    lengths = np.linalg.norm(centred, axis=0)
    centred /= np.where(lengths > 0, lengths, 1)
    first, second = np.nonzero(np.triu(np.abs(centred.T @ centred) > least, 1))
    for one, other in zip(first, second, strict=True):
        groups[groups == groups[other]] = groups[one]
    return np.unique(groups, return_inverse=True)[1]


def _one_hot(rows: np.ndarray) -> list[np.ndarray]:
    """Sets of 0/1 features of which every row has exactly one, wherever they stand."""
    missing = np.isnan(rows)
    rows = np.where(missing, 0, rows)
    binary = np.flatnonzero(((rows == 0) | (rows == 1)).all(axis=0) & (np.ptp(rows, axis=0) > 0))
    apart = rows[:, binary].T @ rows[:, binary] == 0
    # A row says nothing about features that it has no value of.
    covered = np.where(missing, 1, rows)[:, binary]
    found: list[np.ndarray] = []
    free = np.ones(len(binary), bool)
    for first in range(len(binary)):
        if free[first]:
            free[first] = False
            members = _cover(covered, apart, first, free)
            if len(members) > 2:
                found.append(binary[members])
                free[members] = False
    return found


def _cover(covered: np.ndarray, apart: np.ndarray, first: int, free: np.ndarray) -> list[int]:
    """``first`` and free features apart from each other that cover all rows; empty if none do.

    The row that the fewest of them cover says which one is next.
    """
    members, fits = [first], free & apart[first]
    without = covered[:, first] == 0
    counts = covered @ fits
    while without.any():
        row = int(np.argmin(np.where(without, counts, np.inf)))
        if counts[row] == 0:
            return []
        chosen = int(np.argmax(fits & (covered[row] > 0)))
        lost = fits & ~apart[chosen]
        lost[chosen] = True
        members.append(chosen)
        fits &= ~lost
        counts -= covered[:, lost].sum(axis=1)
        without &= covered[:, chosen] == 0
    return sorted(members)


def share_units(
    known: np.ndarray, groups: np.ndarray, kinds: np.ndarray, defaults: Defaults
) -> bool:
    """Whether columns are many and nearly all that varies is of one unit, as pixels are."""
    levels = kinds == CATEGORY
    if np.count_nonzero(~levels) + len(np.unique(groups[levels])) < defaults.pixels:
        return False
    lowest, widths = np.nanmin(known, axis=0), ranges(known)
    usual = float(np.median(widths))
    together = np.abs(widths - usual) <= defaults.half * usual
    together &= np.abs(lowest - np.median(lowest)) <= defaults.slight * usual
    scatter = np.nanvar(known, axis=0)
    return bool(scatter @ together >= (1 - defaults.small) * scatter.sum())


def ranges(rows: np.ndarray) -> np.ndarray:
    """Largest less smallest value of each column, missing cells left out, (d,)."""
    return np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0)


def has_modes(
    values: np.ndarray, n_clusters: int, seed: int, defaults: Defaults = DEFAULTS
) -> bool:
    """Whether a continuous column falls into groups that all stand apart, with few rows between.

    Neighbouring groups of k-means on the single column are compared: how far apart their means are
    in units of their standard deviations, and how many rows lie half-way between their medians
    instead of about these.
    """
    rng = np.random.RandomState(seed)
    # A group is certain by its rows, and so many groups have that many rows each at most.
    most = min(n_clusters, int(len(values) / defaults.beyond_chance**2))
    for parts in range(2, most + 1):
        labels = best_kmeans(values[:, None], parts, rng, defaults.starts)
        groups = sorted((values[labels == a] for a in np.unique(labels)), key=np.median)
        pairs = list(pairwise(groups))
        if pairs and all(_separated(one, other, values, defaults) for one, other in pairs):
            return True
    return False


def _separated(one: np.ndarray, other: np.ndarray, values: np.ndarray, defaults: Defaults) -> bool:
    """Whether two groups of values have a valley between them, beyond chance."""
    peak, valley = peak_and_valley(one, other, values, defaults)
    deep = peak - valley > defaults.clear * np.sqrt(max(peak + valley, 1.0))
    apart = other.mean() - one.mean() > defaults.clear * (one.std() + other.std())
    return bool(deep and apart)


def peak_and_valley(
    one: np.ndarray,
    other: np.ndarray,
    values: np.ndarray,
    defaults: Defaults = DEFAULTS,
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """How many values lie about the medians of two groups, the fewer, and half-way between them."""
    low, high = np.median(one), np.median(other)
    width = 2 * defaults.small * abs(high - low)
    counts = np.ones(len(values)) if weights is None else weights
    left, valley, right = (
        float(counts @ (np.abs(values - place) <= width)) for place in (low, (low + high) / 2, high)
    )
    return min(left, right), valley
