"""Lines of a delimited file in blocks: split by a compiled reader where that is safe."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from fnmf.io._dialect import Dialect
from fnmf.io._table import TableError

_CELLS_AT_ONCE = 200_000


@dataclass
class Block:
    """Some rows: where they start in the file, their cells, and their numbers if known."""

    lines: list[int]
    rows: list[list[str]]
    numbers: np.ndarray | None = None


def blocks(
    lines: Iterable[str], dialect: Dialect, path: Path, numeric: list[int], texts: bool
) -> Iterator[Block]:
    """The rows of a file below its header.

    Lines without quotation marks can be split without a look at their neighbours, and NumPy's
    compiled reader turns them into numbers. Everything else, and every block in which it finds
    something strange, goes through the csv module, which says exactly where the trouble is.
    """
    source = iter(lines)
    done = _skip_header(source, dialect, path) if dialect.header else 0
    width = len(dialect.names)
    at_once = max(1, _CELLS_AT_ONCE // width)
    while dialect.decimal == "." and (taken := list(islice(source, at_once))):
        if any('"' in line for line in taken):
            source = chain(taken, source)
            break
        numbers = _compiled(taken, dialect.delimiter, width, numeric)
        if numbers is None:
            yield from _careful(iter(taken), dialect, path, done, at_once)
        else:
            cells = (
                [line.rstrip("\r\n").split(dialect.delimiter) for line in taken] if texts else []
            )
            yield Block(list(range(done + 1, done + 1 + len(taken))), cells, numbers)
        done += len(taken)
    yield from _careful(source, dialect, path, done, at_once)


def _compiled(
    lines: list[str], delimiter: str, width: int, numeric: list[int]
) -> np.ndarray | None:
    """The numeric columns of plain lines, or None if any of them is not plain after all."""
    # Blank lines would be passed over in silence, and the line numbers with them.
    if not numeric or any(line.count(delimiter) != width - 1 or line.isspace() for line in lines):
        return None
    try:
        return np.loadtxt(lines, delimiter=delimiter, comments=None, usecols=numeric, ndmin=2)
    except ValueError:
        return None


def _skip_header(source: Iterator[str], dialect: Dialect, path: Path) -> int:
    reader = csv.reader(source, delimiter=dialect.delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                break
    except csv.Error as error:
        raise TableError(f"{path}, line 1: {error}.") from error
    return reader.line_num


def _careful(
    source: Iterator[str], dialect: Dialect, path: Path, offset: int, at_once: int
) -> Iterator[Block]:
    width = len(dialect.names)
    reader = csv.reader(source, delimiter=dialect.delimiter)
    block = Block([], [])
    before = 0
    try:
        for row in reader:
            number, before = before + 1, reader.line_num
            if len(row) != width or not row[0]:
                # Lines without any content separate blocks; they are no rows.
                if not any(cell.strip() for cell in row):
                    continue
                if len(row) != width:
                    raise TableError(_ragged(path, offset + number, offset + before, row, dialect))
            block.lines.append(offset + number)
            block.rows.append(row)
            if len(block.rows) == at_once:
                yield block
                block = Block([], [])
    except csv.Error as error:
        raise TableError(
            f"{path}, line {offset + before + 1}: {error}; "
            "look for a quotation mark that is never closed."
        ) from error
    if block.rows:
        yield block


def _ragged(path: Path, first: int, last: int, row: list[str], dialect: Dialect) -> str:
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    source = "the header has" if dialect.header else "the first row has"
    hint = " or an unclosed quotation mark" if first != last else ""
    return (
        f"{path}, {where}: {len(row)} values where {source} {len(dialect.names)}; "
        f"look for a missing or extra {dialect.delimiter!r}{hint}."
    )
