"""Columns of dates: how they are written, and their days as numbers."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fnmf.io._numbers import is_missing

_TIME = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?(?:Z|[+-]\d{2}:?\d{2})?"
_FORMS = {
    "year first": re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_TIME}", re.ASCII),
    "year last": re.compile(rf"(\d{{1,2}})[-/.](\d{{1,2}})[-/.](\d{{4}}){_TIME}", re.ASCII),
}
_MOSTLY = 0.9
_SECONDS = 86_400


@dataclass(frozen=True)
class DateForm:
    """The way the dates of a column are written."""

    order: str
    unsure: bool = False

    def days(self, cells: Sequence[str]) -> np.ndarray:
        """Days since 1970-01-01 with fractions; NaN for what is missing or no date."""
        return np.array([self._day(cell.strip()) for cell in cells], dtype=np.float64)

    def _day(self, cell: str) -> float:
        name = "year first" if self.order == "ymd" else "year last"
        found = _FORMS[name].fullmatch(cell)
        if found is None:
            return np.nan
        a, b, c, hour, minute, second = (int(part or 0) for part in found.groups())
        year, month, day = {"ymd": (a, b, c), "dmy": (c, b, a), "mdy": (c, a, b)}[self.order]
        try:
            moment = datetime.datetime(year, month, day, hour, minute, second)
        except ValueError:
            return np.nan
        return (moment - datetime.datetime(1970, 1, 1)).total_seconds() / _SECONDS


def date_form(cells: Sequence[str]) -> DateForm | None:
    """How the dates of a column are written, or None if it does not hold dates."""
    known = [cell.strip() for cell in cells if not is_missing(cell)]
    if not known:
        return None
    if _share(known, "ymd") >= _MOSTLY:
        return DateForm("ymd")
    shares = {order: _share(known, order) for order in ("dmy", "mdy")}
    best = max(shares, key=lambda order: shares[order])
    if shares[best] < _MOSTLY:
        return None
    # Points and dashes put the day first; with slashes only a day above twelve tells.
    equal = shares["dmy"] == shares["mdy"]
    if equal:
        best = "mdy" if all("/" in cell for cell in known) else "dmy"
    return DateForm(best, equal and "/" in known[0])


def _share(cells: Sequence[str], order: str) -> float:
    return float(np.isfinite(DateForm(order).days(cells)).mean())
