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
    table.notes += [*notes_of_left_out("text", texts), *notes_of_left_out("dates", dates)]


def notes_of_left_out(what: str, names: Sequence[str]) -> list[Note]:
    """The note on columns of text or of dates, if there are any."""
    text = f"columns of {what} are left out: {listed(names)}"
    return [Note(text, "encode", why=_WHY[what], columns=names)] if names else []


def note_genes_in_rows(table: Table) -> None:
    """Many rows named like genes and few columns: the samples are probably the columns."""
    n_rows, n_columns = table.X.shape
    some = (table.ids or [])[:: max(1, n_rows // 200)]
    many = n_rows >= max(_MANY_ROWS, 5 * n_columns)
    if table.ids and many and _look_like_genes(some, table.id_name or ""):
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
    """Take columns out that hold nothing or count rows, and note other doubtful ones.

    Columns in ``required`` stay, whatever they hold.
    """
    # The first row decides nearly always, so that large tables are not scanned.
    suspects = np.flatnonzero(np.isnan(table.X[0])).tolist()
    suspects = [k for k in suspects if table.names[k] not in required]
    if empty := [table.names[k] for k in suspects if np.isnan(table.X[:, k]).all()]:
        table.notes.append(Note(f"columns are left out: {listed(empty)}", why="they hold no value"))
        table.leave_out(empty)
    free = [name for name in table.names if name not in required]
    if free and free[0] == table.names[0] and free[0].strip().lower() in _ROW_NAMES:
        first = table.X[:, 0]
        if first[0] in (0, 1) and counts_rows(first):
            text = f"column {free[0]!r} names the rows"
            table.notes.append(Note(text, "id_column", why="it counts them"))
            table.ids = table.ids or [str(int(value)) for value in first]
            table.leave_out(free[:1])
    for name in identifiers(table):
        if name not in required:
            text = f"column {name!r} looks like an identifier and is used as a feature"
            table.notes.append(Note(text, "identifier", column=name))
    same = constant_columns(table) if len(table.names) <= _MOST_CONSTANT else []
    if same := [name for name in same if name not in required]:
        text = f"columns with one value everywhere, which tell nothing apart: {listed(same)}"
        table.notes.append(Note(text, "constant"))


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


def constant_columns(table: Table) -> list[str]:
    """Columns with one value everywhere; of fewer than three rows nothing is said."""
    if len(table.X) < 3:
        return []
    # Two rows decide nearly always.
    suspects = np.flatnonzero(table.X[0] == table.X[-1]).tolist()
    return [table.names[k] for k in suspects if (table.X[:, k] == table.X[0, k]).all()]
