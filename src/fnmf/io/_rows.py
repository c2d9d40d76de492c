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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path

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

# Cells of a column, or numbers if they were already read.
Column = np.ndarray | Sequence[str]
# Line in which each of some rows starts, and their columns by position.
Block = tuple[Sequence[int], Mapping[int, Column]]


@dataclass(frozen=True)
class Text:
    """A delimited file and how it is written; messages name ``shown``."""

    path: Path
    encoding: str
    dialect: Dialect
    shown: Path
    guessed: bool

    def cells(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of every row below the header, as they are written."""
        file, lines = open_lines(self.path, self.encoding, self.guessed)
        with file:
            yield from self._rows(lines, self._skip_header(lines))

    def blocks(
        self, numbers: Sequence[int], texts: Sequence[int], na_values: Iterable[str] = ()
    ) -> Iterator[Block]:
        """Rows below the header; the columns ``numbers`` and ``texts`` are among their columns."""
        width = len(self.dialect.names)
        size = min(_LARGEST_CHUNK, max(_CHUNK, _CHUNK_FOR_A_COLUMN * width))
        file, lines = open_lines(self.path, self.encoding, self.guessed)
        with file:
            done = self._skip_header(lines)
            while chunk := lines.chunk(size):
                columns = self._compiled(chunk, numbers, texts, na_values)
                if columns:
                    n_lines = len(columns[numbers[0]])
                    yield range(done + 1, done + 1 + n_lines), columns
                else:
                    source = list(io.StringIO(chunk, newline=""))
                    n_lines = len(source)
                    # A cell may go on in the next line, and in the next chunk.
                    further = () if _quotes_end_on_their_line(chunk) else lines
                    rows = self._rows(chain(source, further), done)
                    while some := list(islice(rows, max(1, _ROWS_AT_ONCE // width))):
                        at, cells = zip(*some, strict=True)
                        yield at, dict(enumerate(zip(*cells, strict=True)))
                done += n_lines

    def _skip_header(self, lines: Lines) -> int:
        """Number of lines up to the end of the header."""
        if not self.dialect.header:
            return 0
        reader = csv.reader(lines, delimiter=self.dialect.delimiter)
        try:
            rows = (row for row in reader if any(cell.strip() for cell in row))
            next(islice(rows, self.dialect.title, None), None)
        except csv.Error as error:
            raise TableError(f"{self.shown}, line 1: {error}") from error
        return reader.line_num

    def _rows(self, source: Iterable[str], offset: int) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of every row; ``offset`` lines come before them."""
        width = len(self.dialect.names)
        reader = csv.reader(source, delimiter=self.dialect.delimiter)
        before = 0
        try:
            for row in reader:
                number, before = before + 1, reader.line_num
                # Lines without any content separate blocks; they are no rows.
                if (len(row) != width or not row[0]) and not any(cell.strip() for cell in row):
                    continue
                if len(row) != width:
                    text = self._ragged(offset + number, offset + before, len(row))
                    raise TableError(text, "delimiter")
                yield offset + number, row
        except csv.Error as error:
            raise TableError(
                f"{self.shown}, line {offset + before + 1}: {error}; "
                "look for a quotation mark that is never closed"
            ) from error

    def _ragged(self, first: int, last: int, count: int) -> str:
        dialect = self.dialect
        place = f"line {first}" if first == last else f"lines {first} to {last}"
        source = "the header has" if dialect.header else "the first row has"
        hint = " or an unclosed quotation mark" if first != last else ""
        sign = "" if dialect.delimiter == NO_DELIMITER else f" {dialect.delimiter!r}"
        return (
            f"{self.shown}, {place}: {count} values where {source} {len(dialect.names)}; "
            f"look for a missing or extra{sign}{hint}, or columns were split at the wrong sign"
        )

    def _compiled(
        self, chunk: str, numbers: Sequence[int], texts: Sequence[int], na_values: Iterable[str]
    ) -> dict[int, Column] | None:
        """The columns of plain lines, or None if any of them is not plain after all."""
        delimiter, marks = self.dialect.delimiter, self.dialect.marks
        # Arrow knows no thousands marks and needs a delimiter of one byte.
        if marks.thousands or not delimiter.isascii() or not numbers or not arrow_available():
            return None
        if "\r" in chunk:
            chunk = chunk.replace("\r\n", "\n").replace("\r", "\n")
        if chunk[0] == "\n" or "\n\n" in chunk:
            return None
        if '"' in chunk:
            within = rf'[^"\n{re.escape(delimiter)}]'
            # Quotation marks inside a cell: the two readers need not agree on them.
            if re.search(f'{within}"{within}', chunk) or not _quotes_end_on_their_line(chunk):
                return None
        import pyarrow as pa
        from pyarrow import csv as arrow

        content = chunk.encode("utf-8", "replace")
        types = {str(k): pa.float64() for k in numbers} | {str(k): pa.string() for k in texts}
        try:
            table = arrow.read_csv(
                pa.py_buffer(content),
                read_options=arrow.ReadOptions(
                    use_threads=False,
                    block_size=len(content) + 1,
                    column_names=[str(k) for k in range(len(self.dialect.names))],
                ),
                parse_options=arrow.ParseOptions(
                    delimiter=delimiter, ignore_empty_lines=False, newlines_in_values=False
                ),
                convert_options=arrow.ConvertOptions(
                    include_columns=list(types),
                    column_types=types,
                    null_values=[*_NULLS, *na_values],
                    strings_can_be_null=False,
                    decimal_point=marks.decimal,
                ),
            )
        except (pa.ArrowException, OverflowError):
            return None
        columns: dict[int, Column] = {k: table.column(str(k)).to_numpy() for k in numbers}
        # Lines of delimiters alone are no rows; the careful reader looks closer.
        if np.logical_and.reduce([np.isnan(column) for column in columns.values()]).any():
            return None
        return columns | {k: table.column(str(k)).to_pylist() for k in texts}


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
    tabs = {"tsv", "tab"} & {*path.name.lower().split(".")[1:]}
    dialect = sniff(lines, later, options, "\t" if tabs else None)
    if not dialect.names:
        raise TableError(f"{path} holds nothing but blank lines")
    return Text(path, encoding, dialect, options.shown_as or path, options.encoding is None)


@cache
def arrow_available() -> bool:
    """Is there a compiled reader? Without it the same is read, several times as slowly."""
    return importlib.util.find_spec("pyarrow") is not None


def _quotes_end_on_their_line(chunk: str) -> bool:
    if '"' not in chunk:
        return True
    raw = np.frombuffer(chunk.encode("utf-8", "replace"), dtype=np.uint8)
    parity = np.cumsum(raw == ord('"'), dtype=np.int64)
    return not (parity[(raw == ord("\n")) | (raw == ord("\r"))] & 1).any() and parity[-1] % 2 == 0
