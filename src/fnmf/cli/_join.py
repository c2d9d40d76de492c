"""The columns of a table as they are in its file, beside the labels of its rows."""

from collections.abc import Iterator, Sequence
from typing import Any

from fnmf.cli._errors import UsageError
from fnmf.io import Table, raw_cells


def joined_columns(
    table: Table, reading: dict[str, Any]
) -> tuple[Sequence[str], Iterator[list[str]]]:
    """Names of the columns, and the cells of every row of ``table`` as they stand in the file."""
    if reading.get("transpose") or table.lines is None:
        raise UsageError("--join needs a table of text (.csv, .tsv) or of Excel, rows as samples.")
    names, rows = raw_cells(table.path, **{key: reading.get(key) for key in _OF_TEXT})
    wanted = iter(table.lines.tolist())
    return names, _matching(rows, wanted)


_OF_TEXT = ("delimiter", "decimal", "thousands", "header", "encoding", "sheet")


def _matching(rows: Iterator[tuple[int, list[str]]], wanted: Iterator[int]) -> Iterator[list[str]]:
    """Rows that were left out are passed over."""
    line = next(wanted, None)
    for number, cells in rows:
        if number == line:
            yield cells
            line = next(wanted, None)
