"""How a text table is written: delimiter, decimal and thousands mark are decided together.

Every pair of delimiter and marks is a reading of the sample. The reading that explains most
cells as numbers in rows of one length wins; when another explains as many and gives other
values, that is said.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fnmf.io._messages import Note
from fnmf.io._numbers import (
    ALL_MARKS,
    INFINITE,
    Marks,
    is_missing,
    is_number,
    number,
    parse_number,
    proves,
    readings,
    shape_of,
)
from fnmf.io._options import ReadOptions

_DELIMITERS = (",", "\t", ";", "|", " ")
# For a file with one column: a sign that no table uses.
NO_DELIMITER = "\x1f"
_SAMPLE_ROWS = 1000
_SAMPLE_CELLS = 60_000
_FEWEST_ROWS = 12
# Rows of equal length count a little even where nothing is a number.
_WORTH_OF_TEXT = 0.05


@dataclass(frozen=True)
class Dialect:
    """Everything needed to read the rest of the file.

    ``foreign`` names the columns that are numbers only with other marks, with one of their cells.
    ``proven`` says whether a cell of the sample excludes that decimal marks divide thousands,
    ``examples`` are cells of the columns of text.
    """

    delimiter: str
    marks: Marks
    header: bool
    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    notes: tuple[Note, ...] = ()
    foreign: dict[int, str] = field(default_factory=dict)
    proven: bool = True
    examples: dict[int, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Reading:
    delimiter: str
    marks: Marks
    rows: list[list[str]]
    width: int
    score: float


def sniff(
    lines: Sequence[str], later: Sequence[str], options: ReadOptions, prefer: str | None = None
) -> Dialect:
    """Decide from the first lines of a file and from some further down."""
    reading, rivals = _best(lines, later, options, prefer)
    rows, width = reading.rows, reading.width
    marks = reading.marks
    first = rows[0] if rows else []
    body = [row for row in rows[1:] if len(row) == width]
    header = options.header
    numeric = _numeric(body, width, marks)
    if header is None:
        header = _has_header(first, numeric, marks, bool(body))
    if not header:
        body = [row for row in rows if len(row) == width]
        numeric = _numeric(body, width, marks)
    names = tuple(
        (cell.strip() if header else "") or f"column {position}"
        for position, cell in enumerate(first, start=1)
    )
    # One cell for each shape: what is true of it is true of all.
    cells = list(
        {
            shape_of(cell.strip()): cell
            for row in body
            for cell, kept in zip(row, numeric, strict=True)
            if kept
        }.values()
    )
    return Dialect(
        reading.delimiter,
        marks,
        header,
        names,
        tuple(numeric),
        tuple(_doubts(reading, rivals, cells, header)),
        _foreign(body, numeric, options.marks(reading.delimiter)),
        any(proves(cell, marks) for cell in cells),
        {k: [row[k] for row in body[:50]] for k, kept in enumerate(numeric) if not kept},
    )


def parsed(lines: Sequence[str], delimiter: str, most: int) -> list[list[str]]:
    """Rows that hold anything, as far as they can be split."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if row and any(cell.strip() for cell in row):
                rows.append(row)
            enough = len(rows) > most or len(rows) * len(rows[0] if rows else ()) > _SAMPLE_CELLS
            if enough and len(rows) > _FEWEST_ROWS:
                break
    except csv.Error:
        # The real reader tells where; a guess needs only what could be read.
        pass
    return rows


def _best(
    lines: Sequence[str], later: Sequence[str], options: ReadOptions, prefer: str | None
) -> tuple[_Reading, list[_Reading]]:
    readings: list[_Reading] = []
    fallback: tuple[float, str] = (0.0, prefer or NO_DELIMITER)
    wanted = (options.delimiter,) if options.delimiter else (*_DELIMITERS, NO_DELIMITER)
    for delimiter in wanted:
        rows = parsed(lines, delimiter, _SAMPLE_ROWS)
        if not rows:
            continue
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        agreement = count / len(rows)
        if width > 1 and agreement > fallback[0]:
            fallback = (agreement, delimiter)
        if len(rows[0]) != width and not options.delimiter:
            continue
        if (width > 1) is (delimiter == NO_DELIMITER) and not options.delimiter:
            continue
        if delimiter == NO_DELIMITER and _names_columns(rows[0][0], options):
            continue
        rows = rows + [row for row in parsed(later, delimiter, _SAMPLE_ROWS) if len(row) == width]
        readings += _scored(delimiter, rows, len(rows[0]), agreement, options, delimiter == prefer)
    if not readings:
        delimiter = fallback[1]
        rows = parsed(lines, delimiter, _SAMPLE_ROWS)
        width = len(rows[0]) if rows else 0
        if not rows:
            return _Reading(delimiter, options.marks(delimiter)[0], [], 0, 0.0), []
        readings = _scored(delimiter, rows, width, 1.0, options, False)
    best = max(readings, key=lambda reading: reading.score)
    equal = [r for r in readings if r is not best and r.score > best.score - 1e-9]
    return best, equal


def _names_columns(cell: str, options: ReadOptions) -> bool:
    """Does a first line hold several names, so that the file has more than one column?"""
    return any(sign in cell for sign in _DELIMITERS[:-1]) and not any(
        is_number(cell, marks) for marks in options.marks(NO_DELIMITER)
    )


def _scored(
    delimiter: str,
    rows: list[list[str]],
    width: int,
    agreement: float,
    options: ReadOptions,
    preferred: bool,
) -> list[_Reading]:
    body = [row for row in rows[1:] if len(row) == width] or rows[:1]
    if len(body) > 1 and all(_some_number(cell) for cell in rows[0]):
        body = [rows[0], *body]
    candidates = options.marks(delimiter)
    totals = [0.0] * len(candidates)
    known = 0
    for column in _columns(body, width):
        counts, filled = _counts(column, candidates)
        known += filled
        for k, count in enumerate(counts):
            totals[k] += count if count * 2 >= filled else 0
    return [
        _Reading(
            delimiter,
            marks,
            rows,
            width,
            agreement * (_WORTH_OF_TEXT + totals[k] / max(known, 1)) + preferred,
        )
        for k, marks in enumerate(candidates)
    ]


def _columns(rows: Sequence[Sequence[str]], width: int) -> Iterator[tuple[str, ...]]:
    return (tuple(row[k] for row in rows if len(row) == width) for k in range(width))


def _some_number(cell: str) -> bool:
    return is_missing(cell) or readings(cell) != 0


def _counts(column: Sequence[str], candidates: Sequence[Marks]) -> tuple[list[float], int]:
    """How many cells are numbers with each of the marks, and how many are not missing."""
    masks: Counter[int] = Counter()
    zeros, known = 0, 0
    for cell in column:
        mask = readings(cell)
        if mask:
            masks[mask] += 1
            # What begins with a zero is rather a piece of a number that was torn apart.
            zeros += cell[:1] == "0" and len(cell) > 1 and cell.isdigit()
        elif not is_missing(cell):
            known += 1
    counts = [
        sum(n for mask, n in masks.items() if mask >> ALL_MARKS.index(marks) & 1)
        for marks in candidates
    ]
    return [count - 0.1 * zeros for count in counts], known + masks.total()


def _numeric(rows: Sequence[Sequence[str]], width: int, marks: Marks) -> list[bool]:
    result = []
    for column in _columns(rows, width):
        (count,), known = _counts(column, [marks])
        infinite = sum(cell.strip().lower() in INFINITE for cell in column)
        result.append((count + infinite) * 2 >= known)
    return result


def _has_header(
    first: Sequence[str], numeric: Sequence[bool], marks: Marks, has_body: bool
) -> bool:
    texts = [not _some_number(cell) and parse_number(cell, marks) is None for cell in first]
    if not has_body:
        return any(texts)
    # Text above numbers is a name; in a table of text only, the first row is taken as names.
    return any(t and n for t, n in zip(texts, numeric, strict=False)) or not any(numeric)


def _foreign(
    rows: Sequence[Sequence[str]], numeric: Sequence[bool], candidates: Sequence[Marks]
) -> dict[int, str]:
    """Columns that the chosen marks make text and other marks would make numbers."""
    found = {}
    for k, column in enumerate(_columns(rows, len(numeric))):
        if numeric[k]:
            continue
        counts, known = _counts(column, ALL_MARKS)
        if known and max(counts) * 10 >= 9 * known:
            marks = ALL_MARKS[counts.index(max(counts))]
            found[k] = next(cell for cell in column if is_number(cell, marks))
    return found


def _doubts(
    reading: _Reading, rivals: Sequence[_Reading], cells: Sequence[str], header: bool
) -> Iterator[Note]:
    for rival in rivals:
        if rival.delimiter != reading.delimiter:
            continue
        marked = (cell for cell in cells if is_number(cell, rival.marks))
        for cell in marked:
            taken = parse_number(cell, reading.marks)
            other = number(cell, rival.marks)
            if taken is not None and taken != other:
                yield doubtful_marks(cell.strip(), taken, other)
                break
        else:
            continue
        break
    signs = sorted({r.delimiter for r in rivals} - {reading.delimiter})
    if signs:
        told = " or ".join(_told(sign) for sign in signs)
        text = f"columns were split at {_told(reading.delimiter)}; {told} would do as well"
        yield Note(text, "delimiter")
    elif reading.delimiter == NO_DELIMITER and not header and any("," in cell for cell in cells):
        yield Note("each line was read as one number with a comma in it", "delimiter")


def doubtful_marks(cell: str, taken: float, other: float) -> Note:
    """The note on a number that could mean another one."""
    return Note(f"{cell!r} was read as {taken:.15g} and could mean {other:.15g}", "marks")


def _told(delimiter: str) -> str:
    known = {"\t": "tabs", " ": "spaces", NO_DELIMITER: "nothing (one column)"}
    return known.get(delimiter, repr(delimiter))
