"""Delimited text, read in one pass: never more than the numbers and a few rows of text."""

import codecs
from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fnmf.io._apart import note_left_out, set_apart
from fnmf.io._buffer import RowBuffer
from fnmf.io._dates import date_form
from fnmf.io._dialect import Dialect, check_given, doubtful_marks, sniff
from fnmf.io._numbers import PLAIN, parse_number
from fnmf.io._open import Sample, guess_encoding, open_lines, read_sample
from fnmf.io._options import Options
from fnmf.io._rows import Block, Wanted, blocks
from fnmf.io._table import Table, check_not_empty, unique_names
from fnmf.io._told import Note, TableError

_MOST_COLUMNS = 1 << 22
_MOST_ID_COLUMNS = 4


def read_csv(path: Path, options: Options, problems: list[TableError]) -> Table:
    """A table from CSV, TSV or any other delimited text, compressed or not.

    What is wrong with single columns or cells is added to ``problems``, so that all of it can be
    told at once; what makes the file unreadable is raised.
    """
    check_given(options.given)
    try:
        codecs.lookup(options.encoding or "utf-8")
    except LookupError as error:
        raise TableError(f"{options.encoding!r} is not a known encoding", "encoding") from error
    sample = read_sample(path)
    guessed = options.encoding or guess_encoding(sample.head)
    try:
        try:
            return _read(path, sample, guessed, options, problems)
        except UnicodeDecodeError:
            if options.encoding is not None:
                raise
            # The beginning was plain ASCII and accents came later.
            problems.clear()
            return _read(path, sample, "cp1252", options, problems)
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is not {guessed} text ({error.reason})", "encoding") from error


def _read(
    path: Path,
    sample: Sample,
    encoding: str,
    options: Options,
    problems: list[TableError],
) -> Table:
    lines, later = sample.lines(encoding)
    if max(lines[0].count(sign) for sign in ",;\t| ") > _MOST_COLUMNS:
        raise TableError(f"{path} has more than {_MOST_COLUMNS} columns in its first line")
    endings = path.name.lower().split(".")[1:]
    prefer = "\t" if "tsv" in endings or "tab" in endings else None
    dialect = sniff(lines, later, options.given, prefer)
    if not dialect.names:
        raise TableError(f"{path} holds nothing but blank lines")
    shown = options.shown_as or path
    names, notes = unique_names(dialect.names, shown, options.duplicates, problems)
    options.roles.check(names, shown)
    reader = _Reader(shown, dialect, names, options)
    file, source = open_lines(path, encoding)
    with file:
        for block in blocks(source, dialect, shown, reader.wanted):
            reader.add(block)
            options.told(reader.buffer.n_rows)
    return reader.finish([*notes, *dialect.notes], problems)


class _Reader:
    """Takes rows of text and keeps numbers, ids, labels and, on request, columns of text."""

    def __init__(self, path: Path, dialect: Dialect, names: list[str], options: Options) -> None:
        roles = options.roles
        self.path, self.dialect, self.names, self.roles = path, dialect, names, roles
        self.na_values = options.na_values
        apart = set(roles.named())
        free = [k for k, name in enumerate(names) if name not in apart]
        self.columns = [
            k
            for k in free
            if (dialect.numeric[k] or names[k] in roles.required) and names[k] not in roles.texts
        ]
        chosen = set(self.columns)
        self.foreign = {k: v for k, v in dialect.foreign.items() if k in free and k not in chosen}
        self.text_columns = [k for k in free if k not in chosen and k not in self.foreign]
        named = [names.index(n) for n in (roles.id_column, roles.label_column) if n]
        self.encoded = self.text_columns if options.keep_texts else []
        self.texts: dict[int, list[str]] = {k: [] for k in dict.fromkeys([*named, *self.encoded])}
        # The first columns of text may name the rows, until a name comes again.
        free_texts = [] if roles.id_column else self.text_columns[:_MOST_ID_COLUMNS]
        self.rivals: dict[int, dict[str, None]] = {k: {} for k in free_texts}
        self.wanted = Wanted(self.columns, [*{*self.texts, *self.rivals}], options.na_values)
        self.lines = array("q")
        self.buffer = RowBuffer(len(self.columns), np.dtype(options.dtype))
        self.bad: dict[int, _BadCells] = {}
        self.doubtful: float | None = None
        self.proven = dialect.proven or bool(dialect.marks.thousands) or bool(dialect.notes)

    def add(self, block: Block) -> None:
        """Convert and keep some rows."""
        target = self.buffer.extend(len(block.lines))
        if block.numbers is not None:
            target[:] = block.numbers
        else:
            for column, position in enumerate(self.columns):
                cells = [row[position] for row in block.rows]
                target[:, column] = self._numbers(cells, position, block.lines)
        texts = block.texts or {k: [row[k] for row in block.rows] for k in self.wanted.texts}
        for k, kept in self.texts.items():
            kept += texts[k]
        for k, names in list(self.rivals.items()):
            names.update(dict.fromkeys(cell.strip() for cell in texts[k]))
            if len(names) != self.buffer.n_rows or "" in names:
                del self.rivals[k]
                if k not in self.texts:
                    self.wanted.texts.remove(k)
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

    def finish(self, notes: list[Note], problems: list[TableError]) -> Table:
        """The table, with columns that hold no feature set apart."""
        names = [self.names[position] for position in self.columns]
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
        X = self.buffer.finish()
        table = Table(self.path, X, names, notes=list(notes), lines=np.array(self.lines))
        texts = {self.names[k]: cells for k, cells in self.texts.items()}
        table.id_name = self.roles.id_column
        if self.roles.id_column:
            table.ids = [cell.strip() for cell in texts[self.roles.id_column]]
        if self.roles.label_column:
            table.labels = [cell.strip() for cell in texts[self.roles.label_column]]
        examples = self.dialect.examples
        left_out = {self.names[k]: examples.get(k, []) for k in self.text_columns}
        if self.rivals and table.ids is None:
            position, ids = next(iter(self.rivals.items()))
            name = self.names[position]
            if not (self.encoded and date_form(left_out[name])):
                table.name_rows(list(ids), name)
                del left_out[name]
        table.texts = {name: texts[name] for name in left_out if self.encoded}
        check_not_empty(len(X), len(names) + len(table.texts), self.path, list(left_out))
        if not table.texts:
            note_left_out(table, left_out)
        set_apart(table, self.roles.required)
        check_not_empty(len(X), len(table.names) + len(table.texts), self.path)
        return table


@dataclass
class _BadCells:
    """Cells of a numeric column that are no numbers."""

    line: int
    cell: str
    texts: Counter[str]

    def __init__(self, line: int, cell: str) -> None:
        self.line, self.cell, self.texts = line, cell, Counter()

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
