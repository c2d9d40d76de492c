"""Delimited text, read in one pass: never more than the numbers and a few rows of text."""

import codecs
import re
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from fnmf.io._buffer import RowBuffer
from fnmf.io._dialect import Dialect, parse_number, sniff
from fnmf.io._open import guess_encoding, open_lines, read_sample
from fnmf.io._rows import Block, blocks
from fnmf.io._table import Roles, Table, TableError, check_names, check_not_empty

_IDENTIFIER = re.compile(r"(^|[^a-z])(id|key|number|no|nr|code)$", re.IGNORECASE)
_ROW_NAMES = ("", "id", "index", "row", "rowid", "row_id", "unnamed: 0", "column 1")

Progress = Callable[[int], None]


def read_csv(
    path: Path,
    roles: Roles,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    dtype: type = np.float64,
    progress: Progress | None = None,
) -> Table:
    """A table from CSV, TSV or any other delimited text, compressed or not."""
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError as error:
        raise TableError(f"--encoding {encoding!r} is not a known encoding.") from error
    sample, complete = read_sample(path)
    guessed = encoding or guess_encoding(sample)
    try:
        try:
            return _read(path, sample, complete, guessed, roles, delimiter, header, dtype, progress)
        except UnicodeDecodeError:
            if encoding is not None:
                raise
            # The beginning was plain ASCII and accents came later.
            return _read(
                path, sample, complete, "cp1252", roles, delimiter, header, dtype, progress
            )
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path} is not {guessed} text ({error.reason}); name its encoding with --encoding."
        ) from error


def _read(
    path: Path,
    sample: bytes,
    complete: bool,
    encoding: str,
    roles: Roles,
    delimiter: str | None,
    header: bool | None,
    dtype: type,
    progress: Progress | None,
) -> Table:
    text = sample.decode(encoding, errors="replace").lstrip("\ufeff")
    prefer = "\t" if ".tsv" in path.name.lower() or ".tab" in path.name.lower() else None
    dialect = sniff(text, complete=complete, delimiter=delimiter, header=header, prefer=prefer)
    if not dialect.names:
        raise TableError(f"{path} holds nothing but blank lines.")
    check_names(dialect.names, path)
    roles.check(dialect.names, path)
    reader = _Reader(path, dialect, roles, dtype)
    file, lines = open_lines(path, encoding)
    with file:
        for block in blocks(lines, dialect, path, reader.columns, reader.keeps_text):
            reader.add(block, lines.underscore)
            if progress is not None:
                progress(reader.buffer.n_rows)
    return reader.finish()


class _Reader:
    """Takes rows of text and keeps numbers, ids and labels."""

    def __init__(self, path: Path, dialect: Dialect, roles: Roles, dtype: type) -> None:
        self.path, self.dialect, self.roles = path, dialect, roles
        names = dialect.names
        apart = set(roles.named())
        self.columns = [
            position
            for position, name in enumerate(names)
            if (dialect.numeric[position] or name in roles.required) and name not in apart
        ]
        chosen = set(self.columns)
        self.text_columns = [
            name
            for position, name in enumerate(names)
            if position not in chosen and name not in apart
        ]
        self.id_at = names.index(roles.id_column) if roles.id_column else None
        self.label_at = names.index(roles.label_column) if roles.label_column else None
        self.keeps_text = self.id_at is not None or self.label_at is not None
        self.ids: list[str] = []
        self.labels: list[str] = []
        self.lines = array("q")
        self.buffer = RowBuffer(len(self.columns), np.dtype(dtype))

    def add(self, block: Block, strict: bool) -> None:
        """Convert and keep some rows."""
        target = self.buffer.extend(len(block.lines))
        if block.numbers is not None:
            target[:] = block.numbers
        else:
            for column, position in enumerate(self.columns):
                cells = [row[position] for row in block.rows]
                target[:, column] = self._numbers(cells, position, block.lines, strict)
        if self.id_at is not None:
            self.ids += [row[self.id_at].strip() for row in block.rows]
        if self.label_at is not None:
            self.labels += [row[self.label_at].strip() for row in block.rows]
        self.lines.extend(block.lines)

    def _numbers(
        self, cells: list[str], position: int, numbers: list[int], strict: bool
    ) -> np.ndarray | list[float]:
        if not strict and self.dialect.decimal == ".":
            with suppress(ValueError):
                return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        values = []
        for number, cell in zip(numbers, cells, strict=True):
            value = parse_number(cell, self.dialect.decimal)
            if value is None:
                name = self.dialect.names[position]
                raise TableError(
                    f"{self.path}, line {number}, column {name!r}: {cell[:60]!r} is not a number; "
                    f"correct the cell, or leave the column out with --exclude {name!r}."
                )
            values.append(value)
        return values

    def finish(self) -> Table:
        """The table, with columns that hold no feature set apart."""
        names = [self.dialect.names[position] for position in self.columns]
        notes = []
        if not self.dialect.header:
            notes.append("no header was found; columns are named by their position")
        if self.text_columns:
            shown = ", ".join(repr(name) for name in self.text_columns[:8])
            more = ", ..." if len(self.text_columns) > 8 else ""
            notes.append(f"columns of text were left out: {shown}{more}")
        X = self.buffer.finish()
        check_not_empty(len(X), len(names), self.path, notes)
        table = Table(self.path, X, names, notes=notes, lines=np.array(self.lines))
        if self.id_at is not None:
            table.ids = self.ids
        if self.label_at is not None:
            table.labels = self.labels
        _set_empty_apart(table, self.roles.required)
        _set_row_numbers_apart(table, self.roles.required)
        check_not_empty(len(table.X), len(table.names), self.path, notes)
        _note_identifiers(table, self.roles.required)
        return table


def _set_empty_apart(table: Table, required: frozenset[str]) -> None:
    # The first row decides nearly always, so that large tables are not scanned.
    suspects = np.flatnonzero(np.isnan(table.X[0]))
    empty = [
        k
        for k in suspects.tolist()
        if table.names[k] not in required and np.isnan(table.X[:, k]).all()
    ]
    if empty:
        shown = ", ".join(repr(table.names[k]) for k in empty[:8])
        table.notes.append(f"columns without any value were left out: {shown}")
        _drop_columns(table, empty)


def _set_row_numbers_apart(table: Table, required: frozenset[str]) -> None:
    """A first column that counts the rows is a name of the rows, not a feature."""
    if not table.names or table.names[0].strip().lower() not in _ROW_NAMES or len(table.X) < 3:
        return
    if table.names[0] in required:
        return
    first = table.X[:, 0]
    if first[0] in (0, 1) and np.array_equal(first, first[0] + np.arange(len(first))):
        table.notes.append(f"column {table.names[0]!r} counts the rows and was left out")
        if table.ids is None:
            table.ids = [str(int(value)) for value in first]
        _drop_columns(table, [0])


def _note_identifiers(table: Table, required: frozenset[str]) -> None:
    """Numbers that only name the rows would drown the features; the user must decide."""
    for k, name in enumerate(table.names):
        if name in required or not _IDENTIFIER.search(name):
            continue
        column = table.X[:, k]
        if (
            len(column) > 2
            and (column == np.floor(column)).all()
            and len(set(column)) == len(column)
        ):
            table.notes.append(
                f"column {name!r} looks like an identifier and is used as a feature; "
                f"leave it out with --exclude {name!r}, or name it with --id-column"
            )


def _drop_columns(table: Table, columns: list[int]) -> None:
    kept = [k for k in range(len(table.names)) if k not in set(columns)]
    # Shift the kept columns to the left in place: a copy would double the memory.
    for target, source in enumerate(kept):
        if target != source:
            table.X[:, target] = table.X[:, source]
    table.X = table.X[:, : len(kept)]
    table.names = [table.names[k] for k in kept]
