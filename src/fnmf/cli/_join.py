"""The columns of a table as they are in its file, beside the labels of its rows."""

from collections.abc import Iterator, Sequence

from fnmf.cli._errors import UsageError
from fnmf.io import ReadOptions, Table, raw_cells


def joined_columns(table: Table, reading: ReadOptions) -> tuple[Sequence[str], Iterator[list[str]]]:
    """Names of the columns, and the cells of every row of ``table`` as they stand in the file."""
    if reading.transpose or table.lines is None:
        raise UsageError("--join needs a table of text (.csv, .tsv) or of Excel, rows as samples.")
    names, rows = raw_cells(table.path, reading)
    wanted = iter(table.lines.tolist())
    return names, _matching(rows, wanted)


def _matching(rows: Iterator[tuple[int, list[str]]], wanted: Iterator[int]) -> Iterator[list[str]]:
    """Rows that were left out are passed over."""
    line = next(wanted, None)
    for number, cells in rows:
        if number == line:
            yield cells
            line = next(wanted, None)
