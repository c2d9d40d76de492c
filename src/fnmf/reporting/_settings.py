"""How a result came about: parameters, choices made by the fit, scores by number of clusters."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from fnmf._text import number, visible


def parameters(model: Any) -> list[dict[str, Any]]:
    defaults = type(model)().get_params(deep=False)
    result = []
    for name, value in model.get_params(deep=False).items():
        shown = value if np.ndim(value) == 0 and not hasattr(value, "shape") else None
        text = visible(repr(value)) if shown is not None or value is None else _shape(value)
        changed = not (value is defaults.get(name) or _same(value, defaults.get(name)))
        result.append({"name": name, "value": text, "changed": changed})
    return result


def record(value: Any) -> dict[str, str]:
    """A record of choices, however it is kept, as names and text."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if not isinstance(value, Mapping):
        return {} if value is None else {"choice": visible(value)}
    return {visible(key).replace("_", " "): visible(entry) for key, entry in value.items()}


def score_table(value: Any) -> dict[str, Any] | None:
    """Scores by number of clusters: columns of a structured array, a mapping or a table."""
    if value is None:
        return None
    fields = getattr(getattr(value, "dtype", None), "names", None)
    if fields:
        columns = {name: np.asarray(value[name]) for name in fields}
    elif isinstance(value, Mapping) or hasattr(value, "columns"):
        columns = {str(name): np.asarray(value[name]) for name in value}
    else:
        return None
    columns = {visible(name): column for name, column in columns.items() if column.ndim == 1}
    if not columns or len({len(column) for column in columns.values()}) != 1:
        return None
    texts = [[_cell(entry) for entry in column] for column in columns.values()]
    return {
        "names": [name.replace("_", " ") for name in columns],
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
