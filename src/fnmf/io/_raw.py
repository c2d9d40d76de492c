"""Cells of a text table or a sheet as they are written, row by row."""

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fnmf.io._dialect import Given, sniff
from fnmf.io._open import guess_encoding, open_lines, read_sample
from fnmf.io._rows import Wanted, blocks


def raw_cells(
    path: Path,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Names of all columns, and line and cells of every row of a delimited file or a sheet."""
    path = Path(path)
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        return _sheet_cells(path, sheet, header)
    sample = read_sample(path)
    written = encoding or guess_encoding(sample.head)
    try:
        sample.lines(written)
    except UnicodeDecodeError:
        written = "cp1252"
    lines, later = sample.lines(written)
    endings = path.name.lower().split(".")[1:]
    prefer = "\t" if "tsv" in endings or "tab" in endings else None
    dialect = sniff(lines, later, Given(delimiter, decimal, thousands, header), prefer)

    def rows() -> Iterator[tuple[int, list[str]]]:
        file, source = open_lines(path, written)
        with file:
            # Without columns of numbers the careful reader gives the cells themselves.
            for block in blocks(source, dialect, path, Wanted([], [])):
                yield from zip(block.lines, block.rows, strict=True)

    return list(dialect.names), rows()


def _sheet_cells(
    path: Path, sheet: str | None, header: bool | None
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    import openpyxl

    from fnmf.io._xlsx import _FREE_CELLS, _sheet_name, _write

    book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "sheet.csv"
            chosen = book[_sheet_name(path, book.sheetnames, sheet)]
            chosen.reset_dimensions()
            _write(chosen, text, path, _FREE_CELLS)
            with open(text, encoding="utf-8", newline="") as file:
                rows = [(line, row) for line, row in enumerate(csv.reader(file), 1) if row]
    finally:
        book.close()
    if header is False:
        return [f"column {k}" for k in range(1, len(rows[0][1]) + 1)], iter(rows)
    return rows[0][1], iter(rows[1:])
