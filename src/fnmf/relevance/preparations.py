"""Which treatments of rows and columns make sense; which features are copies, or say nothing."""

from collections.abc import Sequence

import numpy as np

from fnmf.kmeans import principal_kmeans
from fnmf.relevance.candidates import standard_scales
from fnmf.relevance.crossfit import explained_beyond_chance
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.sample import SampleTable

# Copies agree along so many random directions, to one part in so many of their length.
_PROBES, _PRECISION = 6, 1e4


def row_preparations(table: SampleTable, defaults: Defaults = DEFAULTS) -> tuple[str, ...]:
    """Both, unless samples have one length already, or columns are measures of different things.

    Nobody knows how long samples are that have few features, of which some are missing.
    """
    lengths = table.lengths
    if lengths.std() <= defaults.negligible * lengths.mean():
        return ("unit",)
    unsure = table.observed is not None and table.shape[1] <= defaults.table_columns
    different = _one_dominates(table, defaults) and _zero_is_arbitrary(table, defaults)
    return ("own",) if unsure or different else ("unit", "own")


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
    live, scale = standard_scales(table)
    probes = np.random.RandomState(0).normal(size=(table.shape[0], _PROBES))
    probes -= probes.mean(axis=0)
    along = np.asarray(table.rows.T @ probes.astype(np.float32), np.float64) * scale[:, None]
    # The number of a constant feature keeps it apart from all others.
    own = np.where(live, -1, np.arange(len(live)))
    names = np.column_stack([np.round(along * _PRECISION), own])
    return np.unique(names, axis=0, return_inverse=True)[1].ravel()


def unexplained_flags(
    table: SampleTable, n_clusters: int, seed: int, defaults: Defaults = DEFAULTS
) -> np.ndarray:
    """Which flags among many other features say nothing about clusters of these, (d,) bool.

    Rows that agree in a flag are near each other whatever it means. Where flags are the rule, as
    in black and white images, they are features like any other.
    """
    nothing = np.zeros(table.shape[1], bool)
    if table.sparse:
        return nothing
    high = table.rows.max(axis=0)
    share = table.mean / np.where(high > 0, high, 1)
    parts = ((table.rows[:, part], high[part]) for part in table.parts())
    two = np.concatenate([((own == 0) | (own == top)).all(axis=0) for own, top in parts])
    flags = (np.minimum(share, 1 - share) > defaults.slight) & two
    others = (table.scatter > 0) & ~flags
    if not flags.any() or np.count_nonzero(flags) > np.count_nonzero(others):
        return nothing
    rows = (table.rows[:, others] - table.mean[others]) / table.spread[others]
    labels = principal_kmeans(rows, n_clusters, seed, defaults.starts, table.weights)
    return flags & (explained_beyond_chance(table, labels, n_clusters, defaults)[0] == 0)
