"""``fnmf explain``: why a row is in its cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled

if TYPE_CHECKING:
    from fnmf.io import Recipe, Table


def explain(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="model.fnmf, or the folder of a run.", show_default=False
        ),
    ],
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
            "--data", help="Table with the row (default: the one of the run).", show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Most features for and against.")] = 5,
    as_json: options.Json = False,
) -> None:
    """Say which features pull a row to its cluster, which speak against, and what would move it."""
    with handled():
        from fnmf.cli.apply import open_model

        info, recipe = open_model(model)
        fitted = info.model
        if not hasattr(fitted, "explain"):
            raise UsageError(f"{type(fitted).__name__} cannot be explained; use FNMF.")
        path, reading = _table_of(model, file)
        table, X = _read(path, reading, recipe)
        from fnmf.cli._outputs import row_names

        names = row_names(table.ids, table.lines, X.shape[0])
        at = _position(row, names)
        same = _is_training(fitted, X, at)
        if same:
            found = fitted.explain(at, X=table.X, feature_names=table.names, top=top)
        else:
            found = fitted.explain(X[[at]], feature_names=table.names, top=top)
        _show(found, names, at, same, as_json)


def _table_of(model: Path, file: Path | None) -> tuple[Path, dict[str, Any]]:
    """The table to look into and how it was read."""
    from fnmf.cli._folder import content_hash, read_record

    folder = model if model.is_dir() else model.parent
    record = read_record(folder)
    if file is not None:
        reading = {} if record is None else dict(record["input"].get("reading", {}))
        return file, {k: v for k, v in reading.items() if k in ("id_column", "exclude")}
    if record is None:
        raise UsageError(f"{folder} holds no run.json, so the table is not known; pass --data.")
    path = Path(str(record["input"].get("file")))
    if not path.exists():
        raise UsageError(f"The table of the run, {path}, is gone; pass it with --data.")
    if content_hash(path) != record["input"].get("sha256"):
        raise UsageError(f"{path} has changed since the run; pass the right table with --data.")
    return path, dict(record["input"].get("reading", {}))


def _read(path: Path, reading: dict[str, Any], recipe: "Recipe") -> tuple["Table", Any]:
    from fnmf.cli._data import read

    table = read(path, **{**reading, **recipe.reading()})
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

    if X.shape[0] != len(fitted.labels_) or getattr(fitted, "_held_labels", None) is not None:
        return False
    gap = abs(fitted._fit_X[[at]] - X[[at]])
    return float(gap.max()) <= 1e-6 * max(float(np.abs(X[[at]]).max()), 1e-300)


def _show(found: Any, names: list[str], at: int, same: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from fnmf.cli._outputs import to_json
    from fnmf.cli._show import add_row, console, table

    if as_json:
        print(to_json({"row": names[at], "of_the_fit": same, **asdict(found)}))
        return
    out = console()
    sure = "" if found.confidence is None else f", confidence {found.confidence:.2f}"
    if found.second == found.cluster:
        out.print(f"{names[at]} is in cluster {found.cluster}, the only one")
        return
    out.print(f"{names[at]} is in cluster {found.cluster}{sure}; second-best {found.second}")
    shown = table("feature", "value", "mean in cluster", "mean in second-best", "speaks for it")
    for entry in (*found.pulls, *found.against):
        figures = (f"{value:.4g}" for value in (entry.value, entry.own, entry.second))
        add_row(shown, entry.feature, *figures, f"{entry.share:+.0%}")
    out.print(shown)
    if not same:
        out.print("Note: a new row; values are told as the model sees them.")
    near = [
        f"{names[one.index] if same else one.index} (cluster {one.cluster})"
        for one in found.nearest
    ]
    out.print(f"Nearest: {', '.join(near)}")
    if found.becomes is None:
        out.print("No change of these features alone would move it.")
    else:
        told = ", ".join(str(change) for change in found.changes[:5])
        more = len(found.changes) - 5
        rest = f" and {more} more" if more > 0 else ""
        out.print(f"It would be in cluster {found.becomes} with {told}{rest}.")
