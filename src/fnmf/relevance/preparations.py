"""What is known of features before any clusters are.

Which treatments of rows and columns make sense; which features repeat others: duplicates share one
weight, correlated ones begin with less.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.sample import SampleTable
from fnmf.statistics import CONSTANT

# Bounds working memory; sums by column do not depend on it.
_COLUMNS_AT_ONCE = 4096
# Copies agree along so many random directions, to one part in so many of their length.
_PROBES, _PRECISION = 6, 1e4


def row_preparations(table: SampleTable, defaults: Defaults = DEFAULTS) -> tuple[str, ...]:
    """Both, unless samples have one length already, or columns are measures of different things."""
    lengths = table.lengths
    if lengths.std() <= defaults.negligible * lengths.mean():
        return ("unit",)
    return (
        ("own",)
        if _one_dominates(table, defaults) and _zero_is_arbitrary(table, defaults)
        else ("unit", "own")
    )


def column_preparations(
    table: SampleTable, refreshes: int, defaults: Defaults = DEFAULTS, *, signed: bool = False
) -> tuple[str, ...]:
    """Units that are tried.

    Their own, unless one column drowns the others; typical values; their own again for what these
    leave; the spread, if 0 means nothing to many columns. ``signed`` columns have no typical value.
    """
    own = () if _one_dominates(table, defaults) else ("own",)
    if signed:
        return (*own, "spread")
    gated = ("gated",) if refreshes else ()
    spread = ("spread",) if _zero_is_arbitrary(table, defaults) else ()
    return (*own, "typical", *gated, *spread)


def suited(columns: Sequence[str], rows: str) -> list[str]:
    """Units for one treatment of the rows: directions from 0 say nothing where 0 does not."""
    others = [name for name in columns if name != "spread"]
    return others if rows == "unit" and others else list(columns)


def dominated_by_few(
    table: SampleTable, weights: np.ndarray, defaults: Defaults = DEFAULTS
) -> bool:
    """Whether a column or two of many, so weighted, are nearly all of the scatter."""
    scatter = table.scatter * weights
    total = scatter.sum()
    counting = total**2 / (scatter @ scatter) if total > 0 else 0.0
    limit = min(2, defaults.minor * np.count_nonzero(scatter))
    return bool(counting < limit)


def _one_dominates(table: SampleTable, defaults: Defaults) -> bool:
    return dominated_by_few(table, np.ones(table.shape[1]), defaults)


def _zero_is_arbitrary(table: SampleTable, defaults: Defaults) -> bool:
    """Whether many features have a least value larger than their spread."""
    live = table.scatter > 0
    if table.sparse or not live.any():
        return False
    far = table.rows.min(axis=0) > table.spread
    return bool(np.mean(far[live]) > defaults.minor)


def duplicate_groups(table: SampleTable, known: np.ndarray | None = None) -> np.ndarray:
    """The group of each feature, (d,): those equal up to a factor and a shift share one.

    So do those that are ``known`` to, if any are; copies are then not looked for.
    """
    if known is not None:
        return known
    table = table.complete()
    live, scale = _standard(table)
    probes = np.random.RandomState(0).normal(size=(table.shape[0], _PROBES))
    probes -= probes.mean(axis=0)
    along = np.asarray(table.rows.T @ probes.astype(np.float32), np.float64) * scale[:, None]
    # The number of a constant feature keeps it apart from all others.
    own = np.where(live, -1, np.arange(len(live)))
    names = np.column_stack([np.round(along * _PRECISION), own])
    return np.unique(names, axis=0, return_inverse=True)[1].ravel()


def duplicate_weights(groups: np.ndarray) -> np.ndarray:
    """One over the number of copies of each feature."""
    return 1.0 / np.bincount(groups)[groups]


class Redundancy(NamedTuple):
    """How features go with others.

    Attributes
    ----------
    independence : ndarray of shape (d,)
        1 / Σ_l ρ_kl², the share of each feature in what its relatives tell together.
    related : ndarray of bool of shape (d,)
        Whether the sum is larger than features without relatives would have it.
    """

    independence: np.ndarray
    related: np.ndarray


def redundancy(table: SampleTable, defaults: Defaults = DEFAULTS) -> Redundancy:
    """Correlations of every feature with all others.

    Chance alone adds (d − 1)/n to the sum of squares, which is taken off, with a standard deviation
    of √(2 (d − 1))/n.
    """
    step = max(1, table.shape[0] // defaults.correlation_rows)
    # Rows count once each: how features are related does not depend on how often a row repeats.
    few = replace(table.complete(), rows=table.rows[::step], weights=None)
    live, scale = _standard(few)
    n, d = few.shape
    products = _row_products(few, scale)
    found = np.empty(d)
    for start in range(0, d, _COLUMNS_AT_ONCE):
        part = slice(start, start + _COLUMNS_AT_ONCE)
        columns = few.rows[:, part] if not few.sparse else few.rows[:, part].toarray()
        found[part] = np.einsum("ik,ik->k", columns, products @ columns) * scale[part] ** 2
    others = max(int(np.count_nonzero(live)) - 1, 0)
    sums = found - others / n
    related = live & (sums - 1 > defaults.significant * np.sqrt(2 * others) / n)
    return Redundancy(np.where(live, 1 / np.maximum(sums, 1), 1), related)


def _standard(table: SampleTable) -> tuple[np.ndarray, np.ndarray]:
    """Which features vary, and one over the lengths of these about their means."""
    energy = table.scatter + table.shape[0] * table.mean**2
    live = table.scatter > CONSTANT * energy
    return live, np.where(live, 1 / np.sqrt(np.where(live, table.scatter, 1)), 0)


def _row_products(table: SampleTable, scale: np.ndarray) -> Any:
    """Products of the standardised rows, (n, n); all its rows sum to 0."""
    squares = (scale**2).astype(np.float32)
    rows = table.rows.multiply(squares).tocsr() if table.sparse else table.rows * squares
    products = rows @ table.rows.T
    products = products if isinstance(products, np.ndarray) else products.toarray()
    along = np.asarray(rows @ table.mean.astype(np.float32))
    length = np.float32(table.mean**2 @ scale**2)
    return products - along[:, None] - along + length
