"""Variants of the default fit in which a step is left out: its function is replaced."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from fnmf.relevance import choice, search


class Variant(NamedTuple):
    """Constants that are changed, and functions of the default path that are replaced."""

    name: str
    changes: dict[str, Any]
    patches: Mapping[str, Any] = MappingProxyType({})


_PATHS = {
    "choice": "fnmf.relevance.choice",
    "search": "fnmf.relevance.search",
    "candidates": "fnmf.relevance.candidates",
    "tables": "fnmf.relevance.tables",
    "pipeline": "fnmf.relevance.pipeline",
    "affinity": "fnmf.affinity._affinity",
}


def steps() -> Iterator[Variant]:
    """Each step left out."""

    def without(name: str, where: str, function: str, instead: Callable[..., Any]) -> Variant:
        return Variant(f"without {name}", {}, {f"{_PATHS[where]}.{function}": instead})

    def none(table: Any, *rest: Any) -> np.ndarray:
        return np.zeros(table.shape[1], bool)

    def alone(table: Any, *rest: Any) -> np.ndarray:
        return np.arange(table.shape[1])

    def unrelated(table: Any, *rest: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.ones(table.shape[1]), none(table)

    def even(table: Any, columns: Any, *rest: Any) -> tuple[np.ndarray, Any]:
        return (table.scatter > 0).astype(float), columns

    def plain(context: Any, unit: bool, units: np.ndarray, runner: Any) -> Any:
        return search._rounds(context, unit, units, context.refreshes)

    tables_search, columns = choice.search_table, choice.column_preparations
    yield without("several weightings", "choice", "_several_weightings", lambda *a: None)
    yield without("duplicates", "choice", "duplicate_groups", alone)
    yield without("redundancy", "candidates", "redundancy", unrelated)
    yield without("dropped flags", "choice", "unexplained_flags", none)
    yield without("several beginnings", "search", "_typical", plain)
    yield without(
        "gated units",
        "choice",
        "column_preparations",
        lambda *a, **k: tuple(one for one in columns(*a, **k) if one != "gated"),
    )
    yield without("rows of unit length", "choice", "row_preparations", lambda *a: ("own",))
    yield without("rows of own length", "choice", "row_preparations", lambda *a: ("unit",))
    for units in ("own", "typical", "spread"):
        yield without(
            f"units but {units}",
            "choice",
            "column_preparations",
            lambda *a, units=units, **k: (units,),
        )
    yield without(
        "the second test of structure", "choice", "agrees_beyond_chance", lambda *a: False
    )
    yield without("the search of tables", "choice", "as_table", lambda *a: None)
    yield without("weights of columns", "choice", "column_weights", even)
    yield without("modes of columns", "tables", "has_modes", lambda *a: False)
    yield without(
        "ranges of columns",
        "choice",
        "search_table",
        lambda context, weights, known, units, runner: tables_search(
            context, weights, known, "spread", runner
        ),
    )
    yield without(
        "labels of codes", "affinity", "GraphAffinity.refine_labels", lambda s, labels, V, k: labels
    )
