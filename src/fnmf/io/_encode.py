"""Columns of text and dates as numbers from 0 to 1: flags, categories, parts of dates.

The habits are skrub's: two values are one feature, frequent categories get a feature each, rare
ones share one, and of a date the parts that vary are kept, with the time that has passed since the
first one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from fnmf.io._columns import notes_of_left_out
from fnmf.io._dates import DateForm, date_form
from fnmf.io._messages import Note, listed
from fnmf.io._numbers import is_missing
from fnmf.io._table import Table, check_not_empty

_MOST_CATEGORIES = 30
_RARE_SHARE = 0.005
_MOST_DATES = 3
_PARTS = ("year", "month", "weekday", "hour", "days")
_OTHER = "(other)"
# Text counts as a category if its frequent values cover this share of the cells.
_COVERED = 0.8
_YES = frozenset({"yes", "y", "true", "t", "on", "1", "ja", "j", "oui", "si", "sí", "sim", "tak"})


@dataclass(frozen=True)
class Category:
    """A column of text: its frequent values, and whether other ones share a feature.

    Of a ``flag``, the last of two values is the only feature; ``gaps`` stands where the cell is
    missing.
    """

    name: str
    values: tuple[str, ...]
    other: bool
    flag: bool = False
    gaps: float = 0.0

    @property
    def columns(self) -> list[str]:
        """Names of the features."""
        values = [*self.values, _OTHER] if self.other else self.values
        return [f"{self.name}={value}" for value in (values[-1:] if self.flag else values)]

    def features(self, cells: Sequence[str]) -> np.ndarray:
        """A one where the cell has the value of the feature."""
        at = {value: k for k, value in enumerate(self.values)}
        result = np.zeros((len(cells), len(self.values) + self.other))
        for row, cell in enumerate(cells):
            text = cell.strip()
            if text in at:
                result[row, at[text]] = 1
            elif is_missing(text):
                result[row] = self.gaps
            elif self.other:
                result[row, -1] = 1
        return result[:, -1:] if self.flag else result


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

    def days(self, cells: Sequence[str]) -> np.ndarray:
        """The dates as days; NaN where one is missing."""
        return DateForm(self.order).days(cells)

    def features(self, cells: Sequence[str]) -> np.ndarray:
        """Parts and days, each from 0 to 1; NaN where the date is missing."""
        wanted = [_PARTS.index(part) for part in (*self.parts, "days")]
        return _parts(self.days(cells), self.first, self.span)[:, wanted]


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

    @property
    def features(self) -> list[str]:
        """Names of all features."""
        between = [f"{a} - {b} (days)" for a, b, _ in self.differences]
        return [*(name for code in self.codes for name in code.columns), *between]

    def source_of(self) -> dict[str, str]:
        """The column of the file behind each feature."""
        return {feature: code.name for code in self.codes for feature in code.columns}

    def apply(self, table: Table) -> None:
        """Put the features beside the numbers of ``table``."""
        blocks = [np.asarray(table.X)]
        blocks += [code.features(table.texts[code.name]) for code in self.codes]
        days = {m.name: m.days(table.texts[m.name]) for m in self.moments if self.differences}
        blocks += [((days[a] - days[b]) / scale)[:, None] for a, b, scale in self.differences]
        table.X, table.names = np.hstack(blocks), [*table.names, *self.features]
        table.texts, table.sources = {}, self.source_of()

    def typical(self, table: Table) -> np.ndarray:
        """The most frequent value of each category, NaN for all other features of ``table``."""
        result = np.full(len(table.names), np.nan)
        at = {name: k for k, name in enumerate(table.names)}
        for code in self.categories:
            columns = [at[name] for name in code.columns]
            known = table.X[~np.isnan(table.X[:, columns[0]])][:, columns]
            shares = known.mean(axis=0) if len(known) else np.zeros(len(columns))
            # Of equally frequent values the first one.
            most = np.arange(len(columns)) == shares.argmax()
            result[columns] = shares > 0.5 if code.flag else most
        return result

    def to_metadata(self) -> dict[str, Any]:
        """Plain values for the model file."""
        return {
            "categories": [
                [c.name, list(c.values), c.other, c.flag, "keep" if c.gaps else "zero"]
                for c in self.categories
            ],
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
            known = code.order in ("ymd", "dmy", "mdy") and set(code.parts) <= set(_PARTS[:-1])
            if not known or not np.isfinite([code.first, code.span]).all():
                raise ValueError("a column of dates is described wrongly")
        differences = [(str(a), str(b), float(scale)) for a, b, scale in metadata["differences"]]
        dates = {code.name for code in moments}
        if not all({a, b} <= dates and scale > 0 for a, b, scale in differences):
            raise ValueError("a difference of dates is described wrongly")
        categories = []
        for name, values, other, *later in metadata["categories"]:
            # Models of 0.1.0 know neither flags nor missing categories.
            flag, gaps = later or (False, "zero")
            missing = np.nan if gaps == "keep" else 0.0
            told = tuple(map(str, values))
            categories.append(Category(str(name), told, bool(other), bool(flag), missing))
        return cls(categories, moments, differences)


def learn_encoding(
    table: Table, everything: bool = True, categories: Sequence[str] = ()
) -> Encoding:
    """Encode the columns of text that a table has kept, in place, and note how.

    Without ``everything`` dates and text that hardly repeats are left out; those named by
    ``categories`` are categories whatever they hold.
    """
    encoding = Encoding()
    left_out, dates = [], []
    for name, cells in table.texts.items():
        asked = name in categories
        form = None if asked else date_form(cells)
        if form is None:
            code = _category(name, cells, 0.0 if everything or asked else _COVERED)
            if code is None:
                left_out.append(name)
            else:
                encoding.categories.append(code)
        elif everything:
            encoding.moments.append(_moment(name, cells, form))
            if form.unsure:
                table.notes.append(Note(f"column {name!r}: the month was taken to come first"))
        elif table.ids is None and "" not in cells and len(set(cells)) == len(cells):
            # Moments that all differ are the best name a row has.
            table.name_rows(list(cells), name)
        else:
            dates.append(name)
    early = encoding.moments[:_MOST_DATES]
    encoding.differences = _differences({m.name: m.days(table.texts[m.name]) for m in early})
    check_not_empty(
        table.X.shape[0], table.X.shape[1] + len(encoding.sources), table.path, [*table.texts]
    )
    table.notes += _notes(encoding, left_out, dates, categories)
    encoding.apply(table)
    return encoding


def _notes(
    encoding: Encoding, left_out: list[str], dates: list[str], asked: Sequence[str]
) -> Iterator[Note]:
    flags = [f"{c.name}={c.values[-1]}" for c in encoding.categories if c.flag]
    many = [c.name for c in encoding.categories if not c.flag and c.name not in asked]
    given = [c.name for c in encoding.categories if not c.flag and c.name in asked]
    if flags:
        yield Note(f"flags, 1 or 0: {listed(flags)}", "left_out", why="they have two values")
    if many:
        why = "text that repeats; the values of a column count as one"
        yield Note(f"categories: {listed(many)}", "left_out", why=why)
    if given:
        why = "you said so; the values of a column count as one"
        yield Note(f"categories: {listed(given)}", why=why)
    if encoding.moments:
        yield Note(f"dates turned into features: {listed([m.name for m in encoding.moments])}")
    yield from notes_of_left_out("dates", dates)
    if left_out:
        text = f"columns of text are left out: {listed(left_out)}"
        why = "nearly every cell is different, or all are the same"
        yield Note(text, why=why, columns=left_out)


def _category(name: str, cells: Sequence[str], covered: float) -> Category | None:
    counts = Counter(cell.strip() for cell in cells if not is_missing(cell))
    fewest = max(2, int(np.ceil(_RARE_SHARE * len(cells))))
    values = [value for value, n in counts.most_common(_MOST_CATEGORIES) if n >= fewest]
    known = sum(counts[value] for value in values)
    if not values or len(counts) == 1 or known < covered * counts.total():
        return None
    if len(values) == len(counts) == 2:
        # The value that means yes is the feature; of any two, the later one.
        pair = sorted(values, key=lambda value: (value.casefold() in _YES, value))
        return Category(name, tuple(pair), other=False, flag=True, gaps=np.nan)
    return Category(name, tuple(sorted(values)), len(values) < len(counts), gaps=np.nan)


def _moment(name: str, cells: Sequence[str], form: DateForm) -> Moment:
    days = form.days(cells)
    days = days[np.isfinite(days)]
    first, span = float(days.min()), float(np.ptp(days))
    varies = np.ptp(_parts(days, first, span), axis=0) > 0
    parts = tuple(part for part, kept in zip(_PARTS[:-1], varies, strict=False) if kept)
    return Moment(name, form.order, parts, first, span)


def _parts(days: np.ndarray, first: float, span: float) -> np.ndarray:
    """Parts of dates in the order of ``_PARTS``, NaN where a date is missing."""
    result = np.full((len(days), len(_PARTS)), np.nan)
    known = np.isfinite(days)
    moment, day = days[known], np.floor(days[known])
    months = day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    # The first of January 1970 was a Thursday. What lies before the first date counts as it does.
    result[known] = np.column_stack(
        [
            np.maximum(months // 12 - int(first // 365.25), 0) / np.ceil(max(1.0, span / 365.25)),
            months % 12 / 11,
            (day + 3) % 7 / 6,
            np.floor((moment - day) * 24 + 1e-9) / 23,
            np.maximum(moment - first, 0) / max(span, 1.0),
        ]
    )
    return result


def _differences(days: dict[str, np.ndarray]) -> list[tuple[str, str, float]]:
    """Time between two dates of a row, for pairs of which one is always the later."""
    found = []
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
