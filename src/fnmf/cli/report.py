"""``fnmf report``: draw the page of a run again, or compare two models."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._commands import grouped
from fnmf.cli._errors import UsageError, handled


@dataclass(frozen=True)
class Page:
    """What is to be seen on the page of a run."""

    title: options.Title = None
    names: options.Names = None
    rows_are: options.RowsAre = None
    image_shape: options.ImageShape = None
    restarts: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Further fits to see how stable the clusters are."),
    ] = 0
    float32: options.Float32 = False


@grouped
def report(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR | MODEL MODEL",
            help="Folder of a run, or two folders or model files to compare.",
            show_default=False,
        ),
    ],
    page: Page,
    data: Annotated[
        Path | None,
        typer.Option(
            help="The table of the run, if it has moved.", show_default=False, metavar="FILE"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Page of a comparison (default: comparison.html).",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Write report.html of a run again, from its model and its table.

    With two models of the same rows: write a page about which samples moved from cluster to
    cluster, and which features changed.

    \b
    Examples:
      fnmf report customers.csv-clusters --names "frequent, rare, bargain hunters"
      fnmf report customers.csv-clusters kmeans-clusters
    """
    with handled() as outcome:
        if len(paths) > 2:
            raise UsageError(
                f"{len(paths)} paths were given; name one run to draw, or two models to compare."
            )
        if len(paths) == 2:
            written = out or Path("comparison.html")
            _compare(paths[0], paths[1], written, page.title)
        else:
            written = paths[0] / "report.html"
            if out is not None:
                raise UsageError(
                    "--out is for comparisons; the report of a run stays in its folder."
                )
            _draw(paths[0], data, page)
        outcome.folder = written
        typer.echo(f"Wrote {written}")


def _compare(first: Path, second: Path, out: Path, title: str | None) -> None:
    from fnmf.persistence import inspect
    from fnmf.reporting import compare

    files = [path / "model.fnmf" if path.is_dir() else path for path in (first, second)]
    infos = [inspect(file) for file in files]
    columns = infos[0].metadata.get("columns")
    samples = [len(info.model.labels_) for info in infos]
    if samples[0] != samples[1]:
        raise UsageError(
            f"{files[0]} holds {samples[0]} samples, {files[1]} {samples[1]}; only models of the "
            "same rows can be compared."
        )
    compare(
        infos[0].model,
        infos[1].model,
        out,
        names=(_short(first), _short(second)),
        feature_names=columns,
        sample_names=ids_beside(files[0], samples[0]),
        title=title,
    )


def _short(path: Path) -> str:
    """A name for a model: its folder if the file is called model.fnmf, else the file."""
    if path.name == "model.fnmf":
        return path.resolve().parent.name
    return path.name if path.is_dir() else path.stem


def ids_beside(model_file: Path, n_samples: int) -> list[str] | None:
    """Names of the rows from the labels.csv of the same run, if it is there and fits."""
    import csv

    file = model_file.with_name("labels.csv")
    if not file.is_file():
        return None
    with open(file, encoding="utf-8", newline="") as lines:
        ids = [row["id"] for row in csv.DictReader(lines) if row.get("id") is not None]
    return ids if len(ids) == n_samples else None


def _draw(folder: Path, data: Path | None, page: Page) -> None:
    import numpy as np

    from fnmf.choosing import restart_agreement
    from fnmf.cli._folder import update_record
    from fnmf.cli._hints import findings_in_options
    from fnmf.cli._join import Sources
    from fnmf.cli._known import given_classes
    from fnmf.cli._naming import NAMES, ROWS_ARE, cluster_names, kept_names, rows_are
    from fnmf.cli._run import page_about, parse_shape
    from fnmf.cli.apply import open_model
    from fnmf.io import ReadOptions
    from fnmf.persistence import save
    from fnmf.reporting.page import write_page
    from fnmf.reporting.summary import summarise

    record, reading, shape = _record_of(folder)
    info, recipe = open_model(folder)
    sources = Sources.of_run(record, recipe, data)
    dtype = np.float32 if page.float32 else np.float64
    known = replace(ReadOptions.of_record(reading), dtype=dtype)
    table = sources.read_new(recipe, known)
    X = recipe.follow(table)
    about = page_about(sources.files[0], table, recipe, record)
    about = replace(
        about,
        title=page.title or about.title,
        unit=str(page.rows_are or info.metadata.get(ROWS_ARE) or rows_are(table)),
        image_shape=parse_shape(page.image_shape, X.shape[1]) or (tuple(shape) if shape else None),
    )
    given = (given_classes(table, known.na_values),) if record.get("known") else ()
    agreement = restart_agreement(info.model, X, page.restarts, *given)
    summary = summarise(info.model, recipe.in_own_units(table.X), about, agreement, fitted=X)
    if page.names is not None and summary["labels"] is not None:
        raise UsageError("--names does not go with a run of --known: its classes have names.")
    titles = kept_names(info.metadata, len(summary["clusters"]))
    if summary["labels"] is not None:
        titles = [cluster["title"] for cluster in summary["clusters"]]
    names = cluster_names(page.names, titles)
    for cluster, name in zip(summary["clusters"], names, strict=True):
        cluster["title"] = name
    findings_in_options(summary)
    write_page(summary, folder / "report.html")
    update_record(folder, "report.html")
    kept = {NAMES: np.array(names, dtype=object), ROWS_ARE: summary["unit"]}
    if page.names is not None or page.rows_are is not None:
        save(info.model, folder / "model.fnmf", metadata=info.metadata | kept)
        update_record(folder, "model.fnmf")


def _record_of(folder: Path) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """What run.json says: everything, how to read, the shape of images."""
    from fnmf.cli._folder import finish_moves, read_record

    if folder.is_dir():
        finish_moves(folder)
    record = read_record(folder)
    if record is None or record.get("command", "cluster") != "cluster":
        raise UsageError(f"{folder} holds no run of 'fnmf cluster'; give the folder that it wrote.")
    try:
        source = record["input"]
        # They are there, or it is no record of ours.
        str(source["file"]), str(source["sha256"])
        return record, dict(source["reading"]), record["image_shape"]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{folder / 'run.json'} is damaged; run 'fnmf cluster' again.") from None
