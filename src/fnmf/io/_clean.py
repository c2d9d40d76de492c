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
    _, place = _find(table.X, np.isinf)
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
    choice = cleaning.missing
    count, place = _find(table.X, np.isnan)
    in_memory = not isinstance(table.X, (sp.csr_array, np.memmap))
    learned = fitted and cleaning.fill is not None
    if in_memory and not learned and (choice == "median" or (choice == "zero" and count)):
        cleaning.fill = _fills(table.X, typical, choice)
    if place is None:
        return
    count -= _repeated_gaps(table)
    where = f"{table.place(*place[:2])}: the value is missing"
    if choice == "error":
        found.append(TableError(where + _more(count), "missing"))
    elif choice == "keep":
        text = f"{count:,} missing {'cell stays' if count == 1 else 'cells stay'} missing"
        why = "the fit leaves them out, and nothing has to be made up"
        table.notes.append(Note(text, "kept", why=why))
    elif not in_memory:
        found.append(
            TableError(f"{where}, and it can be filled in tables in memory only; correct the file")
        )
    elif choice == "drop":
        complete = ~np.isnan(table.X).any(axis=1)
        dropped = int((~complete).sum())
        table.notes.append(Note(f"rows left out because of missing cells: {dropped}"))
        table.keep(complete)
        check_not_empty(len(table.X), len(table.names), table.path)
    else:
        assert cleaning.fill is not None
        gaps = np.isnan(table.X)
        columns = np.flatnonzero(gaps.any(axis=0)).tolist()
        by = "the median of their column" if choice == "median" else "0"
        if typical is not None and np.isfinite(typical[columns]).any():
            by += ", categories by the most frequent one"
        text = f"{count:,} missing {'cell is' if count == 1 else 'cells are'} filled by {by}"
        table.notes.append(Note(text, "filled", why="the fit needs a value in every cell"))
        for column in columns:
            table.X[gaps[:, column], column] = cleaning.fill[column]


def _repeated_gaps(table: Table) -> int:
    """How many gaps of features are those of another feature of the same column of the file."""
    if not table.sources:
        return 0
    columns = [table.sources.get(name) for name in table.names]
    later = [k for k, name in enumerate(columns) if name is not None and name in columns[:k]]
    return int(np.count_nonzero(np.isnan(table.X[:, later])))


def _fills(X: np.ndarray, typical: np.ndarray | None, choice: str) -> np.ndarray:
    """What fills each column."""
    if choice == "zero":
        return np.zeros(X.shape[1])
    # Column by column: the library's own would copy the whole table.
    medians = np.array([_median(X[:, column]) for column in range(X.shape[1])])
    return medians if typical is None else np.where(np.isnan(typical), medians, typical)


def _median(column: np.ndarray) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if known.size else 0.0


def _negative(table: Table, cleaning: Cleaning, fitted: bool, found: list[TableError]) -> None:
    sparse = isinstance(table.X, sp.csr_array)
    learned = cleaning.shift if fitted else None
    count, place = _find(table.X, lambda block: block < 0)
    if place is None and (learned is None or not learned.any()):
        if cleaning.negative == "shift" and not fitted:
            cleaning.shift = np.zeros(len(table.names))
    elif learned is None and cleaning.negative == "error":
        assert place is not None
        text = (
            f"{table.place(*place[:2])}: {place[2]:g} is negative; values of at least 0 are needed"
        )
        found.append(TableError(text + _more(count), "negative"))
    elif learned is None and cleaning.negative == "abs":
        table.X = abs(table.X)
        table.notes.append(Note("signs of negative values were dropped"))
    elif sparse:
        text = f"{table.path}: a shift would make sparse data dense"
        found.append(TableError(text, "" if fitted else "abs"))
    elif learned is not None:
        _add(table, learned)
        below = table.X < 0
        if below.any():
            text = f"values below the training minimum, set to 0: {int(below.sum())}"
            table.notes.append(Note(text))
            table.X[below] = 0
    else:
        lowest = np.fmin.reduce(table.X, axis=0)
        cleaning.shift = np.where(lowest < 0, -lowest, 0.0)
        _add(table, cleaning.shift)
        moved = [table.names[k] for k in np.flatnonzero(cleaning.shift > 0)]
        text = f"columns with negative values are moved up to start at 0: {listed(moved)}"
        why = "the fit needs values from 0; results are told in the units of the file"
        table.notes.append(Note(text, "shifted", why=why))


def _add(table: Table, shift: np.ndarray) -> None:
    if isinstance(table.X, np.memmap) or table.X.dtype.kind != "f":
        table.X = np.asarray(table.X) + shift
    else:
        table.X += shift.astype(table.X.dtype, copy=False)


def _more(count: int) -> str:
    return f" (the first of {count})" if count > 1 else ""


def _find(X: Any, wrong: Any) -> tuple[int, tuple[int, int, float] | None]:
    """How many entries are ``wrong``; row, column and value of the first one. Block by block."""
    if isinstance(X, sp.csr_array):
        bad = np.flatnonzero(wrong(X.data))
        if not bad.size:
            return 0, None
        row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
        return bad.size, (row, int(X.indices[bad[0]]), float(X.data[bad[0]]))
    count, first = 0, None
    for start in range(0, len(X), _ROWS_AT_ONCE):
        block = np.asarray(X[start : start + _ROWS_AT_ONCE])
        mask = wrong(block)
        if first is None and mask.any():
            row, column = np.argwhere(mask)[0].tolist()
            first = start + row, column, float(block[row, column])
        count += int(np.count_nonzero(mask))
    return count, first
