"""Frames with categories: each becomes 0/1 features, a number if its levels have an order."""

from typing import Any, NamedTuple

import numpy as np


class Levels(NamedTuple):
    """Levels of a category, in their order if they have one."""

    names: tuple[str, ...]
    ordered: bool


def with_categories_encoded(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A frame of pandas or Polars with its categories as numbers.

    A category becomes a 0/1 feature for each level, named ``column=level``; of two levels the
    second one is enough. Ordered levels become one feature of whole numbers. Missing cells, and
    levels that were not there in the fit, are missing in all of them. ``categories_`` of the
    estimator keeps the levels, if there are any.
    """
    if reset:
        found = {str(name): _levels(X[name]) for name in X.columns if _is_category(X[name])}
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


def _is_category(column: Any) -> bool:
    """Whether a column is a category of pandas, or a Categorical or Enum of Polars."""
    return str(column.dtype).partition("(")[0] in ("category", "Categorical", "Enum")


def _levels(column: Any) -> Levels:
    """Those that occur, in the order that an ordered category of pandas gives them."""
    occurring = {text for text in _texts(column) if text is not None}
    if not getattr(column.dtype, "ordered", False):
        return Levels(tuple(sorted(occurring)), ordered=False)
    names = (str(level) for level in column.cat.categories)
    return Levels(tuple(name for name in names if name in occurring), ordered=True)


def _texts(column: Any) -> list[str | None]:
    """The level of each row as text, ``None`` where it is missing."""
    values = (
        column.astype(object).where(column.notna(), None) if hasattr(column, "iloc") else column
    )
    return [None if value is None else str(value) for value in values]


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
