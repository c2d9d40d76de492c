"""``fnmf report``: draw the page of a run again."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of a run.", show_default=False)
    ],
    data: Annotated[
        Path | None, typer.Option(help="The table of the run, if it has moved.", show_default=False)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    image_shape: Annotated[
        str | None, typer.Option(help="HEIGHTxWIDTH, if rows are images.")
    ] = None,
    restarts: Annotated[
        int, typer.Option(min=0, help="Further fits to see how stable the clusters are.")
    ] = 0,
    float32: options.Float32 = False,
) -> None:
    """Write report.html of a run again, from its model and its table."""
    with handled():
        import json

        record_file = folder / "run.json"
        if not record_file.is_file():
            raise UsageError(
                f"{folder} holds no run.json; give the folder that 'fnmf cluster' wrote."
            )
        try:
            record = json.loads(record_file.read_text(encoding="utf-8"))
            source, reading = record["input"], dict(record["input"]["reading"])
            file = data or Path(source["file"])
            expected = str(source["sha256"])
            shape = record["image_shape"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UsageError(f"{record_file} is damaged; run 'fnmf cluster' again.") from None
        if not file.is_file():
            raise UsageError(f"{file} does not exist any more; name the table with --data.")
        _draw(folder, file, expected, record, reading, title, image_shape, shape, restarts, float32)


def _draw(
    folder: Path,
    file: Path,
    expected: str,
    record: dict[str, Any],
    reading: dict[str, Any],
    title: str | None,
    image_shape: str | None,
    shape: Any,
    restarts: int,
    float32: bool,
) -> None:
    import numpy as np

    from fnmf.cli._data import Recipe, file_hash, follow_recipe, read
    from fnmf.cli._outputs import row_names
    from fnmf.cli._run import parse_shape
    from fnmf.persistence import inspect
    from fnmf.reporting._page import write_page
    from fnmf.reporting._summary import summarise

    if file_hash(file) != expected:
        raise UsageError(f"{file} is not the table of this run: it has changed since.")
    info = inspect(folder / "model.fnmf")
    recipe = Recipe.from_metadata(info.metadata)
    allowed = {"id_column", "label_column", "exclude", "delimiter", "header", "encoding"}
    table = read(
        file,
        required=recipe.columns,
        dtype=np.float32 if float32 else np.float64,
        **{key: value for key, value in reading.items() if key in allowed},
    )
    X = follow_recipe(table, recipe)
    chosen = parse_shape(image_shape, X.shape[1]) or (tuple(shape) if shape else None)
    summary = summarise(
        info.model,
        table.X,
        title=title or f"Clusters in {file.name}",
        names=table.names,
        samples=row_names(table.ids, table.lines, X.shape[0]),
        labels_true=table.labels,
        image_shape=chosen,
        n_restarts=restarts,
        restart_data=X,
        source={
            "file": file.name,
            "SHA-256": expected,
            "seed": record.get("seed"),
            "made on": record.get("started"),
        },
        notes=[str(note) for note in record.get("notes", [])],
    )
    write_page(summary, folder / "report.html")
    typer.echo(f"Wrote {folder / 'report.html'}")
