"""How a result came about: parameters, choices made by the fit, scores by number of clusters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fnmf.choosing import NumberOfClusters
from fnmf.display import listed, number, visible

# Columns of the scores that nothing is decided by.
_TECHNICAL = ("inside", "chance", "eigengap", "smallest")


def parameters(model: Any) -> list[dict[str, Any]]:
    defaults = type(model)().get_params(deep=False)
    result = []
    for name, value in model.get_params(deep=False).items():
        shown = value if np.ndim(value) == 0 and not hasattr(value, "shape") else None
        text = visible(repr(value)) if shown is not None or value is None else _shape(value)
        changed = not (value is defaults.get(name) or _same(value, defaults.get(name)))
        result.append({"name": name, "value": text, "changed": changed})
    return result


def preparations(tried: Sequence[Mapping[str, Any]] | None) -> dict[str, Any] | None:
    """Preparations that a fit has tried, best first, as a table."""
    if not tried:
        return None
    return _table({name: [entry.get(name, "") for entry in tried] for name in tried[0]})


def number_of_clusters(choice: NumberOfClusters | None) -> dict[str, Any] | None:
    """The recommended number, what else could be defended, and the scores of all numbers."""
    if choice is None or not len(choice.scores):
        return None
    best, (low, high), scores = choice.n_components, choice.interval, choice.scores
    others = scores[scores["k"] != best]
    told = f"{best} clusters fit the data best"
    if best == 1:
        told = "No clusters were found: no division of the samples is clearer than chance makes it"
    also = [str(k) for k in range(low, high + 1) if k != best]
    if also:
        told += f"; {listed(also)} would do nearly as well"
    elif best > 1:
        told += ", and clearly so"
    if choice.also:
        within = listed(list(map(str, choice.also)))
        told += f"; a coarser or finer view has {within}"
    detail = ""
    if best in scores["k"] and len(others):
        second = others[others["score"].argmax()]
        price = float(scores["score"][scores["k"] == best][0] - second["score"])
        detail = f"Next is {second['k']}, with a score lower by {price:.2g}."
        if price < 0:
            higher = f"The score of {second['k']} is higher by {-price:.2g}"
            detail = f"{higher}, no more than can be doubted."
    top = max(float(scores["score"].max()), 1e-12)
    shown = [name for name in scores.dtype.names or () if name not in _TECHNICAL]
    return {
        "sentence": f"{told}.",
        "detail": detail,
        "picture": choice.to_svg(),
        "best": [bool(k == best) for k in scores["k"]],
        "shares": [min(max(float(score) / top, 0.0), 1.0) for score in scores["score"]],
        **_table({name: _digits(scores[name]) for name in shown}),
    }


def _digits(column: np.ndarray) -> list[Any]:
    """Figures of a column with the same number of digits, so that they can be compared."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return [f"{value:.3f}".replace("-", "−") for value in column]


def _table(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    texts = [[_cell(entry) for entry in column] for column in columns.values()]
    return {
        "names": [visible(name).replace("_", " ") for name in columns],
        "rows": [list(row) for row in zip(*texts, strict=True)],
    }


def _cell(value: Any) -> str:
    if isinstance(value, int | np.integer | np.bool_):
        return str(value)
    return number(float(value)) if isinstance(value, float | np.floating) else visible(value)


def _same(a: Any, b: Any) -> bool:
    return (
        isinstance(a, str | int | float | None)
        and isinstance(b, str | int | float | None)
        and a == b
    )


def _shape(value: Any) -> str:
    return visible(f"{type(value).__name__} of shape {getattr(value, 'shape', len(value))}")
