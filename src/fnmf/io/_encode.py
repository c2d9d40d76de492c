"""Columns of text and dates as numbers from 0 to 1: categories one by one, parts of dates.

The habits are skrub's: frequent categories get a column each, rare ones share one, and of a date
the parts that vary are kept, with the time that has passed since the first one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from fnmf.io._dates import DateForm, date_form
from fnmf.io._numbers import is_missing
from fnmf.io._table import Table
from fnmf.io._told import Note, TableError, listed

_MOST_CATEGORIES = 30
_RARE_SHARE = 0.005
_MOST_DATES = 3
_PARTS = ("year", "month", "weekday", "hour")
_OTHER = "(other)"


@dataclass(frozen=True)
class Category:
    """A column of text: its frequent values, and whether others share a column."""

    name: str
    values: tuple[str, ...]
    other: bool

    @property
    def columns(self) -> list[str]:
        """Names of the features."""
        values = [*self.values, _OTHER] if self.other else self.values
        return [f"{self.name}={value}" for value in values]

    def features(self, cells: Sequence[str]) -> np.ndarray:
        """A one where the cell has the value of the column, zeros where it is missing."""
        at = {value: k for k, value in enumerate(self.values)}
        result = np.zeros((len(cells), len(self.columns)))
        for row, cell in enumerate(cells):
            text = cell.strip()
            if text in at:
                result[row, at[text]] = 1
            elif self.other and not is_missing(text):
                result[row, -1] = 1
        return result


@dataclass(frozen=True)
class Moment:
    """A column of dates: how they are written, which parts vary, and the days they cover."""

    name: str
    order: str
    parts: tuple[str, ...]
    first: float
    span: float

    @property
    def columns(self) -> list[str]:
        """Names of the features."""
        return [f"{self.name} ({part})" for part in (*self.parts, "days")]

    def features(self, cells: Sequence[str]) -> np.ndarray:
        """Parts and days, each from 0 to 1; NaN where the date is missing."""
        days = DateForm(self.order).days(cells)
        years = int(self.first // 365.25), max(1.0, self.span / 365.25)
        columns = [_part(days, part, years) for part in self.parts]
        # What lies before the first date of the training table counts as the first.
        columns.append(np.maximum(days - self.first, 0) / max(self.span, 1.0))
        return np.column_stack(columns)


@dataclass
class Encoding:
    """How columns of text became features, so that new rows can be treated alike."""

    categories: list[Category] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)
    differences: list[tuple[str, str, float]] = field(default_factory=list)

    @property
    def codes(self) -> "list[Category | Moment]":
        """Every column of text or dates, in the order of their features."""
        return [*self.categories, *self.moments]

    @property
    def sources(self) -> list[str]:
        """Columns that are needed."""
        return [code.name for code in self.codes]

    def apply(self, table: Table) -> None:
        """Put the features beside the numbers of ``table``."""
        lacking = [name for name in self.sources if name not in table.texts]
        if lacking:
            raise TableError(f"{table.path} lacks the columns {listed(lacking)}")
        blocks, names = [np.asarray(table.X)], list(table.names)
        for code in self.codes:
            blocks.append(code.features(table.texts[code.name]))
            names += code.columns
        forms = {code.name: DateForm(code.order) for code in self.moments}
        for a, b, scale in self.differences:
            gap = forms[a].days(table.texts[a]) - forms[b].days(table.texts[b])
            blocks.append(gap[:, None] / scale)
            names.append(f"{a} - {b} (days)")
        table.X, table.names, table.texts = np.hstack(blocks), names, {}

    def to_metadata(self) -> dict[str, Any]:
        """Plain values for the model file."""
        return {
            "categories": [[c.name, list(c.values), c.other] for c in self.categories],
            "moments": [[m.name, m.order, list(m.parts), m.first, m.span] for m in self.moments],
            "differences": [list(entry) for entry in self.differences],
        }

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any]) -> "Encoding":
        """The encoding stored with a model; an error if no table can have led to it."""
        if not isinstance(metadata, dict):
            raise TypeError("columns of text are not described")
        moments = [
            Moment(str(name), str(order), tuple(map(str, parts)), float(first), float(span))
            for name, order, parts, first, span in metadata["moments"]
        ]
        for code in moments:
            known = code.order in ("ymd", "dmy", "mdy") and set(code.parts) <= set(_PARTS)
            if not known or not np.isfinite([code.first, code.span]).all():
                raise ValueError("a column of dates is described wrongly")
        differences = [(str(a), str(b), float(scale)) for a, b, scale in metadata["differences"]]
        dates = {code.name for code in moments}
        if not all({a, b} <= dates and scale > 0 for a, b, scale in differences):
            raise ValueError("a difference of dates is described wrongly")
        categories = [
            Category(str(name), tuple(map(str, values)), bool(other))
            for name, values, other in metadata["categories"]
        ]
        return cls(categories, moments, differences)


def learn_encoding(table: Table) -> Encoding:
    """Encode the columns of text that a table has kept, in place, and note how."""
    encoding = Encoding()
    left_out = []
    for name, cells in table.texts.items():
        form = date_form(cells)
        code = _category(name, cells) if form is None else _moment(name, cells, form)
        if isinstance(code, Moment):
            encoding.moments.append(code)
            if form is not None and form.unsure:
                table.notes.append(Note(f"column {name!r}: the month was taken to come first"))
        elif code is not None:
            encoding.categories.append(code)
        else:
            left_out.append(name)
    encoding.differences = _differences(table, encoding.moments)
    if encoding.sources:
        text = f"columns of text and dates turned into features: {listed(encoding.sources)}"
        table.notes.append(Note(text))
    if left_out:
        text = f"columns of text with a value of its own in nearly every row: {listed(left_out)}"
        table.notes.append(Note(f"{text} were left out"))
    encoding.apply(table)
    return encoding


def _category(name: str, cells: Sequence[str]) -> Category | None:
    counts = Counter(cell.strip() for cell in cells if not is_missing(cell))
    fewest = max(2, int(np.ceil(_RARE_SHARE * len(cells))))
    values = [value for value, n in counts.most_common(_MOST_CATEGORIES) if n >= fewest]
    if not values or len(counts) == 1:
        return None
    return Category(name, tuple(sorted(values)), len(values) < len(counts))


def _moment(name: str, cells: Sequence[str], form: DateForm) -> Moment:
    days = form.days(cells)
    known = days[np.isfinite(days)]
    first, span = float(known.min()), float(np.ptp(known))
    years = int(first // 365.25), max(1.0, span / 365.25)
    parts = tuple(part for part in _PARTS if np.ptp(_part(known, part, years)) > 0)
    return Moment(name, form.order, parts, first, span)


def _part(days: np.ndarray, part: str, years: tuple[int, float]) -> np.ndarray:
    result = np.full(len(days), np.nan)
    known = np.isfinite(days)
    whole = np.floor(days[known])
    if part == "hour":
        result[known] = np.floor((days[known] - whole) * 24 + 1e-9) / 23
        return result
    if part == "weekday":
        # The first of January 1970 was a Thursday.
        result[known] = (whole + 3) % 7 / 6
        return result
    months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    if part == "month":
        result[known] = months % 12 / 11
    else:
        result[known] = np.maximum(months // 12 - years[0], 0) / np.ceil(years[1])
    return result


def _differences(table: Table, moments: Sequence[Moment]) -> list[tuple[str, str, float]]:
    """Time between two dates of a row, for pairs of which one is always the later."""
    found = []
    days = {m.name: DateForm(m.order).days(table.texts[m.name]) for m in moments[:_MOST_DATES]}
    for a, b in combinations(days, 2):
        gap = days[a] - days[b]
        gap = gap[np.isfinite(gap)]
        if not gap.size or np.ptp(gap) == 0:
            continue
        if gap.min() >= 0:
            found.append((a, b, float(gap.max())))
        elif gap.max() <= 0:
            found.append((b, a, float(-gap.min())))
    return found
