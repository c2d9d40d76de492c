"""Which treatments of rows and columns make sense for a table, before any is tried."""

from collections.abc import Sequence

import numpy as np

from fnmf.relevance.sample import SampleTable

# Rows whose lengths vary by less than this share are taken as being of one length.
_EVEN = 0.01
# Where more than this share of the features never comes near 0, 0 means nothing.
_OFFSETS = 0.25
# Fewer columns than this that count, and fewer than one in so many, are too few to compare rows by.
_FEW, _MANY = 2, 4


def row_preparations(table: SampleTable) -> tuple[str, ...]:
    """Both, unless samples have one length already, or columns are measures of different things."""
    lengths = table.lengths
    if lengths.std() <= _EVEN * lengths.mean():
        return ("unit",)
    return ("own",) if _drowned(table) and _from_afar(table) else ("unit", "own")


def column_preparations(table: SampleTable, refreshes: int) -> tuple[str, ...]:
    """Units that are tried.

    Their own, unless one column drowns the others; typical values; their own again for what these
    leave; the spread, if 0 means nothing to many columns.
    """
    own = () if _drowned(table) else ("own",)
    gated = ("gated",) if refreshes else ()
    spread = ("spread",) if _from_afar(table) else ()
    return (*own, "typical", *gated, *spread)


def suited(columns: Sequence[str], rows: str) -> list[str]:
    """Units for one treatment of the rows: directions from 0 say nothing where 0 does not."""
    others = [name for name in columns if name != "spread"]
    return others if rows == "unit" and others else list(columns)


def dominated_by_few(table: SampleTable, weights: np.ndarray) -> bool:
    """Whether a column or two of many, so weighted, are nearly all of the scatter."""
    scatter = table.scatter * weights
    total = scatter.sum()
    counting = total**2 / (scatter @ scatter) if total > 0 else 0.0
    return bool(counting < min(_FEW, np.count_nonzero(scatter) / _MANY))


def _drowned(table: SampleTable) -> bool:
    return dominated_by_few(table, np.ones(table.shape[1]))


def _from_afar(table: SampleTable) -> bool:
    """Whether many features have a least value larger than their spread."""
    live = table.scatter > 0
    if table.sparse or not live.any():
        return False
    far = table.rows.min(axis=0) > table.spread
    return bool(np.mean(far[live]) > _OFFSETS)
