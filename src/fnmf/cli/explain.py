"""``fnmf explain``: why a row is in its cluster."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._commands import grouped
from fnmf.cli._errors import UsageError, handled

if TYPE_CHECKING:
    import numpy as np

    from fnmf.cli._join import Sources
    from fnmf.io import Recipe, Table


@grouped
def explain(
    model: options.ModelFile,
    row: Annotated[
        str,
        typer.Argument(
            metavar="ROW",
            help="Name of a row as in labels.csv, or its number, counted from 1.",
            show_default=False,
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Table with the row (default: the one of the run).",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="Most features for and against.", metavar="N")
    ] = 5,
    as_json: options.Json = False,
) -> None:
    """Say which features pull a row to its cluster, which speak against, and what would move it.

    \b
    Examples:
      fnmf explain customers.csv-clusters C007
      fnmf explain customers.csv-clusters 3 --data new.csv
    """
    with handled():
        from fnmf.cli.apply import open_model

        info, recipe = open_model(model)
        fitted = info.model
        if not hasattr(fitted, "explain"):
            raise UsageError(f"{type(fitted).__name__} cannot be explained; use FNMF.")
        table, X = _read(*_table_of(model, file, recipe), recipe)
        from fnmf.cli._naming import kept_names
        from fnmf.cli._outputs import row_names

        names = row_names(table.ids, table.lines, X.shape[0])
        at = _position(row, names)
        same, own = _is_training(fitted, X, at), recipe.in_own_units(table.X)
        if same:
            found = fitted.explain(at, X=own, feature_names=table.names, top=top)
        else:
            found = fitted.explain(X[[at]], feature_names=table.names, top=top)
            found = _in_own_units(found, own, at, _training_means(model, recipe, fitted))
        clusters = kept_names(info.metadata, int(fitted.labels_.max()) + 1)
        _show(found, names, at, same, clusters, as_json)


def _training_means(model: Path, recipe: "Recipe", fitted: Any) -> "np.ndarray | None":
    """Mean of each cluster in the units of the file, if the training table is still there."""
    from fnmf.statistics import cluster_statistics

    try:
        table, _ = _read(*_table_of(model, None, recipe), recipe)
    except UsageError:
        return None
    if table.X.shape[0] != len(fitted.labels_):
        return None
    return cluster_statistics(recipe.in_own_units(table.X), fitted.labels_).means


def _in_own_units(found: Any, own: Any, at: int, means: "np.ndarray | None") -> Any:
    """The explanation of a new row with its values as they are in the file."""
    import numpy as np
    import scipy.sparse as sp

    if means is None:
        return found
    row: Any = own[[at]]
    is_sparse: bool = sp.issparse(row)
    values = np.ravel(row.toarray() if is_sparse else row).astype(np.float64)

    def in_own_units(entry: Any) -> Any:
        k, mine, other = entry.index, means[found.cluster], means[found.second]
        return replace(entry, value=float(values[k]), own=float(mine[k]), second=float(other[k]))

    def moved(change: Any) -> Any:
        k = change.index
        return replace(change, value=float(values[k]), to=float(means[found.second][k]))

    return replace(
        found,
        pulls=tuple(map(in_own_units, found.pulls)),
        against=tuple(map(in_own_units, found.against)),
        changes=tuple(map(moved, found.changes)),
    )


def _table_of(model: Path, file: Path | None, recipe: "Recipe") -> "tuple[Sources, dict[str, Any]]":
    """The table to look into and how it was read."""
    from fnmf.cli._folder import read_record
    from fnmf.cli._join import Sources

    folder = model if model.is_dir() else model.parent
    record = read_record(folder)
    if file is not None:
        reading = {} if record is None else dict(record["input"].get("reading", {}))
        kept = {k: v for k, v in reading.items() if k in ("id_column", "exclude")}
        return Sources((file,)), kept
    if record is None:
        raise UsageError(f"{folder} holds no run.json, so the table is not known; pass --data.")
    return Sources.of_run(record, recipe), dict(record["input"].get("reading", {}))


def _read(sources: "Sources", reading: dict[str, Any], recipe: "Recipe") -> tuple["Table", Any]:
    from fnmf.io import ReadOptions

    table = sources.read_new(recipe, ReadOptions.of_record(reading))
    return table, recipe.follow(table)


def _position(row: str, names: list[str]) -> int:
    if row in names:
        return names.index(row)
    if row.isdigit() and 1 <= int(row) <= len(names):
        return int(row) - 1
    raise UsageError(
        f"No row is called {row!r}; rows have names like {names[0]!r}, and numbers from 1 to "
        f"{len(names)}."
    )


def _is_training(fitted: Any, X: Any, at: int) -> bool:
    """Whether the row is the one of the fit at the same place."""
    import numpy as np

    places, held = (getattr(fitted, name, None) for name in ("graph_rows_", "_held_labels"))
    if X.shape[0] != len(fitted.labels_) or (places is None and held is not None):
        return False
    kept = at if places is None else int(places[at])
    if kept < 0:
        return False
    own, row = fitted._fit_X[[kept]], X[[at]]
    if isinstance(row, np.ndarray) and isinstance(own, np.ndarray):
        # Missing cells are the same if both are missing.
        if not np.array_equal(np.isnan(own), np.isnan(row)):
            return False
        own, row = np.nan_to_num(own), np.nan_to_num(row)
    return float(abs(own - row).max()) <= 1e-6 * max(float(abs(row).max()), 1e-300)


def _show(
    found: Any, names: list[str], at: int, same: bool, clusters: list[str], as_json: bool
) -> None:
    from dataclasses import asdict

    from fnmf.cli._outputs import to_json
    from fnmf.cli._show import add_row, console, table
    from fnmf.display import number

    if as_json:
        told = {"row": names[at], "of_the_fit": same, **asdict(found)}
        for key in ("cluster", "second", "becomes"):
            told[key] = None if told[key] is None else told[key] + 1
        for entry in told["nearest"]:
            entry["cluster"] += 1
        print(to_json(told | {"name": clusters[found.cluster]}))
        return

    def cluster(code: int) -> str:
        return f"cluster {code + 1} ({clusters[code]})"

    out = console()
    sure = "" if found.confidence is None else f", confidence {found.confidence:.2f}"
    if found.second == found.cluster:
        out.print(f"{names[at]} is in {cluster(found.cluster)}, the only one")
        return
    out.print(f"{names[at]} is in {cluster(found.cluster)}{sure}")
    out.print(f"Second-best is {cluster(found.second)}")
    shown = table("feature", "value", "mean in cluster", "mean in second-best", "speaks for it")
    for entry in (*found.pulls, *found.against):
        figures = (number(value) for value in (entry.value, entry.own, entry.second))
        add_row(shown, entry.feature, *figures, f"{entry.share:+.0%}")
    out.print(shown)
    near = [
        f"{names[one.index] if same else f'row {one.index + 1}'} (cluster {one.cluster + 1})"
        for one in found.nearest
    ]
    out.print(f"Nearest{'' if same else ' in the training table'}: {', '.join(near)}")
    if found.becomes is None:
        out.print("No change of these features alone would move it.")
    else:
        told_changes = ", ".join(str(change) for change in found.changes[:5])
        more = len(found.changes) - 5
        rest = f" and {more} more" if more > 0 else ""
        out.print(f"It would be in {cluster(found.becomes)} with {told_changes}{rest}.")
