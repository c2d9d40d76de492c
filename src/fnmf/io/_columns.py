"""Columns that hold no feature: row numbers, names of rows, text, dates, nothing at all."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from fnmf.io._dates import date_form
from fnmf.io._messages import Note, listed
from fnmf.io._table import Table

_IDENTIFIER = re.compile(r"(^|[^a-z])(id|key|number|no|nr|code)$", re.IGNORECASE)
_ROW_NAMES = ("", "id", "index", "row", "rowid", "row_id", "unnamed: 0", "column 1")
_MOST_CONSTANT = 2000
_MANY_ROWS = 100
# Ensembl and RefSeq numbers; symbols: capitals with digits, or a capital first as in mice.
_ACCESSION = re.compile(r"ENS[A-Z]*G\d{6,}(\.\d+)?|[NX][MR]_\d+(\.\d+)?")
_SYMBOL = re.compile(r"[A-Z][A-Z0-9.-]{1,14}|[A-Z][a-z]{1,8}\d+[a-z0-9]*")
_DIGITS = re.compile(r"\d+")
_MOST = 0.8
_WHY = {"text": "only numbers are compared", "dates": "a date says when, not what"}


def note_left_out(table: Table, examples: Mapping[str, Sequence[str]]) -> None:
    """Say which columns of text and of dates are not among the features."""
    dates = [name for name, cells in examples.items() if date_form(cells) is not None]
    texts = [name for name in examples if name not in dates]
    for what, names in (("text", texts), ("dates", dates)):
        if names:
            text = f"columns of {what} are left out: {listed(names)}"
            table.notes.append(Note(text, "encode", why=_WHY[what], columns=names))


def note_genes_in_rows(table: Table) -> None:
    """Many rows named like genes and few columns: the samples are probably the columns."""
    n_rows, n_columns = table.X.shape
    if not table.ids or n_rows < _MANY_ROWS or n_rows < 5 * n_columns:
        return
    some = table.ids[:: max(1, n_rows // 200)]
    if _look_like_genes(some, table.id_name or ""):
        text = f"rows look like genes ({listed(table.ids, 3)}) and columns like samples"
        table.notes.append(Note(text, "transpose"))


def _look_like_genes(names: Sequence[str], column: str) -> bool:
    def share(pattern: re.Pattern[str]) -> float:
        return sum(bool(pattern.fullmatch(name)) for name in names) / len(names)

    if share(_ACCESSION) >= _MOST:
        return True
    # C001, C002, … are of the same form, but numbers of one series.
    stems = {_DIGITS.sub("", name) for name in names}
    return share(_SYMBOL) >= _MOST and ("gene" in column.lower() or len(stems) > 0.3 * len(names))


def leave_out_featureless(table: Table, required: frozenset[str]) -> None:
    """Take columns out that cannot be features; columns in ``required`` stay whatever they hold."""
    _leave_out_empty(table, required)
    _leave_out_row_numbers(table, required)
    _note_identifiers(table, required)
    _note_constant(table, required)


def _leave_out_empty(table: Table, required: frozenset[str]) -> None:
    # The first row decides nearly always, so that large tables are not scanned.
    suspects = np.flatnonzero(np.isnan(table.X[0])) if len(table.X) else np.arange(0)
    empty = [
        k
        for k in suspects.tolist()
        if table.names[k] not in required and np.isnan(table.X[:, k]).all()
    ]
    if empty:
        shown = listed([table.names[k] for k in empty])
        text = f"columns are left out: {shown}"
        table.notes.append(Note(text, why="they hold no value"))
        drop_columns(table, empty)


def _leave_out_row_numbers(table: Table, required: frozenset[str]) -> None:
    """A first column that counts the rows is a name of the rows, not a feature."""
    if not table.names or table.names[0].strip().lower() not in _ROW_NAMES or len(table.X) < 3:
        return
    if table.names[0] in required:
        return
    first = table.X[:, 0]
    if first[0] in (0, 1) and np.array_equal(first, first[0] + np.arange(len(first))):
        text = f"column {table.names[0]!r} names the rows"
        table.notes.append(Note(text, "id_column", why="it counts them"))
        if table.ids is None:
            table.ids = [str(int(value)) for value in first]
        drop_columns(table, [0])


def _note_identifiers(table: Table, required: frozenset[str]) -> None:
    """Numbers that only name the rows would drown the features."""
    for name in identifiers(table):
        if name not in required:
            text = f"column {name!r} looks like an identifier and is used as a feature"
            table.notes.append(Note(text, "identifier", column=name))


def identifiers(table: Table) -> list[str]:
    """Columns of whole numbers, all different, that are called like names of the rows."""
    return [
        name
        for k, name in enumerate(table.names)
        if _IDENTIFIER.search(name) and len(table.X) > 2 and _all_differ(table.X[:, k])
    ]


def counts_rows(column: np.ndarray) -> bool:
    """Whether each value is by one larger than the one before."""
    return len(column) > 2 and bool((np.diff(column) == 1).all())


def _all_differ(column: np.ndarray) -> bool:
    return bool((column == np.floor(column)).all()) and len(np.unique(column)) == len(column)


def constant_columns(table: Table) -> list[int]:
    """Columns with one value everywhere; of fewer than three rows nothing is said."""
    if len(table.X) < 3:
        return []
    # Two rows decide nearly always.
    suspects = np.flatnonzero(table.X[0] == table.X[-1]).tolist()
    return [k for k in suspects if (table.X[:, k] == table.X[0, k]).all()]


def _note_constant(table: Table, required: frozenset[str]) -> None:
    if len(table.names) > _MOST_CONSTANT:
        return
    names = [table.names[k] for k in constant_columns(table)]
    if same := [name for name in names if name not in required]:
        text = f"columns with one value everywhere, which tell nothing apart: {listed(same)}"
        table.notes.append(Note(text, "left_out"))


def drop_columns(table: Table, columns: list[int]) -> None:
    """Take columns out of a table in memory, in place."""
    gone = set(columns)
    kept = [k for k in range(len(table.names)) if k not in gone]
    # Shift the kept columns to the left in place: a copy would double the memory.
    for target, source in enumerate(kept):
        if target != source:
            table.X[:, target] = table.X[:, source]
    table.X = table.X[:, : len(kept)]
    table.names = [table.names[k] for k in kept]
