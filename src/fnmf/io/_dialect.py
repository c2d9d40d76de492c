"""How a text table is written: delimiter, decimal and thousands mark are decided together.

Every pair of delimiter and marks is a reading of the sample. The reading that explains most
cells as numbers in rows of one length wins; when another explains as many and gives other
values, that is said.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fnmf.io._messages import Note
from fnmf.io._numbers import (
    ALL_MARKS,
    INFINITE,
    PLAIN,
    Marks,
    is_missing,
    meanings,
    number,
    parse_number,
    shape_of,
)
from fnmf.io._options import ReadOptions

_DELIMITERS = (",", "\t", ";", "|", " ")
# For a file with one column: a sign that no table uses.
NO_DELIMITER = "\x1f"
_SAMPLE_ROWS = 1000
_SAMPLE_CELLS = 60_000
_FEWEST_ROWS = 12
_EXAMPLES = 50
# Rows of a title above a table, and columns without which a single cell tells no title.
_MOST_TITLE, _FEWEST_NAMES = 10, 3
# Rows of equal length count a little even where nothing is a number.
_WORTH_OF_TEXT = 0.05


@dataclass(frozen=True)
class Dialect:
    """Everything needed to read the rest of the file.

    ``title`` rows stand above the header.
    ``foreign`` names the columns that are numbers only with other marks, with one of their cells.
    ``proven`` says whether a cell of the sample excludes that decimal marks divide thousands,
    ``examples`` are cells of the columns of text.
    """

    delimiter: str = NO_DELIMITER
    marks: Marks = PLAIN
    header: bool = False
    title: int = 0
    names: tuple[str, ...] = ()
    numeric: tuple[bool, ...] = ()
    notes: tuple[Note, ...] = ()
    foreign: dict[int, str] = field(default_factory=dict)
    proven: bool = True
    examples: dict[int, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Reading:
    """The sample split at one sign, with what was counted of its first row and of the others."""

    delimiter: str
    marks: Marks
    rows: list[list[str]]
    first: np.ndarray
    others: np.ndarray
    score: float
    title: Sequence[Sequence[str]] = ()


def sniff(
    lines: Sequence[str], later: Sequence[str], options: ReadOptions, prefer: str | None = None
) -> Dialect:
    """Decide from the first lines of a file and some further down; no names if all are blank."""
    readings = _readings(lines, later, options, prefer)
    if not readings:
        return Dialect()
    best = max(readings, key=lambda reading: reading.score)
    rivals = [r for r in readings if r is not best and r.score > best.score - 1e-9]
    marks, first, counted = best.marks, best.rows[0], best.others
    header = options.header
    if header is None:
        header = _has_header(first, _numeric(counted, marks), marks, len(best.rows) > 1)
    if not header:
        counted = counted + best.first
    numeric = _numeric(counted, marks)
    body = best.rows[1:] if header else best.rows
    # One cell for each shape: what is true of it is true of all.
    of_numbers = np.flatnonzero(numeric).tolist()
    cells = {shape_of(row[k]): row[k] for row in body for k in of_numbers}
    filled, by_marks = counted[:, -1], counted[:, :-2]
    foreign = ~numeric & (filled > 0) & (by_marks.max(axis=1) * 10 >= 9 * filled)
    return Dialect(
        best.delimiter,
        marks,
        header,
        len(best.title),
        tuple(
            (cell.strip() if header else "") or f"column {position}"
            for position, cell in enumerate(first, start=1)
        ),
        tuple(numeric.tolist()),
        (*_told_title(best.title), *_doubts(best, rivals, list(cells.values()), header)),
        {
            k: next(row[k] for row in body if number(row[k], other) is not None)
            for k in np.flatnonzero(foreign).tolist()
            for other in [ALL_MARKS[int(by_marks[k].argmax())]]
        },
        any(_proves(shape, marks) for shape in cells),
        {k: [row[k] for row in body[:_EXAMPLES]] for k in np.flatnonzero(~numeric).tolist()},
    )


def _parsed(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Rows that hold anything, as far as they can be split."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if row and any(cell.strip() for cell in row):
                rows.append(row)
                enough = len(rows) > _SAMPLE_ROWS or len(rows) * len(rows[0]) > _SAMPLE_CELLS
                if enough and len(rows) > _FEWEST_ROWS:
                    break
    except csv.Error:
        # The real reader tells where; a guess needs only what could be read.
        pass
    return rows


def _readings(
    lines: Sequence[str], later: Sequence[str], options: ReadOptions, prefer: str | None
) -> list[_Reading]:
    """All readings whose rows agree in length; those of the most even rows if none do."""
    found: list[_Reading] = []
    agreements = {prefer or NO_DELIMITER: 0.0}
    for delimiter in (options.delimiter,) if options.delimiter else (*_DELIMITERS, NO_DELIMITER):
        rows = _parsed(lines, delimiter)
        if not rows:
            continue
        n_above = 0 if options.header is False else _title(rows)
        title, rows = rows[:n_above], rows[n_above:]
        width, count = Counter(map(len, rows)).most_common(1)[0]
        agreement, alone = count / len(rows), delimiter == NO_DELIMITER
        if width > 1:
            agreements[delimiter] = agreement
        fits = len(rows[0]) == width and (width > 1) is not alone
        if options.delimiter or (fits and not (alone and _names_columns(rows[0][0], options))):
            rows += [row for row in _parsed(later, delimiter) if len(row) == width]
            scored = _scored(delimiter, rows, agreement, options, delimiter == prefer)
            found += [replace(reading, title=title) for reading in scored]
    if not found:
        delimiter = max(agreements, key=lambda sign: agreements[sign])
        rows = _parsed(lines, delimiter)
        found = _scored(delimiter, rows, 1.0, options, False) if rows else []
    return found


def _title(rows: Sequence[Sequence[str]]) -> int:
    """Number of rows above a row of names, each with a single cell of text, as a title has."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    filled = [[cell for cell in row if cell.strip()] for row in rows[: _MOST_TITLE + 3]]
    at = next((k for k, cells in enumerate(filled) if len(cells) > 1), 0)
    if width < _FEWEST_NAMES or not 0 < at <= _MOST_TITLE or len(rows[at]) != width:
        return 0
    above = [cell for cells in filled[:at] for cell in cells]
    # A row name may have no name itself.
    if len(filled[at]) < width - 1 or any(map(_some_number, above + filled[at])):
        return 0
    return at if any(_some_number(cell) for cells in filled[at + 1 :] for cell in cells) else 0


def _told_title(title: Sequence[Sequence[str]]) -> Iterator[Note]:
    if title:
        first = next(cell.strip() for cell in title[0] if cell.strip())
        yield Note(
            f"{first[:60]!r} was taken as a title above the names of the columns",
            why="nothing stands beside it",
        )


def _names_columns(cell: str, options: ReadOptions) -> bool:
    """Does a first line hold several names, so that the file has more than one column?"""
    return any(sign in cell for sign in _DELIMITERS[:-1]) and not any(
        number(cell, marks) is not None for marks in options.marks(NO_DELIMITER)
    )


def _scored(
    delimiter: str,
    rows: list[list[str]],
    agreement: float,
    options: ReadOptions,
    preferred: bool,
) -> list[_Reading]:
    """The readings of some rows with all marks."""
    width = len(rows[0])
    rows = [row for row in rows if len(row) == width]
    first, others = _counted(rows[:1], width), _counted(rows[1:], width)
    judged = others if len(rows) > 1 else first
    if len(rows) > 2 and all(map(_some_number, rows[0])):
        judged = first + others
    by_marks, filled = judged[:, :-2], judged[:, -1:]
    shares = np.where(by_marks * 2 >= filled, by_marks, 0).sum(axis=0) / max(filled.sum(), 1)
    scores = agreement * (_WORTH_OF_TEXT + shares) + preferred
    return [
        _Reading(delimiter, m, rows, first, others, float(scores[ALL_MARKS.index(m)]))
        for m in options.marks(delimiter)
    ]


def _counted(rows: Sequence[Sequence[str]], width: int) -> np.ndarray:
    """Of each column: cells that are numbers with each of the marks, infinite ones, filled ones."""
    result = np.zeros((width, len(ALL_MARKS) + 2))
    for counts, column in zip(result, zip(*rows, strict=True), strict=False):
        for shape, n in Counter(map(shape_of, column)).items():
            readable = ~np.isnan(meanings(shape))
            if readable.any():
                # What begins with a zero is rather a piece of a number that was torn apart.
                torn = shape[0] == "0" and len(shape) > 1 and shape.isdigit()
                counts[:-2] += n * readable - 0.1 * n * torn
            elif is_missing(shape):
                continue
            counts[-2] += n * (shape.lower() in INFINITE)
            counts[-1] += n
    return result


def _numeric(counted: np.ndarray, marks: Marks) -> np.ndarray:
    """Columns of which at least half are numbers."""
    return (counted[:, ALL_MARKS.index(marks)] + counted[:, -2]) * 2 >= counted[:, -1]


def _some_number(cell: str) -> bool:
    return is_missing(cell) or not np.isnan(meanings(shape_of(cell))).all()


def _proves(shape: str, marks: Marks) -> bool:
    """Does a number have a decimal mark that cannot stand between thousands?"""
    values = meanings(shape)
    known = set(values[~np.isnan(values)].tolist())
    return marks.decimal in shape and len(known) == 1 and values[ALL_MARKS.index(marks)] in known


def _has_header(first: Sequence[str], numeric: np.ndarray, marks: Marks, has_body: bool) -> bool:
    texts = [not _some_number(cell) and parse_number(cell, marks) is None for cell in first]
    if not has_body:
        return any(texts)
    # Text above numbers is a name; in a table of text only, the first row is taken as names.
    return bool((np.array(texts) & numeric).any() or not numeric.any())


def _doubts(
    reading: _Reading, rivals: Sequence[_Reading], cells: Sequence[str], header: bool
) -> Iterator[Note]:
    same = [rival.marks for rival in rivals if rival.delimiter == reading.delimiter]
    pairs = ((c, parse_number(c, reading.marks), number(c, m)) for m in same for c in cells)
    for cell, taken, other in pairs:
        if taken is not None and other is not None and taken != other:
            yield doubtful_marks(cell.strip(), taken, other)
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
