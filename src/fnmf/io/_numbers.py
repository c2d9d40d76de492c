"""What counts as a number in a cell, for each pair of decimal and thousands mark.

Every pattern is possessive, so that a cell of any length is judged in linear time.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "#n/a", "<na>", "missing"}
)
INFINITE = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
# Programs write spaces of several widths, two apostrophes and a typographic minus.
_VARIANTS = {",": ",", ".": ".", " ": " \u00a0\u2009\u202f", "'": "'\u2019"}
_NAMES = {".": "point", ",": "comma", " ": "space", "'": "apostrophe"}
_ONES = str.maketrans("023456789", "1" * 9)
_LONGEST_SHAPE = 64
_CURRENCY = r"([$€£¥₹]|USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD|BRL|MXN|SEK|NOK|DKK|PLN|CZK)"
_BEFORE = re.compile(rf"\s*+([+\-\u2212]?){_CURRENCY}\s*+(?=[\d.,+\-\u2212])")
# A percentage has its sign behind it, as many amounts have their currency.
_AFTER = re.compile(rf"(?<=[\d.,])\s*+(?:{_CURRENCY}|(%))\s*+\Z")


@dataclass(frozen=True)
class Marks:
    """How numbers are written: ``1.234,5`` has a decimal comma and a point between thousands."""

    decimal: str = "."
    thousands: str = ""

    def __str__(self) -> str:
        told = f"decimal {_NAMES[self.decimal]}"
        return told + (f", thousands {_NAMES[self.thousands]}" if self.thousands else "")


PLAIN = Marks()
# Simpler ones first: they win where several readings explain a file equally well.
ALL_MARKS = (
    PLAIN,
    Marks(",", ""),
    *(Marks(decimal, mark) for mark in _VARIANTS for decimal in ".," if decimal != mark),
)


def is_missing(cell: str) -> bool:
    """Is this one of the usual ways to write that a value is not known?"""
    return cell.strip().lower() in MISSING


def in_unit(cell: str) -> tuple[str, str]:
    """The currency or % of an amount, "" if there is none, and the cell without it."""
    if cell[:1].isdigit() and cell[-1:].isdigit():
        # Most cells; patterns take longer.
        return "", cell
    if found := _BEFORE.match(cell):
        return found[2], found[1] + cell[found.end() :]
    if found := _AFTER.search(cell):
        return found[1] or found[2], cell[: found.start()]
    return "", cell


def number(cell: str, marks: Marks) -> float | None:
    """The value of a cell that is a finite number, written with these marks."""
    if _pattern(marks).fullmatch(cell) is None:
        unit, cell = in_unit(cell)
        if not unit or _pattern(marks).fullmatch(cell) is None:
            return None
    text = cell.strip().replace("\u2212", "-")
    # The pattern has proved that marks stand where they may.
    for sign in _VARIANTS.get(marks.thousands, ""):
        text = text.replace(sign, "")
    return float(text.replace(marks.decimal, "."))


def parse_number(cell: str, marks: Marks = PLAIN) -> float | None:
    """The number in a cell, NaN for a missing value, None for text."""
    value = number(cell, marks)
    if value is not None:
        return value
    if is_missing(cell):
        return float("nan")
    return float(cell) if cell.strip().lower() in INFINITE else None


def shape_of(cell: str) -> str:
    """The cell without its unit, ones for digits, except for a zero that it begins with.

    Cells of one shape are numbers with the same marks.
    """
    text = in_unit(cell)[1].strip()
    shape = text.translate(_ONES)
    start = 1 if text[:1] in ("+", "-", "\u2212") else 0
    return f"{shape[:start]}0{shape[start + 1 :]}" if text[start : start + 1] == "0" else shape


def meanings(shape: str) -> np.ndarray:
    """The number that a shape is with each of ``ALL_MARKS``, NaN where it is none."""
    # Only what a number can look like is worth remembering.
    return (_meanings if len(shape) <= _LONGEST_SHAPE else _meanings.__wrapped__)(shape)


@lru_cache(maxsize=20_000)
def _meanings(shape: str) -> np.ndarray:
    values = (number(shape, marks) for marks in ALL_MARKS)
    return np.array([np.nan if value is None else value for value in values])


@cache
def _pattern(marks: Marks) -> re.Pattern[str]:
    decimal = f"[{marks.decimal}]"
    body = rf"(?:\d++(?:{decimal}\d*+)?|{decimal}\d++)(?:[eE][+-]?\d++)?"
    if marks.thousands:
        # Groups of three after a first group without leading zero, or no groups at all. Who
        # writes powers of ten writes no groups.
        grouped = rf"[1-9]\d{{0,2}}(?:[{_VARIANTS[marks.thousands]}]\d{{3}})++(?!\d)"
        body = rf"(?:{grouped}(?:{decimal}\d*+)?(?![eE])|{body})"
    return re.compile(rf"\s*+[+\-\u2212]?{body}\s*+", re.ASCII)
