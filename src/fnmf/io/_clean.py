"""Missing and negative values: refuse them with their place, or treat them as the user chose."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._messages import Note, TableError, listed, report
from fnmf.io._table import Table, check_not_empty
from fnmf.validation import check_choice

MISSING_CHOICES = ("error", "keep", "drop", "zero", "median")
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


def clean(
    table: Table,
    cleaning: Cleaning,
    *,
    fitted: bool = False,
    typical: np.ndarray | None = None,
    problems: list[TableError] | None = None,
) -> None:
    """Treat missing and negative values of ``table`` in place.

    Parameters
    ----------
    table : Table
        What was read; ``X`` is replaced, rows may go.
    cleaning : Cleaning
        The choices; what was learned from the data is stored in it.
    fitted : bool, default=False
        Use what ``cleaning`` learned before, as for new rows.
    typical : ndarray of shape (n_features,), default=None
        What fills missing cells in place of the median; the median where it is NaN.
    problems : list, default=None
        Collects what the choices do not cover. By default all of it is raised together.
    """
    found: list[TableError] = []
    if not isinstance(table.X, np.ndarray) or table.X.dtype.kind == "f":
        _infinite(table, found)
        # Where a value is infinite nothing is filled, but gaps are told all the same.
        if not found or cleaning.missing == "error":
            _missing(table, cleaning, fitted, typical, found)
    _negative(table, cleaning, fitted, found)
    report(found, problems)


def _infinite(table: Table, found: list[TableError]) -> None:
    place = _first(table.X, np.isinf)
    if place is not None:
        text = f"{table.place(*place[:2])}: the value is infinite"
        found.append(TableError(text, "infinite", column=table.names[place[1]]))


def _missing(
    table: Table,
    cleaning: Cleaning,
    fitted: bool,
    typical: np.ndarray | None,
    found: list[TableError],
) -> None:
    place = _first(table.X, np.isnan)
    in_memory = not isinstance(table.X, (sp.csr_array, np.memmap))
    if place is None:
        if cleaning.missing == "median" and not fitted and in_memory:
            cleaning.fill = _fills(table.X, typical)
        return
    where = f"{table.place(*place[:2])}: the value is missing"
    if cleaning.missing == "error":
        found.append(TableError(where + _more(table, np.isnan), "missing"))
        return
    if cleaning.missing == "keep":
        count = _count(table.X, np.isnan)
        text = f"{count:,} missing {'cell stays' if count == 1 else 'cells stay'} missing"
        why = "the fit leaves them out, and nothing has to be made up"
        table.notes.append(Note(text, "kept", why=why))
        return
    if not in_memory:
        found.append(
            TableError(f"{where}, and it can be filled in tables in memory only; correct the file")
        )
        return
    if cleaning.missing == "drop":
        complete = ~np.isnan(table.X).any(axis=1)
        dropped = int((~complete).sum())
        table.notes.append(Note(f"rows left out because of missing cells: {dropped}"))
        table.keep(complete)
        check_not_empty(len(table.X), len(table.names), table.path)
        return
    if not fitted or cleaning.fill is None:
        medians = cleaning.missing == "median"
        cleaning.fill = _fills(table.X, typical) if medians else np.zeros(len(table.names))
    gaps = np.isnan(table.X)
    columns = np.flatnonzero(gaps.any(axis=0)).tolist()
    by = "the median of their column" if cleaning.missing == "median" else "0"
    if typical is not None and np.isfinite(typical[columns]).any():
        by += ", categories by the most frequent one"
    text = f"{int(gaps.sum()):,} missing cells are filled by {by}"
    table.notes.append(Note(text, "filled", why="the fit needs a value in every cell"))
    for column in columns:
        table.X[gaps[:, column], column] = cleaning.fill[column]


def _negative(table: Table, cleaning: Cleaning, fitted: bool, found: list[TableError]) -> None:
    if fitted and cleaning.shift is not None:
        if not cleaning.shift.any() and _first(table.X, lambda block: block < 0) is None:
            return
        if isinstance(table.X, sp.csr_array):
            found.append(TableError(f"{table.path}: a shift would make sparse data dense"))
            return
        _add(table, cleaning.shift)
        below = table.X < 0
        if below.any():
            text = f"values below the training minimum, set to 0: {int(below.sum())}"
            table.notes.append(Note(text))
            table.X[below] = 0
        return
    place = _first(table.X, lambda block: block < 0)
    if place is None:
        if cleaning.negative == "shift" and not fitted:
            cleaning.shift = np.zeros(len(table.names))
        return
    row, column, value = place
    if cleaning.negative == "error":
        text = f"{table.place(row, column)}: {value:g} is negative; values of at least 0 are needed"
        found.append(TableError(text + _more(table, lambda block: block < 0), "negative"))
        return
    if isinstance(table.X, sp.csr_array):
        if cleaning.negative == "shift":
            found.append(TableError(f"{table.path}: a shift would make sparse data dense", "abs"))
            return
        table.X = abs(table.X)
    elif cleaning.negative == "abs":
        table.X = np.abs(table.X)
    else:
        lowest = np.fmin.reduce(table.X, axis=0)
        cleaning.shift = np.where(lowest < 0, -lowest, 0.0)
        _add(table, cleaning.shift)
        moved = [table.names[k] for k in np.flatnonzero(cleaning.shift > 0)]
        text = f"columns with negative values are moved up to start at 0: {listed(moved)}"
        why = "the fit needs values from 0; results are told in the units of the file"
        table.notes.append(Note(text, "shifted", why=why))
        return
    table.notes.append(Note("signs of negative values were dropped"))


def _fills(X: np.ndarray, typical: np.ndarray | None) -> np.ndarray:
    # Column by column: the library's own would copy the whole table.
    medians = np.array([_median(X[:, column]) for column in range(X.shape[1])])
    return medians if typical is None else np.where(np.isnan(typical), medians, typical)


def _median(column: np.ndarray) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if known.size else 0.0


def _add(table: Table, shift: np.ndarray) -> None:
    if isinstance(table.X, np.memmap) or table.X.dtype.kind != "f":
        table.X = np.asarray(table.X) + shift
    else:
        table.X += shift.astype(table.X.dtype, copy=False)


def _more(table: Table, wrong: Any) -> str:
    """How many further entries are wrong."""
    count = _count(table.X, wrong)
    return f" (the first of {count})" if count > 1 else ""


def _count(X: Any, wrong: Any) -> int:
    """Number of entries for which ``wrong`` holds, block by block."""
    if isinstance(X, sp.csr_array):
        return int(wrong(X.data).sum())
    blocks = range(0, len(X), _ROWS_AT_ONCE)
    return sum(int(wrong(np.asarray(X[i : i + _ROWS_AT_ONCE])).sum()) for i in blocks)


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
