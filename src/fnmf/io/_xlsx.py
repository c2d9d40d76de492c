"""Excel workbooks: one sheet, handed to the reader of delimited text with its row numbers."""

import csv
import datetime
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from fnmf.io._csv import read_csv
from fnmf.io._guard import PACKED_RATIO, check_bytes
from fnmf.io._messages import Note, Problems, TableError, listed, optional
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table

_FREE_CELLS = 1 << 26


class Sheet(NamedTuple):
    """A sheet as delimited text, how that is to be read, and the names of other sheets."""

    name: str
    others: list[str]
    text: Path
    options: ReadOptions


def read_xlsx(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """The numeric columns of a sheet; formulas count with the value that Excel has stored."""
    with sheet_as_text(path, options) as sheet:
        table = read_csv(sheet.text, sheet.options, problems, progress)
    table.path = path
    if sheet.others and options.sheet is None:
        told = f"the sheet {sheet.name!r} was read; there are also {listed(sheet.others)}"
        table.notes.insert(0, Note(told, "sheet"))
    return table


@contextmanager
def sheet_as_text(path: Path, options: ReadOptions) -> Iterator[Sheet]:
    """The sheet that is asked for, written as text for as long as the context lasts."""
    openpyxl = optional("openpyxl", f"{path}: reading .xlsx", "xlsx")
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    check_bytes(path, unpacked, PACKED_RATIO)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "sheet.csv"
        try:
            name = options.sheet or book.sheetnames[0]
            if name not in book.sheetnames:
                told = f"{path} has no sheet {name!r}; it has {listed(book.sheetnames)}"
                raise TableError(told)
            sheet = book[name]
            # What the file says about its size is not to be relied on.
            sheet.reset_dimensions()
            _write(sheet, text, path, max(_FREE_CELLS, unpacked))
        finally:
            book.close()
        others = [other for other in book.sheetnames if other != name]
        as_text = replace(options, delimiter=",", decimal=".", thousands="", encoding="utf-8")
        yield Sheet(name, others, text, replace(as_text, shown_as=path))


def _write(sheet: Any, text: Path, path: Path, most: int) -> None:
    """Rows as lines: the line of a cell is then its row in Excel."""
    width = max((len(row) for row in sheet.iter_rows(max_row=50, values_only=True)), default=0)
    cells = 0
    with open(text, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in sheet.iter_rows(values_only=True):
            cells += len(row)
            if cells > most:
                raise TableError(f"{path} has more cells than a file of its size can hold")
            filled = [_cell(value) for value in row]
            while len(filled) > width and not filled[-1]:
                filled.pop()
            filled += [""] * (width - len(filled))
            writer.writerow(filled if any(filled) else [])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    # A line end inside a cell would shift the row numbers.
    return " ".join(str(value).split("\n")) if isinstance(value, str) else str(value)
