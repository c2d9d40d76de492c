"""Rows of a delimited file in blocks: by Arrow's compiled reader where that is safe.

Arrow is strict about the number of cells and about what a number is, and rounds correctly, but
it does not say in which line and column the trouble is, and it passes over blank lines. So a
block in which it finds anything strange goes through the csv module, which is slow and exact.
"""

import codecs
import csv
import importlib.util
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fnmf.io._dialect import NO_DELIMITER, Dialect, sniff
from fnmf.io._messages import TableError
from fnmf.io._numbers import MISSING
from fnmf.io._open import Lines, guess_encoding, open_lines, read_sample
from fnmf.io._options import ReadOptions

_MOST_COLUMNS = 1 << 22
_CHUNK = 1 << 22
_LARGEST_CHUNK = 1 << 25
# A chunk holds some hundred rows, so that wide tables are not read column by column for few rows.
_CHUNK_FOR_A_COLUMN = 1 << 10
_ROWS_AT_ONCE = 200_000
_NULLS = sorted({form for word in MISSING for form in (word, word.upper(), word.title())} | {"NaN"})


@dataclass
class Block:
    """Some rows: where they start in the file, and either their cells or their columns."""

    lines: Sequence[int]
    rows: list[list[str]]
    numbers: np.ndarray | None = None
    texts: dict[int, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """Positions of the columns to be read as numbers and as text."""

    numbers: list[int]
    texts: list[int]
    na_values: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Text:
    """A delimited file and how it is written; messages name ``shown``."""

    path: Path
    encoding: str
    dialect: Dialect
    shown: Path
    guessed: bool

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """The rows below the header."""
        file, lines = open_lines(self.path, self.encoding, self.guessed)
        with file:
            yield from _blocks(lines, self.dialect, self.shown, wanted)

    def cells(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of every row, as they are written."""
        # Without columns of numbers the careful reader gives the cells themselves.
        for block in self.blocks(Wanted([], [])):
            yield from zip(block.lines, block.rows, strict=True)


def open_text(path: Path, options: ReadOptions) -> Text:
    """Find out how a delimited file is written, as far as the options do not say."""
    options.check_marks()
    try:
        codecs.lookup(options.encoding or "utf-8")
    except LookupError as error:
        raise TableError(f"{options.encoding!r} is not a known encoding", "encoding") from error
    sample = read_sample(path)
    encoding = options.encoding or guess_encoding(sample.head)
    lines, later = sample.lines(encoding)
    if max(lines[0].count(sign) for sign in ",;\t| ") > _MOST_COLUMNS:
        raise TableError(f"{path} has more than {_MOST_COLUMNS} columns in its first line")
    endings = path.name.lower().split(".")[1:]
    prefer = "\t" if "tsv" in endings or "tab" in endings else None
    dialect = sniff(lines, later, options, prefer)
    if not dialect.names:
        raise TableError(f"{path} holds nothing but blank lines")
    return Text(path, encoding, dialect, options.shown_as or path, options.encoding is None)


def _blocks(lines: Lines, dialect: Dialect, path: Path, wanted: Wanted) -> Iterator[Block]:
    done = _skip_header(iter(lines), dialect, path) if dialect.header else 0
    at_once = max(1, _ROWS_AT_ONCE // len(dialect.names))
    size = min(_LARGEST_CHUNK, max(_CHUNK, _CHUNK_FOR_A_COLUMN * len(dialect.names)))
    while arrow_available() and (chunk := lines.chunk(size)):
        if '"' in chunk and not _quotes_end_on_their_line(chunk):
            # A cell may go on in the next line, and in the next chunk.
            rest = chain(io.StringIO(chunk, newline=""), lines)
            yield from _careful(rest, dialect, path, done, at_once)
            return
        block = _compiled(chunk, dialect, wanted, done)
        if block is None:
            source = io.StringIO(chunk, newline="")
            yield from _careful(source, dialect, path, done, at_once)
            done += sum(1 for _ in io.StringIO(chunk, newline=""))
        else:
            yield block
            done += len(block.lines)
    yield from _careful(lines, dialect, path, done, at_once)


@cache
def arrow_available() -> bool:
    """Is there a compiled reader? Without it the same is read, several times as slowly."""
    return importlib.util.find_spec("pyarrow") is not None


def _quotes_end_on_their_line(chunk: str) -> bool:
    raw = np.frombuffer(chunk.encode("utf-8", "replace"), dtype=np.uint8)
    parity = np.cumsum(raw == ord('"'), dtype=np.int64)
    return not (parity[(raw == ord("\n")) | (raw == ord("\r"))] & 1).any() and parity[-1] % 2 == 0


def _compiled(chunk: str, dialect: Dialect, wanted: Wanted, done: int) -> Block | None:
    """The columns of plain lines, or None if any of them is not plain after all."""
    # Arrow knows no thousands marks and needs a delimiter of one byte.
    if dialect.marks.thousands or not dialect.delimiter.isascii() or not wanted.numbers:
        return None
    if "\r" in chunk:
        chunk = chunk.replace("\r\n", "\n").replace("\r", "\n")
    if chunk[0] == "\n" or "\n\n" in chunk:
        return None
    within = rf'[^"\n{re.escape(dialect.delimiter)}]'
    if '"' in chunk and re.search(f'{within}"{within}', chunk):
        # Quotation marks inside a cell: the two readers need not agree on them.
        return None
    table = _arrow_table(chunk, dialect, wanted)
    if table is None:
        return None
    numbers = np.empty((table.num_rows, len(wanted.numbers)))
    for target, position in enumerate(wanted.numbers):
        numbers[:, target] = table.column(str(position)).to_numpy()
    # Lines of delimiters alone are no rows; the careful reader looks closer.
    if np.isnan(numbers).all(axis=1).any():
        return None
    texts = {position: table.column(str(position)).to_pylist() for position in wanted.texts}
    return Block(range(done + 1, done + 1 + table.num_rows), [], numbers, texts)


def _arrow_table(chunk: str, dialect: Dialect, wanted: Wanted) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow

    content = chunk.encode("utf-8", "replace")
    types = {str(k): pa.float64() for k in wanted.numbers}
    types |= {str(k): pa.string() for k in wanted.texts}
    try:
        return arrow.read_csv(
            pa.py_buffer(content),
            read_options=arrow.ReadOptions(
                use_threads=False,
                block_size=len(content) + 1,
                column_names=[str(k) for k in range(len(dialect.names))],
            ),
            parse_options=arrow.ParseOptions(
                delimiter=dialect.delimiter, ignore_empty_lines=False, newlines_in_values=False
            ),
            convert_options=arrow.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                null_values=[*_NULLS, *wanted.na_values],
                strings_can_be_null=False,
                decimal_point=dialect.marks.decimal,
            ),
        )
    except (pa.ArrowException, OverflowError):
        return None


def _skip_header(source: Iterator[str], dialect: Dialect, path: Path) -> int:
    reader = csv.reader(source, delimiter=dialect.delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                break
    except csv.Error as error:
        raise TableError(f"{path}, line 1: {error}") from error
    return reader.line_num


def _careful(
    source: Iterable[str], dialect: Dialect, path: Path, offset: int, at_once: int
) -> Iterator[Block]:
    width = len(dialect.names)
    reader = csv.reader(source, delimiter=dialect.delimiter)
    lines: list[int] = []
    rows: list[list[str]] = []
    before = 0
    try:
        for row in reader:
            number, before = before + 1, reader.line_num
            if len(row) != width or not row[0]:
                # Lines without any content separate blocks; they are no rows.
                if not any(cell.strip() for cell in row):
                    continue
                if len(row) != width:
                    where = offset + number, offset + before
                    raise TableError(_ragged(path, where, row, dialect), "delimiter")
            lines.append(offset + number)
            rows.append(row)
            if len(rows) == at_once:
                yield Block(lines, rows)
                lines, rows = [], []
    except csv.Error as error:
        raise TableError(
            f"{path}, line {offset + before + 1}: {error}; "
            "look for a quotation mark that is never closed"
        ) from error
    if rows:
        yield Block(lines, rows)


def _ragged(path: Path, where: tuple[int, int], row: list[str], dialect: Dialect) -> str:
    first, last = where
    place = f"line {first}" if first == last else f"lines {first} to {last}"
    source = "the header has" if dialect.header else "the first row has"
    hint = " or an unclosed quotation mark" if first != last else ""
    sign = "" if dialect.delimiter == NO_DELIMITER else f" {dialect.delimiter!r}"
    return (
        f"{path}, {place}: {len(row)} values where {source} {len(dialect.names)}; "
        f"look for a missing or extra{sign}{hint}, or columns were split at the wrong sign"
    )
