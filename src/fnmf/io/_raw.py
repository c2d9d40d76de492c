"""Cells of a text table or a sheet as they are written, row by row."""

from collections.abc import Iterator
from pathlib import Path

from fnmf.io._options import ReadOptions
from fnmf.io._rows import open_text


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
