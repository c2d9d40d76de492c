"""``fnmf apply``: clusters and representation of new rows."""

from pathlib import Path
from typing import Annotated

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled


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
    exclude: options.Exclude = None,
    delimiter: options.Delimiter = None,
    header: options.Header = None,
    encoding: options.Encoding = None,
    float32: options.Float32 = False,
) -> None:
    """Label new rows with a model that 'fnmf cluster' wrote.

    Columns are matched by name and treated as the training table was. Writes labels.csv and
    embedding.csv into a new folder.
    """
    with handled():
        folder = out or Path(f"{file.name.split('.')[0]}-applied")
        if folder.exists() and not (force and _is_ours(folder)):
            told = (
                "holds something else"
                if force
                else "exists already; choose another --out or --force"
            )
            raise UsageError(f"{folder} {told}.")
        import numpy as np

        from fnmf._atomic import atomic_folder
        from fnmf.cli._data import Recipe, follow_recipe, read
        from fnmf.cli._outputs import row_names, to_json, write_embedding, write_labels
        from fnmf.cli._progress import working
        from fnmf.cli._show import add_row, console
        from fnmf.cli._show import table as new_table
        from fnmf.persistence import inspect

        info = inspect(model / "model.fnmf" if model.is_dir() else model)
        fitted = info.model
        if not hasattr(fitted, "predict"):
            raise UsageError(
                f"{type(fitted).__name__} only labels the rows it was fitted on; "
                "use FNMF, or another method that 'fnmf methods' marks for new rows."
            )
        recipe = Recipe.from_metadata(info.metadata)
        table = read(
            file,
            id_column=id_column,
            exclude=exclude or [],
            required=recipe.columns,
            delimiter=delimiter,
            header=header,
            encoding=encoding,
            dtype=np.float32 if float32 else np.float64,
        )
        X = follow_recipe(table, recipe)
        with working("Labelling"):
            labels = fitted.predict(X)
            embedding = np.asarray(fitted.transform(X)) if hasattr(fitted, "transform") else None
        ids = row_names(table.ids, table.lines, X.shape[0])
        with atomic_folder(folder, replace=force) as partial:
            write_labels(partial / "labels.csv", ids, labels)
            if embedding is not None:
                write_embedding(partial / "embedding.csv", ids, embedding)
        names, sizes = np.unique(labels, return_counts=True)
        if as_json:
            counts = {str(name): int(size) for name, size in zip(names, sizes, strict=True)}
            print(to_json({"folder": str(folder), "clusters": counts, "notes": table.notes}))
            return
        shown = new_table("cluster", "rows", "share")
        for name, size in zip(names, sizes, strict=True):
            add_row(shown, name, size, f"{size / len(labels):.1%}")
        console().print(shown)
        for note in table.notes:
            console().print(f"Note: {note}")
        console().print(f"Results are in {folder}.")


def _is_ours(folder: Path) -> bool:
    known = {"labels.csv", "embedding.csv"}
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= known
