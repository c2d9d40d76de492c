"""``fnmf apply``: clusters and representation of new rows."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fnmf.cli import _options as options
from fnmf.cli._commands import grouped
from fnmf.cli._errors import UsageError, handled
from fnmf.cli._fit_options import Join, MoreTables
from fnmf.cli._folder import APPLY_FILES

if TYPE_CHECKING:
    from fnmf.cli._join import Sources
    from fnmf.cli._outputs import Labels
    from fnmf.io import ReadOptions, Recipe, Table
    from fnmf.persistence import ModelInfo


@grouped
def apply(
    model: options.ModelFile,
    file: options.Table,
    reading: options.Reading,
    output: options.Output,
    more: MoreTables = None,
    join: Join = None,
) -> None:
    """Label new rows with a model that 'fnmf cluster' wrote.

    Columns are matched by name and treated as the training table was; the file is read as that
    table was, unless you say otherwise. Writes labels.csv, embedding.csv and run.json into a
    folder. Known classes score the result.

    \b
    Examples:
      fnmf apply customers.csv-clusters new.csv
      fnmf apply customers.csv-clusters/model.fnmf new.csv --with-columns -o labelled
      fnmf apply visits.csv-clusters visits2.csv purchases2.csv --join customer
    """
    with handled() as outcome:
        from fnmf.cli._join import Sources

        sources = Sources((file, *(more or ())), join)
        sources.check(reading, output.with_columns, large=False)
        folder = output.out or Path(f"{file.resolve().name}-applied")
        from fnmf.cli._folder import check_folder

        check_folder(folder, APPLY_FILES, output.force, [*sources.files, model])
        info, recipe = open_model(model)
        how = as_in_training(model, reading.options())
        table, labels, embedding = _label(info, recipe, sources, how)
        reading.add_labels(table)
        record = _record(model, file, table, labels, info)
        joined = None
        if output.with_columns:
            from fnmf.cli._data import joined_columns

            joined = joined_columns(table, how)
        if table.labels is not None:
            labels = replace(labels, known=table.labels)

        def check() -> None:
            check_folder(folder, APPLY_FILES, output.force, [*sources.files, model])

        _write(folder, check, labels, joined, embedding, record)
        outcome.folder = folder
        _show(folder, record, output.as_json)


def as_in_training(model: Path, reading: "ReadOptions") -> "ReadOptions":
    """What the user says of the file, and what the training run said of which layer it read."""
    from fnmf.cli._folder import read_record

    record = read_record(model if model.is_dir() else model.parent)
    before = {} if record is None else dict(record["input"].get("reading", {}))
    if reading.layer is None and not reading.raw:
        return replace(reading, layer=before.get("layer"), raw=bool(before.get("raw", False)))
    return reading


def open_model(model: Path) -> "tuple[ModelInfo, Recipe]":
    """The model, and the recipe of its table."""
    from fnmf.cli._folder import finish_moves
    from fnmf.persistence import inspect

    if model.is_dir():
        finish_moves(model)
        model = model / "model.fnmf"
    info = inspect(model)
    if info.recipe is None:
        raise UsageError(
            "The model file does not say which columns it needs; it was not made by "
            "'fnmf cluster'. Load it in Python with fnmf.load."
        )
    return info, info.recipe


def _label(
    info: "ModelInfo", recipe: "Recipe", sources: "Sources", reading: "ReadOptions"
) -> "tuple[Table, Labels, Any]":
    import numpy as np

    from fnmf.cli._confidence import labels_of
    from fnmf.cli._hints import applied_error
    from fnmf.cli._naming import kept_names
    from fnmf.cli._outputs import Labels, row_names
    from fnmf.cli._progress import working
    from fnmf.io import TableError

    fitted = info.model
    if not hasattr(fitted, "predict"):
        raise UsageError(
            f"{type(fitted).__name__} only labels the rows it was fitted on; "
            "use FNMF, or another method that 'fnmf methods' marks for new rows."
        )
    try:
        table = sources.read_new(recipe, reading)
        X = recipe.follow(table)
    except TableError as error:
        raise UsageError(applied_error(error)) from error
    with working("Labelling"):
        embedding = np.asarray(fitted.transform(X)) if hasattr(fitted, "transform") else None
        found, sure, second = labels_of(fitted, X, embedding)
    count = max(int(np.max(fitted.labels_)) + 1, len(getattr(fitted, "classes_", ())))
    names = kept_names(info.metadata, count)
    ids = row_names(table.ids, table.lines, table.X.shape[0])
    return table, Labels(ids, found, names, None, sure, second), embedding


def _record(
    model: Path, file: Path, table: "Table", labels: "Labels", info: "ModelInfo"
) -> dict[str, Any]:
    import numpy as np

    from fnmf import __version__
    from fnmf.cli._folder import content_hash
    from fnmf.cli._hints import applied_text
    from fnmf.metrics import clustering_accuracy, normalized_mutual_information

    found, sizes = np.unique(labels.labels, return_counts=True)
    record = {
        "fnmf": __version__,
        "command": "apply",
        "model": str(model.resolve()),
        "input": {"file": str(file.resolve()), "sha256": content_hash(file)},
        "rows_are": str(info.metadata.get("rows_are", "rows")),
        "clusters": [
            {"cluster": int(code) + 1, "name": labels.names[int(code)], "size": int(size)}
            for code, size in zip(found, sizes, strict=True)
        ],
        "notes": [applied_text(note) for note in table.notes],
    }
    if table.labels is not None:
        record["quality"] = {
            "ACC": f"{clustering_accuracy(table.labels, labels.labels):.3f}",
            "NMI": f"{normalized_mutual_information(table.labels, labels.labels):.3f}",
        }
    return record


def _write(
    folder: Path,
    check: Callable[[], None],
    labels: "Labels",
    joined: Any,
    embedding: Any,
    record: dict[str, Any],
) -> None:
    from fnmf.cli._folder import results_folder
    from fnmf.cli._outputs import write_embedding, write_json, write_labels

    with results_folder(folder, check) as partial:
        write_labels(partial / "labels.csv", labels, joined)
        if embedding is not None:
            write_embedding(partial / "embedding.csv", labels.ids, embedding)
        write_json(partial / "run.json", record)


def _show(folder: Path, record: dict[str, Any], as_json: bool) -> None:
    from fnmf.cli._outputs import to_json
    from fnmf.cli._show import add_row, console, table

    if as_json:
        print(to_json({"folder": str(folder), **record}))
        return
    shown = table("cluster", "name", record["rows_are"], "share")
    total = sum(entry["size"] for entry in record["clusters"])
    for entry in record["clusters"]:
        size = entry["size"]
        add_row(shown, entry["cluster"], entry["name"], f"{size:,}", f"{size / total:.1%}")
    console().print(shown)
    for name, value in record.get("quality", {}).items():
        console().print(f"{name} {value}")
    for note in record["notes"]:
        console().print(f"Note: {note}")
    console().print(f"Results are in {folder}.")
