"""What stands between a table and its clusters, decided by what the columns hold.

Everything decided is a note with its reason and the way to decide otherwise. What only the user
can know (how numbers are written, sparse data with negative values) stays a problem.
"""

import numpy as np

from fnmf.io._columns import constant_columns, counts_rows, identifiers
from fnmf.io._messages import Note, TableError, listed
from fnmf.io._table import Table

# A column of numbers may hold this share of other cells, or so few different ones.
_FEW_CELLS, _FEW_TEXTS = 0.2, 3
# What missing cells are decided to be: as they are for a fit that takes them, else filled.
DECIDED_MISSING = {True: "keep", False: "median"}
DECIDED_NEGATIVE = "shift"


def decide(table: Table, problems: list[TableError]) -> list[TableError]:
    """Settle in place what can be settled; the problems that cannot come back.

    Parameters
    ----------
    table : Table
        As :func:`fnmf.io.read_table` has read it.
    problems : list of TableError
        What was collected while reading.

    Returns
    -------
    list of TableError
    """
    # A row that ends up without a name or a column must not have been mapped from disk.
    plain = isinstance(table.X, np.ndarray) and not isinstance(table.X, np.memmap)
    left = [problem for problem in problems if not _settled(table, problem, plain)]
    if plain and table.X.dtype.kind == "f" and not left:
        _infinite(table)
        _row_names(table)
        _constant(table)
    return left


def _settled(table: Table, problem: TableError, plain: bool) -> bool:
    """Whether a problem of reading was settled."""
    if problem.remedy == "duplicates":
        # The reader has numbered them, and said so.
        return True
    if problem.remedy != "cell" or not plain:
        return False
    name, facts = str(problem.facts["column"]), problem.facts
    shown = listed(facts["cells"], _FEW_TEXTS)
    if facts["distinct"] <= _FEW_TEXTS or facts["count"] <= _FEW_CELLS * len(table.X):
        count = facts["count"]
        what = f"{count:,} cells that are no {facts['wanted']} count"
        what = "a cell that is no number counts" if count == 1 else what
        text = f"column {name!r}: {what} as missing: {shown}"
        table.notes.append(Note(text, "exclude", why="the rest of it is numbers", column=name))
    else:
        table.leave_out([name])
        text = f"column {name!r} is left out"
        why = f"{facts['count']:,} of its cells are no {facts['wanted']}: {shown}"
        table.notes.append(Note(text, why=why, column=name))
    return True


def _infinite(table: Table) -> None:
    columns = [k for k in range(table.X.shape[1]) if np.isinf(table.X[:, k]).any()]
    for k in columns:
        table.X[np.isinf(table.X[:, k]), k] = np.nan
    if columns:
        text = f"infinite values count as missing: {listed([table.names[k] for k in columns])}"
        table.notes.append(Note(text, "left_out", why="no distance can be taken to them"))


def _row_names(table: Table) -> None:
    """Identifiers name the rows, or are left out if something else does."""
    found = identifiers(table)
    if table.names and counts_rows(table.X[:, 0]) and table.names[0] not in found:
        found.insert(0, table.names[0])
    for name in found:
        if table.ids is None:
            column = table.X[:, table.names.index(name)]
            table.name_rows([str(int(value)) for value in column], name)
        else:
            text = f"column {name!r} is left out"
            table.notes.append(Note(text, "id_column", why="it looks like an identifier"))
    table.leave_out(found)
    _forget_notes(table, "identifier")


def _constant(table: Table) -> None:
    """Columns with one value tell nothing apart; unless there is no other, they are left out."""
    same = constant_columns(table)
    if same and (len(same) < len(table.names) or table.texts):
        text = f"columns are left out: {listed(same)}"
        table.notes.append(Note(text, why="one value everywhere tells nothing apart"))
        table.leave_out(same)
        _forget_notes(table, "constant")


def _forget_notes(table: Table, remedy: str) -> None:
    """What was only noted has been decided."""
    table.notes = [note for note in table.notes if getattr(note, "remedy", "") != remedy]
