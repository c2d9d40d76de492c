"""``fnmf cluster``: from a file to clusters, feature weights and a page."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._commands import grouped, typed
from fnmf.cli._errors import UsageError, handled
from fnmf.cli._fit_options import Model, MoreTables, Running
from fnmf.cli._folder import RUN_FILES

if TYPE_CHECKING:
    from fnmf.cli._join import Sources
    from fnmf.cli._run import Run
    from fnmf.io import Recipe

_SMALL = 2_000_000
# Clusters are compared with those of half of the rows, which need neighbours of their own.
_FEWEST = 6


@grouped
def cluster(
    context: typer.Context,
    file: options.Table,
    model: Model,
    treatment: options.Treatment,
    reading: options.Reading,
    output: options.RunOutput,
    running: Running,
    more: MoreTables = None,
) -> None:
    """Cluster the rows of a table and find the columns that matter.

    What the table needs is decided by what its columns hold, and told; --strict stops instead.
    Writes labels.csv, features.csv, embedding.csv, model.fnmf, report.html and run.json into a
    folder, all or none of them; without -k also number.svg, a picture of the choice. With --known
    clusters are the classes of that column, and suspicious.csv and label-next.csv are written too.

    \b
    Examples:
      fnmf cluster customers.csv
      fnmf cluster customers.csv -k 4 --rows-are customers --with-columns
      fnmf cluster cells.h5ad --layer counts
      fnmf cluster customers.csv --known kind
      fnmf cluster visits.csv purchases.csv --join customer
      fnmf cluster customers.csv --method kmeans -k 4 -o kmeans-clusters
    """
    with handled() as outcome:
        treatment.check()
        refused = {"--names": output.names, "--consensus": model.consensus}
        from fnmf.cli._known import check_known

        check_known(model, reading, refused | {"--checkpoint": running.checkpoint})
        from fnmf.cli._join import Sources

        sources = Sources((file, *(more or ())), model.join, model.groups)
        sources.check(reading, output.with_columns, bool(running.memory or running.scheduler))
        folder = output.out or Path(f"{file.resolve().name}-clusters")
        from fnmf.cli._folder import check_folder
        from fnmf.cli._models import OURS, load_plugins, make_model

        inputs = [*sources.files, *([reading.labels] if reading.labels else [])]
        check_folder(folder, RUN_FILES, output.force, inputs)
        load_plugins(model.plugins)
        # Made at once, so that a parameter that does not exist is told before anything is read.
        estimator = make_model(model, model.clusters or 2)
        if running.checkpoint is not None and type(estimator).__name__ != OURS:
            raise UsageError(f"--checkpoint works with --method {OURS} only.")
        from fnmf.io import is_many

        words = typed(context)
        if running.memory or running.scheduler or is_many(file):
            if model.kind:
                raise UsageError("--kind needs the whole table in memory; leave it out.")
            from fnmf.cli._large import Where, large_run

            where = Where(file, running.memory, running.scheduler, model.jobs, words)
            if model.clusters is None and type(estimator).__name__ == OURS:
                estimator.set_params(n_components=model.components or "auto", n_clusters=None)
            normalize = treatment.normalize.for_model(estimator)
            run: Run = large_run(where, estimator, normalize, treatment.image_shape)
            run.seed, run.output, run.checkpoint = model.seed, output, running.checkpoint
        else:
            run = _plain_run(sources, (model, treatment, reading), estimator, words)
            run.output, run.checkpoint = output, running.checkpoint
        run.fit()
        run.write(folder)
        outcome.folder = folder
        run.show(folder)


def _plain_run(
    sources: "Sources",
    groups: tuple[Model, options.Treatment, options.Reading],
    estimator: Any,
    words: list[str],
) -> "Run":
    """A run over a table in memory, yet to be fitted."""
    from fnmf.cli._data import read_and_learn
    from fnmf.cli._kinds import check_kinds, kinds_by_column
    from fnmf.cli._known import check_batch_option, most_frequent, take_batches
    from fnmf.cli._models import make_model, recommend
    from fnmf.cli._run import Run, parse_shape

    model, treatment, reading = groups
    file = sources.files[0]
    how = replace(reading.options(), transpose=treatment.transpose, keep_texts=treatment.keep_texts)
    kinds = kinds_by_column(model.kind, transpose=treatment.transpose)
    categories = [name for name, kind in kinds.items() if kind == "category"]
    how = replace(how, texts=categories)
    if model.known is not None:
        how = replace(how, label_column=model.known)
    if model.batch is not None:
        check_batch_option(model, reading, estimator)
        how = replace(how, label_column=model.batch)
    learnt: dict[str, Any] = treatment.recipe(estimator) | {"categories": categories}
    table, recipe = read_and_learn(sources.read, how, learnt, words, treatment.strict)
    recipe.transpose = treatment.transpose
    reading.add_labels(table)
    n_rows, n_columns = table.X.shape
    _enough_rows(file, n_rows, model, estimator)
    if model.clusters is not None and model.clusters > n_rows:
        raise UsageError(
            f"-k {model.clusters} is more than the {n_rows} rows of {file}; choose fewer."
        )
    together = sources.groups(table, recipe)
    check_kinds(file, kinds, recipe, table)
    _set_columns(estimator, recipe, together, kinds)
    choice, known = None, None
    batch = None if model.batch is None else take_batches(table, model.batch, how.na_values)
    if model.known is not None:
        from fnmf.cli._known import known_classes

        known = known_classes(table, model, how.na_values)
        estimator.set_params(n_clusters=model.clusters or len(set(known) - {""}))
    elif model.clusters is None:
        if _all_equal(table.X):
            raise UsageError(f"All rows of {file} are equal: there is nothing to cluster.")
        rows = table.X if batch is None else table.X[batch == most_frequent(batch)]
        choice = recommend(recipe.prepare(rows), estimator, model.seed, model.jobs)
        estimator = make_model(model, choice.n_components)
        _enough_rows(file, n_rows, model, estimator)
        _set_columns(estimator, recipe, together, kinds)
    restarts = model.restarts
    if restarts is None:
        restarts = 3 if n_rows * n_columns <= _SMALL and batch is None else 0
    shape = parse_shape(treatment.image_shape, n_columns) or table.image_shape
    run = Run(file, table, recipe, estimator, how, model.seed, shape, restarts, choice=choice)
    run.known, run.batch, run.files = known, batch, sources.files
    return run


def _enough_rows(file: Path, n_rows: int, model: Model, estimator: Any) -> None:
    """Raise if rows are too few; for a few, as many neighbours are taken as there are."""
    if n_rows < _FEWEST:
        raise UsageError(
            f"{file} has {n_rows} row{'s' if n_rows > 1 else ''}; groups need at least {_FEWEST}."
        )
    known = estimator.get_params(deep=False).get("n_neighbors")
    if model.neighbors is None and isinstance(known, int) and known > n_rows - 2:
        estimator.set_params(n_neighbors=n_rows - 2)


def _set_columns(estimator: Any, recipe: "Recipe", asked: Any, kinds: dict[str, str]) -> None:
    """Tell a model the kinds and groups asked for, or which features are one column."""
    known, encoded = estimator.get_params(deep=False), set(recipe.columns) - set(recipe.sources)
    given = [
        None if name in encoded else kinds.get(source)
        for name, source in zip(recipe.columns, recipe.sources, strict=True)
    ]
    if any(given):
        if "column_kinds" not in known:
            raise UsageError(f"{type(estimator).__name__} knows no kinds of columns; use FNMF.")
        estimator.set_params(column_kinds=given)
    if asked is not None:
        if "feature_groups" not in known:
            raise UsageError(f"{type(estimator).__name__} knows no groups of columns; use FNMF.")
        estimator.set_params(feature_groups=asked)
        return
    groups = recipe.groups
    together = len(groups) > 0 and groups.max() + 1 < len(groups)
    if together and known.get("feature_groups", groups) is None:
        estimator.set_params(feature_groups=groups)


def _all_equal(X: Any) -> bool:
    from fnmf.cli._run import few_different_rows

    return X.shape[0] > 1 and bool(few_different_rows(X, 2))
