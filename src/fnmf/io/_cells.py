"""Cells of a text table or a sheet as they are written, and known classes among them."""

from collections.abc import Iterator
from pathlib import Path

from fnmf.io._messages import Note, TableError, listed
from fnmf.io._open import check_readable
from fnmf.io._options import ReadOptions
from fnmf.io._rows import open_text
from fnmf.io._table import Table


def raw_cells(
    path: Path, options: ReadOptions
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Names of all columns, and line and cells of every row of a delimited file or a sheet."""
    if path.suffix.lower() not in (".xlsx", ".xlsm"):
        text = open_text(path, options)
        return list(text.dialect.names), text.cells()
    from fnmf.io._xlsx import sheet_as_text

    with sheet_as_text(path, options) as sheet:
        text = open_text(sheet.text, sheet.options)
        return list(text.dialect.names), iter(list(text.cells()))


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
    text = open_text(path, ReadOptions())
    names = list(text.dialect.names)
    rows = [[cell.strip() for cell in cells] for _, cells in text.cells()]
    # Among words only, what looks like a header may be the first row.
    is_row = len(rows) + 1 == table.X.shape[0] or set(names) & set(table.ids or [])
    if text.dialect.header and is_row:
        table.notes.append(Note(f"the first line of {path} was taken as a row, not as a header"))
        return [f"column {k}" for k in range(1, len(names) + 1)], [names, *rows]
    return names, rows
