"""How a text table is written: delimiter, decimal sign, header, and what counts as a number."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "#n/a", "<na>", "missing"}
)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*", re.ASCII)
_INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
_DELIMITERS = (",", "\t", ";", "|", " ")
_SAMPLE_ROWS = 1000


@dataclass(frozen=True)
class Dialect:
    """Everything needed to read the rest of the file."""

    delimiter: str
    decimal: str
    header: bool
    names: tuple[str, ...]
    numeric: tuple[bool, ...]


def is_missing(cell: str) -> bool:
    """Is this one of the usual ways to write that a value is not known?"""
    return cell.strip().lower() in MISSING


def parse_number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell, NaN for a missing value, None for text."""
    if decimal == ",":
        cell = cell.replace(",", ".")
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if is_missing(cell):
        return float("nan")
    if cell.strip().lower() in _INFINITE:
        return float(cell)
    return None


def sniff(
    text: str,
    *,
    complete: bool,
    delimiter: str | None = None,
    header: bool | None = None,
    prefer: str | None = None,
) -> Dialect:
    """Guess the dialect from the beginning of a file."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not complete and "\n" in text:
        text = text[: text.rindex("\n")]
    lines = text.split("\n")
    delimiter = delimiter or _guess_delimiter(lines, prefer)
    rows = _rows(lines, delimiter)[: _SAMPLE_ROWS + 1]
    width = len(rows[0]) if rows else 0
    body = [row for row in rows[1:] if len(row) == width]
    decimal = _guess_decimal(rows, delimiter)
    columns = list(zip(*body, strict=True)) if body else [()] * width
    numeric = [_mostly_numbers(column, decimal) for column in columns]
    first = rows[0] if rows else []
    if header is None:
        header = _has_header(first, numeric, decimal, bool(body))
    if not header:
        everything = [row for row in rows if len(row) == width]
        numeric = [_mostly_numbers(c, decimal) for c in zip(*everything, strict=True)]
    names = tuple(
        (cell.strip() if header else "") or f"column {position}"
        for position, cell in enumerate(first, start=1)
    )
    return Dialect(delimiter, decimal, header, names, tuple(numeric))


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader((f"{line}\n" for line in lines), delimiter=delimiter):
            if row and any(cell.strip() for cell in row):
                rows.append(row)
    except csv.Error:
        # The real reader tells where; a guess needs only what could be read.
        pass
    return rows


def _guess_delimiter(lines: Sequence[str], prefer: str | None) -> str:
    best, best_score = prefer or ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        rows = _rows(lines[:200], delimiter)
        if not rows:
            continue
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        if width < 2:
            continue
        # Agreement between rows first; a delimiter within text cells splits them unevenly.
        score = (round(count / len(rows), 1) + (delimiter == prefer), width)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _guess_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    points = sum("." in cell and bool(_NUMBER.fullmatch(cell)) for cell in cells)
    return "," if commas > points else "."


def _mostly_numbers(column: Sequence[str], decimal: str) -> bool:
    known = [cell for cell in column if not is_missing(cell)]
    numbers = sum(parse_number(cell, decimal) is not None for cell in known)
    return numbers * 2 >= len(known)


def _has_header(first: Sequence[str], numeric: Sequence[bool], decimal: str, body: bool) -> bool:
    texts = [parse_number(cell, decimal) is None for cell in first]
    if not body:
        return any(texts)
    # Text above numbers is a name; in a table of text only, the first row is taken as names.
    return any(t and n for t, n in zip(texts, numeric, strict=True)) or not any(numeric)
