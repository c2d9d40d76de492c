"""What counts as a number in a cell, for each pair of decimal and thousands mark.

Every pattern is possessive, so that a cell of any length is judged in linear time.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "#n/a", "<na>", "missing"}
)
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
# Programs write spaces of several widths, two apostrophes and a typographic minus.
_SPACES = " \u00a0\u2009\u202f"
_APOSTROPHES = "'\u2019"
_CLASSES = {",": ",", ".": r"\.", " ": f"[{_SPACES}]", "'": f"[{_APOSTROPHES}]"}
_ONES = str.maketrans("023456789", "1" * 9)
_LONGEST_SHAPE = 64
DECIMAL_MARKS = (".", ",")


@dataclass(frozen=True)
class Marks:
    """How numbers are written: ``1.234,5`` has a decimal comma and a point between thousands."""

    decimal: str = "."
    thousands: str = ""

    def __str__(self) -> str:
        told = f"decimal {_name(self.decimal)}"
        return told + (f", thousands {_name(self.thousands)}" if self.thousands else "")


PLAIN = Marks()
# Simpler ones first: they win where several readings explain a file equally well.
ALL_MARKS = (
    PLAIN,
    Marks(",", ""),
    *(
        Marks(decimal, thousands)
        for thousands in (",", ".", " ", "'")
        for decimal in DECIMAL_MARKS
        if decimal != thousands
    ),
)


def _name(mark: str) -> str:
    return {".": "point", ",": "comma", " ": "space", "'": "apostrophe"}[mark]


def is_missing(cell: str) -> bool:
    """Is this one of the usual ways to write that a value is not known?"""
    return cell.strip().lower() in MISSING


def is_number(cell: str, marks: Marks) -> bool:
    """Is the cell a finite number, written with these marks?"""
    return _pattern(marks).fullmatch(cell) is not None


def number(cell: str, marks: Marks) -> float:
    """The value of a cell that :func:`is_number`."""
    text = cell.strip().replace("\u2212", "-")
    if marks.thousands:
        # The sign and the digits stay; the pattern has proved that marks stand where they may.
        text = "".join(c for c in text if c not in _variants(marks.thousands))
    return float(text.replace(marks.decimal, "."))


def parse_number(cell: str, marks: Marks = PLAIN) -> float | None:
    """The number in a cell, NaN for a missing value, None for text."""
    if is_number(cell, marks):
        return number(cell, marks)
    if is_missing(cell):
        return float("nan")
    if cell.strip().lower() in INFINITE:
        return float(cell)
    return None


def readings(cell: str) -> int:
    """With which of ``ALL_MARKS`` is the cell a number? One bit each, the first one lowest."""
    shape = shape_of(cell.strip())
    # Only what a number can look like is worth remembering.
    return _readings(shape) if len(shape) <= _LONGEST_SHAPE else _readings.__wrapped__(shape)


def proves(cell: str, marks: Marks) -> bool:
    """Does a number have a decimal mark that cannot stand between thousands?"""
    text = cell.strip()
    if marks.decimal not in text or len(text) > _LONGEST_SHAPE:
        return False
    return _proves(shape_of(text), marks)


def shape_of(text: str) -> str:
    """The cell with ones for digits, except for a zero that it begins with.

    Cells of one shape are numbers with the same marks.
    """
    shape = text.translate(_ONES)
    for at, char in enumerate(text[:2]):
        if char == "0":
            return shape[:at] + "0" + shape[at + 1 :]
        if char not in "+-\u2212":
            break
    return shape


@lru_cache(maxsize=20_000)
def _readings(shape: str) -> int:
    return sum(is_number(shape, marks) << k for k, marks in enumerate(ALL_MARKS))


@lru_cache(maxsize=20_000)
def _proves(shape: str, marks: Marks) -> bool:
    if not is_number(shape, marks):
        return False
    value = number(shape, marks)
    return all(number(shape, m) == value for m in ALL_MARKS if is_number(shape, m))


def _variants(mark: str) -> str:
    return {" ": _SPACES, "'": _APOSTROPHES}.get(mark, mark)


@cache
def _pattern(marks: Marks) -> re.Pattern[str]:
    decimal = _CLASSES[marks.decimal]
    whole = r"\d++"
    if marks.thousands:
        # Groups of three after a first group without leading zero, or no groups at all.
        grouped = rf"[1-9]\d{{0,2}}(?:{_CLASSES[marks.thousands]}\d{{3}})++(?!\d)"
        whole = rf"(?:{grouped}|\d++)"
    body = rf"(?:{whole}(?:{decimal}\d*+)?|{decimal}\d++)"
    return re.compile(rf"\s*+[+\-\u2212]?{body}(?:[eE][+-]?\d++)?\s*+", re.ASCII)
