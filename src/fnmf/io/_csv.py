"""Delimited text, read in one pass: never more than the numbers and a few rows of text."""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fnmf.io._collect import Collector
from fnmf.io._dialect import Dialect, doubtful_marks
from fnmf.io._messages import Note, Problems, TableError
from fnmf.io._numbers import PLAIN, parse_number
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._rows import Block, Wanted, open_text
from fnmf.io._table import Table, unique_names


def read_csv(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """A table from CSV, TSV or any other delimited text, compressed or not.

    What is wrong with single columns or cells is added to ``problems``, so that all of it can be
    told at once; what makes the file unreadable is raised.
    """
    text = open_text(path, options)
    names, notes = unique_names(text.dialect.names, text.shown, options.duplicates, problems)
    options.check_columns(names, text.shown)
    reader = _Reader(text.shown, text.dialect, names, options)
    try:
        for block in text.blocks(reader.wanted):
            reader.add(block)
            progress(reader.rows.buffer.n_rows)
    except UnicodeDecodeError as error:
        told = f"{path} is not {text.encoding} text ({error.reason})"
        raise TableError(told, "encoding") from error
    return reader.finish([*notes, *text.dialect.notes], problems)


class _Reader:
    """Takes rows of text and holds every cell to the marks that were decided."""

    def __init__(
        self, path: Path, dialect: Dialect, names: list[str], options: ReadOptions
    ) -> None:
        self.path, self.dialect, self.names = path, dialect, names
        self.na_values = frozenset(value.strip() for value in options.na_values)
        usable = {*options.named(), *options.required, *options.texts}
        # Columns that would be numbers with other marks only.
        self.foreign = {k: v for k, v in dialect.foreign.items() if names[k] not in usable}
        self.rows = Collector(path, names, dialect.numeric, options, list(self.foreign))
        self.wanted = Wanted(self.rows.numbers, self.rows.texts, self.na_values)
        self.lines = array("q")
        self.bad: dict[int, _BadCells] = {}
        self.doubtful: float | None = None
        self.proven = dialect.proven or bool(dialect.marks.thousands) or bool(dialect.notes)

    def add(self, block: Block) -> None:
        """Convert and keep some rows."""
        texts = block.texts or {k: [row[k] for row in block.rows] for k in self.wanted.texts}
        target = self.rows.add(len(block.lines), texts)
        if block.numbers is not None:
            target[:] = block.numbers
        else:
            for column, position in enumerate(self.rows.numbers):
                cells = [row[position] for row in block.rows]
                target[:, column] = self._numbers(cells, position, block.lines)
        self.lines.extend(block.lines)
        if not self.proven:
            self._doubt(target)

    def _numbers(self, cells: list[str], position: int, lines: object) -> object:
        if self.dialect.marks == PLAIN and not self.na_values:
            try:
                values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
            except ValueError:
                pass
            else:
                # Python reads "1_000" as a number; a table that says so means an identifier.
                if not any("_" in cell for cell in cells):
                    return values
        return [self._number(cell, position, row, lines) for row, cell in enumerate(cells)]

    def _number(self, cell: str, position: int, row: int, lines: object) -> float:
        value = parse_number(cell, self.dialect.marks)
        if value is not None:
            return value
        if cell.strip() not in self.na_values:
            known = self.bad.setdefault(position, _BadCells(lines[row], cell))  # type: ignore[index]
            known.texts[cell.strip()] += 1
        return float("nan")

    def _doubt(self, block: np.ndarray) -> None:
        """Look for numbers with decimals, all of which could be thousands instead."""
        values = np.abs(block[np.isfinite(block) & (block != np.floor(block))])
        if values.size:
            thousands = values * 1000
            grouped = (values >= 1) & (values < 1000)
            grouped &= np.abs(thousands - np.round(thousands)) < 1e-6 * thousands
            self.proven = not grouped.all()
            self.doubtful = float(values[0])

    def finish(self, notes: list[Note], problems: Problems) -> Table:
        """The table, with what is wrong with its cells and what may be."""
        problems += [bad.problem(self.path, self.names[k]) for k, bad in self.bad.items()]
        for k, cell in self.foreign.items():
            text = (
                f"{self.path}, column {self.names[k]!r}: {cell[:60]!r} is a number only with other "
                f"marks than the rest of the table ({self.dialect.marks})"
            )
            problems.append(TableError(text, "foreign", column=self.names[k]))
        if not self.proven and self.doubtful is not None:
            told = f"{self.doubtful:g}".replace(".", self.dialect.marks.decimal)
            notes.append(doubtful_marks(told, self.doubtful, 1000 * self.doubtful))
        if not self.dialect.header:
            notes.append(Note("no header was found; columns are named by their position"))
        return self.rows.table(notes, self.dialect.examples, np.array(self.lines))


@dataclass
class _BadCells:
    """Cells of a numeric column that are no numbers."""

    line: int
    cell: str
    texts: Counter[str] = field(default_factory=Counter)

    def problem(self, path: Path, column: str) -> TableError:
        count = self.texts.total()
        more = f" ({count} such cells)" if count > 1 else ""
        where = f"{path}, line {self.line}, column {column!r}"
        return TableError(
            f"{where}: {self.cell[:60]!r} is not a number{more}",
            "cell",
            column=column,
            cell=self.cell.strip(),
            cells=[text for text, _ in self.texts.most_common(4)],
            distinct=len(self.texts),
            count=count,
        )
