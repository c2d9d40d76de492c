"""Kinds of columns, and frames with categories: each becomes 0/1 features, a number if ordered."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

KINDS = ("flag", "category", "integer", "ordinal", "continuous", "constant")
# What a category of a frame may be called, without an order of its levels and with one.
_UNORDERED, _ORDERED = ("flag", "category"), ("category", "integer", "ordinal")


class Levels(NamedTuple):
    """Levels of a category, in their order if they have one."""

    names: tuple[str, ...]
    ordered: bool


def with_categories_encoded(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A frame of pandas or Polars with its categories as numbers.

    A category becomes a 0/1 feature for each level, named ``column=level``; of two levels the
    second one is enough. Ordered levels become one feature of whole numbers. Missing cells, and
    levels that were not there in the fit, are missing in all of them. ``categories_`` of the
    estimator keeps the levels, if there are any. Other columns that ``column_kinds`` calls
    categories are treated alike.
    """
    if reset:
        kinds = _kinds_by_column(getattr(estimator, "column_kinds", None), list(X.columns))
        found = {
            str(name): _levels(X[name], kinds.get(name, ""))
            for name in X.columns
            if _is_category(X[name]) or kinds.get(name) == "category"
        }
        vars(estimator).pop("categories_", None)
        if found:
            estimator.categories_ = found
    # Model files keep tuples without names.
    known = {name: Levels(*kept) for name, kept in getattr(estimator, "categories_", {}).items()}
    if not known:
        return X
    features: dict[str, Any] = {}
    for name in X.columns:
        if str(name) in known:
            features |= _encoded(str(name), X[name], known[str(name)])
        else:
            features[name] = X[name]
    return type(X)(features)


def given_kinds(estimator: Any, n_features: int) -> np.ndarray | None:
    """The kind of each feature by ``column_kinds`` of an estimator, "" where none is given, (d,).

    ``None`` if it has none. Names are those of the columns that were seen; the features of a
    category are found to be one.
    """
    given = getattr(estimator, "column_kinds", None)
    if given is None:
        return None
    encoded: dict[Any, str] = {
        f"{name}={level}": name
        for name, (levels, _) in getattr(estimator, "categories_", {}).items()
        for level in levels
    }
    names = getattr(estimator, "feature_names_in_", np.arange(n_features)).tolist()
    columns = [encoded.get(name, name) for name in names]
    kinds = _kinds_by_column(given, list(dict.fromkeys(columns)))
    at = zip(names, columns, strict=True)
    return np.array(["" if name in encoded else kinds.get(column, "") for name, column in at])


def _kinds_by_column(given: Any, columns: Sequence[Any]) -> dict[Any, str]:
    """Kinds that are given by name or position, or one for each column."""
    if given is None:
        return {}
    # A Series has names too.
    given = given.to_dict() if hasattr(given, "to_dict") else given
    if not isinstance(given, Mapping):
        kinds = [given] if isinstance(given, str) else list(given)
        if len(kinds) != len(columns) or isinstance(given, str):
            raise ValueError(
                f"column_kinds has {len(kinds)} kind(s), but X has {len(columns)} columns; pass "
                "one for each, None where it shall be found, or a dict of columns to kinds."
            )
        given = dict(enumerate(kinds))
    found = {}
    for name, kind in given.items():
        if name in columns:
            column = name
        elif isinstance(name, int | np.integer) and 0 <= name < len(columns):
            column = columns[int(name)]
        else:
            shown = ", ".join(repr(one) for one in columns[:6]) + ", ..." * (len(columns) > 6)
            raise ValueError(f"column_kinds names {name!r}, but X has the columns {shown}.")
        if kind is None or (isinstance(kind, str) and kind == ""):
            continue
        if not isinstance(kind, str) or kind not in KINDS:
            known = ", ".join(f'"{one}"' for one in KINDS)
            raise ValueError(f"column_kinds calls {name!r} {kind!r}; use one of {known}.")
        found[column] = str(kind)
    return found


def _is_category(column: Any) -> bool:
    """Whether a column is a category of pandas, or a Categorical or Enum of Polars."""
    return str(column.dtype).partition("(")[0] in ("category", "Categorical", "Enum")


def _levels(column: Any, kind: str = "") -> Levels:
    """Those that occur, in the order that an ordered category of pandas gives them."""
    occurring = {text for text in _texts(column) if text is not None}
    ordered = bool(getattr(column.dtype, "ordered", False))
    allowed = _ORDERED if ordered else _UNORDERED
    if kind not in ("", *allowed):
        raise ValueError(
            f"column_kinds calls the category {column.name!r} {kind}; it may be "
            f"{' or '.join(allowed)}: convert it to numbers, or order its levels with "
            "pandas.CategoricalDtype(levels, ordered=True)."
        )
    if not ordered or kind == "category":
        return Levels(tuple(sorted(occurring, key=_rank)), ordered=False)
    names = (str(level) for level in column.cat.categories)
    return Levels(tuple(name for name in names if name in occurring), ordered=True)


def _texts(column: Any) -> list[str | None]:
    """The level of each row as text, ``None`` where it is missing."""
    values = (
        column.astype(object).where(column.notna(), None) if hasattr(column, "iloc") else column
    )
    return [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    """A level; whole numbers read alike whatever their type, which missing cells change."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _rank(level: str) -> tuple[float, str]:
    """Numbers by size, then texts by letters."""
    try:
        return float(level), ""
    except ValueError:
        return np.inf, level


def _encoded(name: str, column: Any, levels: Levels) -> dict[str, np.ndarray]:
    """The features of a category."""
    places = {level: float(place) for place, level in enumerate(levels.names)}
    codes = np.array([places.get(text or "", np.nan) for text in _texts(column)])
    if levels.ordered:
        return {name: codes}
    shown = list(enumerate(levels.names))
    shown = shown[1:] if len(shown) == 2 else shown
    return {
        f"{name}={level}": np.where(np.isnan(codes), np.nan, codes == place)
        for place, level in shown
    }
