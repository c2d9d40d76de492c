"""``fnmf cluster``: from a file to clusters, feature weights and a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled
from fnmf.cli._files import RUN_FILES

_MODEL = "Model"
_DATA = "Treatment of the data"
_SMALL = 2_000_000


def _number(help_text: str) -> Any:
    return typer.Option(help=help_text, rich_help_panel=_MODEL, show_default=False)


def cluster(
    context: typer.Context,
    file: options.Table,
    clusters: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            parser=options.number_of_clusters,
            metavar="K|auto",
            help="Number of clusters; recommended from the data if it is auto or not given.",
            show_default=False,
        ),
    ] = None,
    out: options.Out = None,
    force: options.Force = False,
    as_json: options.Json = False,
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    method: Annotated[
        str, typer.Option(help="Any name 'fnmf methods' lists.", rich_help_panel=_MODEL)
    ] = "FNMF",
    components: Annotated[int | None, _number("Size of the representation (default: K).")] = None,
    weightings: Annotated[int | None, _number("Number of feature weightings.")] = None,
    diversity: Annotated[float | None, _number("How different weightings must be.")] = None,
    smoothness: Annotated[float | None, _number("How alike neighbours must be.")] = None,
    neighbors: Annotated[int | None, _number("Neighbours of each sample.")] = None,
    weighting: Annotated[
        str | None, _number("How features are weighted: relevance, paper, uniform.")
    ] = None,
    assignment: Annotated[str | None, _number("Mixture of weightings: sample, shared.")] = None,
    solver: Annotated[str | None, _number("Update rule: mu, mu-fast, hals.")] = None,
    init: Annotated[str | None, _number("Start: kmeans, random, nndsvda.")] = None,
    max_iter: Annotated[int | None, _number("Most iterations.")] = None,
    tol: Annotated[float | None, _number("When to stop.")] = None,
    n_init: Annotated[int | None, _number("Number of starts; the best is kept.")] = None,
    param: Annotated[
        list[str] | None,
        _number("Any other parameter of the method as NAME=VALUE; may be repeated."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Random seed: same seed, same result.", rich_help_panel=_MODEL),
    ] = 0,
    jobs: Annotated[int | None, _number("Number of threads (-1: all).")] = None,
    checkpoint: Annotated[
        Path | None,
        _number("Folder for checkpoints, every 30 s; the same command goes on from there."),
    ] = None,
    memory: Annotated[
        str | None,
        _number("Read by blocks that take no more than this altogether, like 4GB."),
    ] = None,
    scheduler: Annotated[
        str | None, _number("Read by blocks and fit on the Dask cluster of this address.")
    ] = None,
    consensus: Annotated[
        int | None, _number("Resamples that vote for the clusters and say how sure they are.")
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Further fits to see how stable the clusters are (default: 3 for small tables).",
            rich_help_panel=_MODEL,
            show_default=False,
        ),
    ] = None,
    normalize: Annotated[
        options.Normalize,
        typer.Option(
            help="Scale every row to unit length, or not; auto leaves it to the default weighting, "
            "which finds out, and scales for all others.",
            rich_help_panel=_DATA,
        ),
    ] = options.Normalize.auto,
    scale: Annotated[
        options.Scale,
        typer.Option(help="Divide every column by its largest value.", rich_help_panel=_DATA),
    ] = options.Scale.none,
    missing: Annotated[
        options.Missing,
        typer.Option(help="What to do about missing values.", rich_help_panel=_DATA),
    ] = options.Missing.error,
    shift: Annotated[
        bool,
        typer.Option(
            "--shift", help="Move columns with negative values up to 0.", rich_help_panel=_DATA
        ),
    ] = False,
    absolute: Annotated[
        bool, typer.Option("--abs", help="Drop the signs.", rich_help_panel=_DATA)
    ] = False,
    image_shape: Annotated[
        str | None,
        typer.Option(help="HEIGHTxWIDTH, if rows are images.", rich_help_panel=_DATA),
    ] = None,
    encode: Annotated[
        bool,
        typer.Option("--encode", help="Turn text and dates into features.", rich_help_panel=_DATA),
    ] = False,
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
    transpose: options.Transpose = False,
    layer: options.Layer = None,
    raw: options.Raw = False,
    sheet: options.Sheet = None,
    labels: options.Labels = None,
    float32: options.Float32 = False,
) -> None:
    """Cluster the rows of a table and find the features that matter.

    Writes labels.csv, features.csv, embedding.csv, model.fnmf, report.html and run.json
    into a folder, all or none of them; without -k also number.svg, a picture of the choice.
    """
    with handled() as outcome:
        if shift and absolute:
            raise UsageError("--shift and --abs exclude each other.")
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
            transpose=transpose,
            layer=layer,
            raw=raw,
            sheet=sheet,
            keep_texts=encode,
        )
        folder = out or Path(f"{file.resolve().name}-clusters")
        from fnmf.cli._folder import check_folder
        from fnmf.cli._models import OURS, make_model, parse_parameters

        check_folder(folder, RUN_FILES, force, [file, *([labels] if labels else [])])
        given = {
            "n_components": components,
            "n_weightings": weightings,
            "diversity": diversity,
            "smoothness": smoothness,
            "n_neighbors": neighbors,
            "weighting": weighting,
            "assignment": assignment,
            "solver": solver,
            "init": init,
            "max_iter": max_iter,
            "tol": tol,
            "n_init": n_init,
            "consensus": consensus,
            **parse_parameters(param or []),
        }
        # Made at once, so that a parameter that does not exist is told before anything is read.
        model = make_model(method, clusters or 2, seed, jobs, given)
        if checkpoint is not None and type(model).__name__ != OURS:
            raise UsageError(f"--checkpoint works with --method {OURS} only.")
        from fnmf.cli._data import read_and_learn
        from fnmf.io import is_many

        if memory or scheduler or is_many(file):
            from fnmf.cli._large import Where, large_run

            where = Where(file, memory, scheduler, jobs, options.typed(context))
            if clusters is None and type(model).__name__ == OURS:
                model.set_params(n_components=components or "auto", n_clusters=None)
            large = large_run(where, model, normalize.for_model(model), image_shape)
            large.seed, large.title, large.checkpoint = seed, title, checkpoint
            large.fit()
            large.write(folder, force)
            outcome.folder = folder
            large.show(folder, as_json)
            return
        table, recipe = read_and_learn(
            file,
            reading | {"dtype": _dtype(float32)},
            {
                "missing": missing.value,
                "negative": "shift" if shift else "abs" if absolute else "error",
                "normalize": normalize.for_model(model),
                "scale": scale.value,
            },
            options.typed(context),
        )
        recipe.transpose = transpose
        if labels is not None:
            from fnmf.io import add_labels

            add_labels(table, labels, label_column)
        n_rows = table.X.shape[0]
        if clusters is not None and clusters > n_rows:
            raise UsageError(
                f"-k {clusters} is more than the {n_rows} rows of {file}; choose fewer."
            )
        from fnmf.cli._run import Run, parse_shape

        choice = None
        if clusters is None:
            from fnmf.cli._models import recommend

            choice = recommend(recipe.prepare(table.X), model, seed, jobs)
            model = make_model(method, choice.n_components, seed, jobs, given)
        shape = parse_shape(image_shape, table.X.shape[1]) or table.image_shape
        if restarts is None:
            restarts = 3 if table.X.shape[0] * table.X.shape[1] <= _SMALL else 0
        run = Run(file, table, recipe, model, reading, seed, title, shape, restarts, checkpoint)
        run.choice = choice
        run.fit()
        run.write(folder, force)
        outcome.folder = folder
        run.show(folder, as_json)


def _dtype(float32: bool) -> Any:
    import numpy as np

    return np.float32 if float32 else np.float64
