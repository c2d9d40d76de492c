"""Known classes from a file of their own."""

import csv
from pathlib import Path

from fnmf.io._dialect import Given, sniff
from fnmf.io._open import check_readable, guess_encoding, open_lines, read_sample
from fnmf.io._table import Table
from fnmf.io._told import Note, TableError, listed


def add_labels(table: Table, path: Path, column: str | None = None) -> None:
    """Give ``table`` the known classes that a text file holds.

    If one of its columns holds the names of the rows, classes are matched by name, otherwise by
    position.

    Parameters
    ----------
    table : Table
        Gets ``labels``.
    path : Path
        Delimited text with the classes, and perhaps the names of the rows.
    column : str, default=None
        The column that holds the classes; needed if there are several.
    """
    names, rows = _read(path, table)
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    if column is not None and column not in columns:
        raise TableError(f"{path} has no column {column!r}; its columns are {listed(names)}")
    wanted = table.ids or []
    by_name = next(
        (n for n in names if n != column and wanted and set(wanted) <= set(columns[n])), None
    )
    free = [name for name in names if name != by_name]
    if column is None:
        if len(free) != 1:
            raise TableError(
                f"{path} has several columns that could hold the classes: {listed(free)}",
                "label_column",
            )
        column = free[0]
    if by_name is not None:
        if len(set(columns[by_name])) < len(rows):
            raise TableError(f"{path}: a name comes twice in column {by_name!r}")
        known = dict(zip(columns[by_name], columns[column], strict=True))
        table.labels = [known[name] for name in wanted]
        table.notes.append(Note(f"classes were matched by the names in column {by_name!r}"))
    elif len(rows) == table.X.shape[0]:
        table.labels = columns[column]
    else:
        raise TableError(
            f"{path} holds {len(rows)} classes, the table has {table.X.shape[0]} rows, and no "
            "column holds the names of its rows",
            "labels",
        )


def _read(path: Path, table: Table) -> tuple[list[str], list[list[str]]]:
    check_readable(path)
    sample = read_sample(path)
    encoding = guess_encoding(sample.head)
    lines, later = sample.lines(encoding)
    dialect = sniff(lines, later, Given())
    file, source = open_lines(path, encoding)
    with file:
        reader = csv.reader(source, delimiter=dialect.delimiter)
        rows = [[cell.strip() for cell in row] for row in reader if any(c.strip() for c in row)]
    width = len(rows[0]) if rows else 0
    ragged = next((k for k, row in enumerate(rows, start=1) if len(row) != width), None)
    if ragged is not None:
        raise TableError(f"{path}, row {ragged}: {len(rows[ragged - 1])} values instead of {width}")
    # Among words only, what looks like a header may be the first row.
    is_row = rows and (len(rows) == table.X.shape[0] or set(rows[0]) & set(table.ids or []))
    if dialect.header and not is_row:
        return rows[0], rows[1:]
    if dialect.header:
        table.notes.append(Note(f"the first line of {path} was taken as a row, not as a header"))
    return [f"column {k}" for k in range(1, width + 1)], rows
