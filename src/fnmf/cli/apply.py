"""``fnmf apply``: clusters and representation of new rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled
from fnmf.cli._files import APPLY_FILES

if TYPE_CHECKING:
    from fnmf.io import Recipe, Table
    from fnmf.persistence import ModelInfo


def apply(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="model.fnmf, or the folder of a run.", show_default=False
        ),
    ],
    file: options.Table,
    out: options.Out = None,
    force: options.Force = False,
    as_json: options.Json = False,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    exclude: options.Exclude = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    thousands: options.Thousands = None,
    header: options.Header = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    number_duplicates: options.NumberDuplicates = False,
    layer: options.Layer = None,
    raw: options.Raw = False,
    sheet: options.Sheet = None,
    labels: options.Labels = None,
    float32: options.Float32 = False,
) -> None:
    """Label new rows with a model that 'fnmf cluster' wrote.

    Columns are matched by name and treated as the training table was. Writes labels.csv,
    embedding.csv and run.json into a folder. Known classes score the result.
    """
    with handled() as outcome:
        folder = out or Path(f"{file.resolve().name}-applied")
        import numpy as np

        from fnmf.cli._folder import check_folder

        check_folder(folder, APPLY_FILES, force, [file, model])
        info, recipe = open_model(model)
        reading = options.reading_options(
            id_column=id_column,
            label_column=None if labels else label_column,
            exclude=exclude,
            delimiter=delimiter,
            decimal=decimal,
            thousands=thousands,
            header=header,
            encoding=encoding,
            na=na,
            number_duplicates=number_duplicates,
            layer=layer,
            raw=raw,
            sheet=sheet,
            dtype=np.float32 if float32 else np.float64,
        )
        table, found, embedding = _label(info.model, recipe, file, reading)
        if labels is not None:
            from fnmf.io import add_labels

            add_labels(table, labels, label_column)
        record = _record(model, file, table, found)
        _write(folder, [file, model], force, (table, found, embedding, record))
        outcome.folder = folder
        _show(folder, record, as_json)


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
    fitted: Any, recipe: "Recipe", file: Path, reading: dict[str, Any]
) -> tuple["Table", Any, Any]:
    import numpy as np

    from fnmf.cli._data import read
    from fnmf.cli._progress import working

    if not hasattr(fitted, "predict"):
        raise UsageError(
            f"{type(fitted).__name__} only labels the rows it was fitted on; "
            "use FNMF, or another method that 'fnmf methods' marks for new rows."
        )
    table = read(file, **reading, **recipe.reading())
    X = recipe.follow(table)
    with working("Labelling"):
        labels = fitted.predict(X)
        embedding = np.asarray(fitted.transform(X)) if hasattr(fitted, "transform") else None
    return table, labels, embedding


def _record(model: Path, file: Path, table: "Table", labels: Any) -> dict[str, Any]:
    import numpy as np

    from fnmf import __version__
    from fnmf.cli._folder import content_hash
    from fnmf.cli._hints import note_text
    from fnmf.metrics import clustering_accuracy, normalized_mutual_information

    names, sizes = np.unique(labels, return_counts=True)
    record = {
        "fnmf": __version__,
        "command": "apply",
        "model": str(model.resolve()),
        "input": {"file": str(file.resolve()), "sha256": content_hash(file)},
        "clusters": {str(name): int(size) for name, size in zip(names, sizes, strict=True)},
        "notes": [note_text(note) for note in table.notes],
    }
    if table.labels is not None:
        record["quality"] = {
            "ACC": f"{clustering_accuracy(table.labels, labels):.3f}",
            "NMI": f"{normalized_mutual_information(table.labels, labels):.3f}",
        }
    return record


def _write(
    folder: Path, inputs: list[Path], force: bool, results: tuple["Table", Any, Any, dict[str, Any]]
) -> None:
    from fnmf.cli._folder import check_folder, results_folder
    from fnmf.cli._outputs import row_names, write_embedding, write_json, write_labels

    table, labels, embedding, record = results
    ids = row_names(table.ids, table.lines, table.X.shape[0])

    def check() -> None:
        check_folder(folder, APPLY_FILES, force, inputs)

    with results_folder(folder, check) as partial:
        write_labels(partial / "labels.csv", ids, labels, table.labels)
        if embedding is not None:
            write_embedding(partial / "embedding.csv", ids, embedding)
        write_json(partial / "run.json", record)


def _show(folder: Path, record: dict[str, Any], as_json: bool) -> None:
    from fnmf.cli._outputs import to_json
    from fnmf.cli._show import add_row, console, table

    if as_json:
        print(to_json({"folder": str(folder), **record}))
        return
    shown = table("cluster", "rows", "share")
    total = sum(record["clusters"].values())
    for name, size in record["clusters"].items():
        add_row(shown, name, size, f"{size / total:.1%}")
    console().print(shown)
    for name, value in record.get("quality", {}).items():
        console().print(f"{name} {value}")
    for note in record["notes"]:
        console().print(f"Note: {note}")
    console().print(f"Results are in {folder}.")
