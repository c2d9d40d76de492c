"""Kinds of columns that the user names: ``--kind COLUMN=KIND``."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fnmf.cli._errors import UsageError
from fnmf.io import Recipe, Table

_KINDS = ("flag", "category", "ordinal", "integer", "continuous")


def kinds_by_column(pairs: Sequence[str] | None, *, transpose: bool) -> dict[str, str]:
    """Kinds of columns by name."""
    found: dict[str, str] = {}
    for pair in pairs or []:
        name, _, kind = pair.rpartition("=")
        if not name or kind not in _KINDS:
            shown = ", ".join(_KINDS)
            raise UsageError(f"--kind {pair!r} is not of the form COLUMN=KIND; kinds are {shown}.")
        if found.setdefault(name, kind) != kind:
            raise UsageError(f"--kind says {found[name]} and {kind} of {name!r}.")
    if found and transpose:
        raise UsageError("--kind is of columns, which --transpose makes rows; leave one out.")
    return found


def check_kinds(file: Path, kinds: dict[str, str], recipe: Recipe, table: Table) -> None:
    """Raise if a column whose kind was given is not there, or is none of that kind."""
    categories = [] if recipe.encoding is None else recipe.encoding.categories
    encoded = {one.name: one.flag for one in categories}
    for name, kind in kinds.items():
        if name not in recipe.sources:
            shown = ", ".join(dict.fromkeys(recipe.sources))
            raise UsageError(
                f"--kind {name}={kind}: {file} has no such column in use; there are {shown}."
            )
        if kind == "category" and name not in encoded:
            raise UsageError(
                f"--kind {name}=category: a file of numbers alone has no categories; store it as "
                "CSV, Excel or Parquet, or put a 0/1 column for each value into it."
            )
        if kind == "flag" and not encoded.get(name, _two_values(table, name)):
            raise UsageError(f"--kind {name}=flag: the column has more than two values.")
        if kind not in ("category", "flag") and name in encoded:
            raise UsageError(f"--kind {name}={kind}: the column holds text, which is a category.")


def _two_values(table: Table, name: str) -> bool:
    """Whether a column of numbers has at most two, missing cells aside."""
    if name not in table.names:
        return False
    column = table.X[:, [table.names.index(name)]]
    values = np.unique(column if isinstance(column, np.ndarray) else column.toarray())
    return int(np.count_nonzero(~np.isnan(values))) <= 2
