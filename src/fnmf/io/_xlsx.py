"""Excel workbooks: one sheet, handed to the reader of delimited text with its row numbers."""

import csv
import datetime
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from fnmf.io._csv import read_csv
from fnmf.io._guard import PACKED_RATIO, check_bytes
from fnmf.io._options import Options
from fnmf.io._table import Table
from fnmf.io._told import Note, TableError, listed

_FREE_CELLS = 1 << 26


def read_xlsx(path: Path, options: Options, problems: list[TableError]) -> Table:
    """The numeric columns of a sheet; formulas count with the value that Excel has stored."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise TableError(
            f'{path}: reading .xlsx needs openpyxl; install it with: pip install "fnmf[xlsx]"'
        ) from None
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    check_bytes(path, unpacked, PACKED_RATIO)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        name = _sheet_name(path, book.sheetnames, options.sheet)
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "sheet.csv"
            sheet = book[name]
            # What the file says about its size is not to be relied on.
            sheet.reset_dimensions()
            _write(sheet, text, path, max(_FREE_CELLS, unpacked))
            given = replace(options.given, delimiter=",", decimal=".", thousands="")
            table = read_csv(
                text, replace(options, given=given, encoding="utf-8", shown_as=path), problems
            )
    finally:
        book.close()
    table.path = path
    others = [other for other in book.sheetnames if other != name]
    if others and options.sheet is None:
        text_ = f"the sheet {name!r} was read; there are also {listed(others)}"
        table.notes.insert(0, Note(text_, "sheet"))
    return table


def _sheet_name(path: Path, names: list[str], wanted: str | None) -> str:
    if wanted is None:
        return names[0]
    if wanted not in names:
        raise TableError(f"{path} has no sheet {wanted!r}; it has {listed(names)}")
    return wanted


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
