"""Delimited text, read in one pass: never more than the numbers and a few rows of text."""

from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from fnmf.io._collect import Collector
from fnmf.io._dialect import doubtful_marks
from fnmf.io._messages import Note, Problems, TableError
from fnmf.io._numbers import PLAIN, Marks, in_unit, parse_number
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._rows import Column, open_text
from fnmf.io._table import Table, unique_names


def read_csv(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """A table from CSV, TSV or any other delimited text, compressed or not.

    Every cell is held to the marks that were decided. What is wrong with single columns or cells
    is added to ``problems``, so that all of it can be told at once; what makes the file unreadable
    is raised.
    """
    text = open_text(path, options)
    shown, dialect = text.shown, text.dialect
    names, notes = unique_names(dialect.names, shown, options.duplicates, problems)
    options.check_columns(names, shown)
    usable = {*options.named(), *options.required, *options.texts}
    # Columns that would be numbers with other marks only.
    foreign = {k: cell for k, cell in dialect.foreign.items() if names[k] not in usable}
    rows = Collector(shown, names, dialect.numeric, options, list(foreign))
    cells = _Cells(shown, dialect.marks, frozenset(map(str.strip, options.na_values)))
    doubt = _Doubt(
        dialect.proven
        or bool(dialect.marks.thousands)
        or any(note.remedy for note in dialect.notes)
    )
    lines = array("q")
    try:
        for at, columns in text.blocks(rows.numbers, rows.texts, cells.na_values):
            block = rows.add(len(at), columns)
            for target, k in enumerate(rows.numbers):
                block[:, target] = cells.numbers(columns[k], names[k], at)
            lines.extend(at)
            doubt.look(block)
            progress(len(lines))
    except UnicodeDecodeError as error:
        told = f"{path} is not {text.encoding} text ({error.reason})"
        raise TableError(told, "encoding") from error
    problems += cells.problems()
    for k, cell in foreign.items():
        told = (
            f"{shown}, column {names[k]!r}: {cell[:60]!r} is a number only with other "
            f"marks than the rest of the table ({dialect.marks})"
        )
        problems.append(TableError(told, "foreign", column=names[k]))
    notes += [*dialect.notes, *doubt.notes(dialect.marks)]
    if not dialect.header:
        notes.append(Note("no header was found; columns are named by their position"))
    return rows.table(notes, dialect.examples, np.array(lines))


class _Cells:
    """Turns cells into numbers, and remembers those that are none."""

    def __init__(self, path: Path, marks: Marks, na_values: frozenset[str]) -> None:
        self.path, self.marks, self.na_values = path, marks, na_values
        # By column: line and text of the first bad cell, what it is not, and how often each comes.
        self._bad: dict[str, tuple[int, str, str, Counter[str]]] = {}
        # By column, what its numbers are in: a currency, %, or "" for neither so far.
        self._units: dict[str, str] = {}

    def numbers(self, cells: Column, column: str, lines: Sequence[int]) -> object:
        """The numbers of a column; NaN for what is missing or no number."""
        read = self._plain(cells)
        if read is not None and (np.isnan(read).all() or self._fits(column, "")):
            return read
        pairs = zip(map(str, cells), lines, strict=True)
        return [self._number(cell, column, line) for cell, line in pairs]

    def _plain(self, cells: Column) -> np.ndarray | None:
        """The numbers, if Python reads all of them as they are meant."""
        if isinstance(cells, np.ndarray):
            return cells
        # Python reads "1_000" as a number; a table that says so means an identifier.
        if self.marks == PLAIN and not self.na_values and not any("_" in cell for cell in cells):
            with suppress(ValueError):
                return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        return None

    def _number(self, cell: str, column: str, line: int) -> float:
        value, wanted = parse_number(cell, self.marks), "numbers"
        if value is not None:
            if np.isnan(value) or self._fits(column, in_unit(cell)[0]):
                return value
            unit = self._units[column]
            wanted = {"": "plain numbers", "%": "percentages"}.get(unit, f"amounts in {unit}")
        if (text := cell.strip()) not in self.na_values:
            self._bad.setdefault(column, (line, cell, wanted, Counter()))[3][text] += 1
        return float("nan")

    def _fits(self, column: str, unit: str) -> bool:
        """Whether a number goes with those before it: one currency, or percentages alone."""
        known = self._units.setdefault(column, unit)
        if not known and unit not in ("", "%"):
            known = self._units[column] = unit
        return unit == known or (not unit and known != "%")

    def problems(self) -> Problems:
        """What is wrong, one problem for each column."""
        found = []
        for column, (line, cell, wanted, texts) in self._bad.items():
            count = texts.total()
            more = f" ({count} such cells)" if count > 1 else ""
            is_not = "is not a number" if wanted == "numbers" else f"stands among {wanted}"
            told = f"{self.path}, line {line}, column {column!r}: {cell[:60]!r} {is_not}"
            common = [text for text, _ in texts.most_common(4)]
            facts = {"cell": cell.strip(), "cells": common, "distinct": len(texts), "count": count}
            facts["wanted"] = wanted
            found.append(TableError(told + more, "cell", column=column, **facts))
        return found


class _Doubt:
    """Whether all numbers with decimals could be thousands instead."""

    def __init__(self, proven: bool) -> None:
        self._proven = proven
        self._value: float | None = None

    def look(self, block: np.ndarray) -> None:
        """Look for a number that proves its mark."""
        if self._proven:
            return
        values = np.abs(block[np.isfinite(block) & (block != np.floor(block))])
        if values.size:
            thousands = values * 1000
            grouped = (values >= 1) & (values < 1000)
            grouped &= np.abs(thousands - np.round(thousands)) < 1e-6 * thousands
            self._proven = not grouped.all()
            self._value = float(values[0])

    def notes(self, marks: Marks) -> list[Note]:
        """The note on the doubt, if it was not cleared."""
        if self._proven or self._value is None:
            return []
        told = f"{self._value:g}".replace(".", marks.decimal)
        return [doubtful_marks(told, self._value, 1000 * self._value)]
