"""Missing and negative values: refuse them with their place, or treat them as the user chose."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf._validation import check_choice
from fnmf.io._table import Table, TableError, check_not_empty

MISSING_CHOICES = ("error", "drop", "zero", "median")
NEGATIVE_CHOICES = ("error", "shift", "abs")
_ROWS_AT_ONCE = 4096


@dataclass
class Cleaning:
    """How a table was made complete and non-negative, so that new rows can be treated alike.

    Attributes
    ----------
    missing, negative : str
        The choices made.
    fill : ndarray or None
        What a missing value of each column was replaced by.
    shift : ndarray or None
        What was added to each column.
    """

    missing: str = "error"
    negative: str = "error"
    fill: np.ndarray | None = None
    shift: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING_CHOICES)
        check_choice("negative", self.negative, NEGATIVE_CHOICES)


def clean(table: Table, cleaning: Cleaning, *, fitted: bool = False) -> None:
    """Treat missing and negative values of ``table`` in place.

    Parameters
    ----------
    table : Table
        What was read; ``X`` is replaced, rows may go.
    cleaning : Cleaning
        The choices; what was learned from the data is stored in it.
    fitted : bool, default=False
        Use what ``cleaning`` learned before, as for new rows.
    """
    if isinstance(table.X, np.ndarray) and table.X.dtype.kind not in "f":
        _check_negative(table, cleaning, fitted)
        return
    _check_missing(table, cleaning, fitted)
    _check_negative(table, cleaning, fitted)


def _check_missing(table: Table, cleaning: Cleaning, fitted: bool) -> None:
    place = _first(table.X, lambda block: ~np.isfinite(block))
    if place is None:
        if cleaning.missing == "median" and not fitted and not isinstance(table.X, sp.csr_array):
            cleaning.fill = _medians(table.X)
        return
    row, column, value = place
    if np.isinf(value):
        raise TableError(f"{table.place(row, column)}: the value is infinite; correct it.")
    if cleaning.missing == "error":
        raise TableError(
            f"{table.place(row, column)}: the value is missing; correct it, or choose "
            "--missing drop (leave such rows out), --missing median or --missing zero."
        )
    if isinstance(table.X, (sp.csr_array, np.memmap)):
        raise TableError(
            f"{table.place(row, column)}: the value is missing, and --missing works on tables in "
            "memory only; correct the file."
        )
    infinite = _first(table.X, np.isinf)
    if infinite is not None:
        raise TableError(f"{table.place(*infinite[:2])}: the value is infinite; correct it.")
    if cleaning.missing == "drop":
        complete = ~np.isnan(table.X).any(axis=1)
        table.notes.append(f"rows left out because of missing values: {int((~complete).sum())}")
        table.keep(complete)
        check_not_empty(len(table.X), len(table.names), table.path)
        return
    if not fitted or cleaning.fill is None:
        medians = cleaning.missing == "median"
        cleaning.fill = _medians(table.X) if medians else np.zeros(len(table.names))
    gaps = np.isnan(table.X)
    table.notes.append(f"missing values filled ({cleaning.missing}): {int(gaps.sum())}")
    for column in np.flatnonzero(gaps.any(axis=0)).tolist():
        table.X[gaps[:, column], column] = cleaning.fill[column]


def _check_negative(table: Table, cleaning: Cleaning, fitted: bool) -> None:
    if fitted and cleaning.shift is not None:
        _add(table, cleaning.shift)
        below = table.X < 0
        if below.any():
            table.notes.append(f"values below the training minimum, set to 0: {int(below.sum())}")
            table.X[below] = 0
        return
    place = _first(table.X, lambda block: block < 0)
    if place is None:
        if cleaning.negative == "shift" and not fitted:
            cleaning.shift = np.zeros(len(table.names))
        return
    row, column, value = place
    if cleaning.negative == "error":
        raise TableError(
            f"{table.place(row, column)}: {value:g} is negative; values of at least "
            "0 are needed. Choose --shift (move each column that has negative values up to start "
            "at 0) or --abs (drop the signs)."
        )
    if isinstance(table.X, sp.csr_array):
        if cleaning.negative == "shift":
            raise TableError(f"{table.path}: --shift would make sparse data dense; use --abs.")
        table.X = abs(table.X)
    elif cleaning.negative == "abs":
        table.X = np.abs(table.X)
    else:
        lowest = np.min(table.X, axis=0)
        cleaning.shift = np.where(lowest < 0, -lowest, 0.0)
        _add(table, cleaning.shift)
        shifted = int((cleaning.shift > 0).sum())
        table.notes.append(f"columns with negative values, moved up to start at 0: {shifted}")
        return
    table.notes.append("signs of negative values were dropped")


def _medians(X: np.ndarray) -> np.ndarray:
    # Column by column: the library's own would copy the whole table.
    return np.array([np.nanmedian(X[:, column]) for column in range(X.shape[1])])


def _add(table: Table, shift: np.ndarray) -> None:
    if isinstance(table.X, np.memmap) or table.X.dtype.kind != "f":
        table.X = np.asarray(table.X) + shift
    else:
        table.X += shift.astype(table.X.dtype, copy=False)


def _first(X: Any, wrong: Any) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry for which ``wrong`` holds, block by block."""
    if isinstance(X, sp.csr_array):
        bad = np.flatnonzero(wrong(X.data))
        if not bad.size:
            return None
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        return row, int(X.indices[bad[0]]), float(X.data[bad[0]])
    for start in range(0, len(X), _ROWS_AT_ONCE):
        block = np.asarray(X[start : start + _ROWS_AT_ONCE])
        mask = wrong(block)
        if mask.any():
            at = np.argwhere(mask)[0].tolist()
            return start + at[0], at[1], float(block[at[0], at[1]])
    return None
