"""``fnmf label-next``: which rows are worth a label."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fnmf.cli import _options as options
from fnmf.cli._errors import UsageError, handled


def label_next(
    model: options.ModelFile,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Rows.", metavar="N")] = 10,
    as_json: options.Json = False,
) -> None:
    """Say which rows are worth a label next: in doubt, and unlike each other.

    After 'fnmf cluster --known COLUMN' these are rows whose class is least sure; after a run
    without known classes, typical rows of all clusters. Write their classes into the column and run
    again.

    \b
    Examples:
      fnmf label-next customers.csv-clusters
      fnmf label-next customers.csv-clusters -n 50 --json > to-label.json
    """
    with handled():
        from fnmf.cli._outputs import to_json
        from fnmf.cli._show import console, show_next
        from fnmf.reporting.labels import next_labels

        fitted, names = _model_and_rows(model)
        rows = next_labels(fitted, names, count)
        if as_json:
            print(to_json({"rows": rows}))
            return
        show_next(console(), rows)
        if not rows:
            console().print("All rows have a label.")


def _model_and_rows(model: Path) -> tuple[Any, list[str]]:
    """The model, and the names of its rows as labels.csv beside it has them."""
    from fnmf.cli._folder import finish_moves
    from fnmf.cli._outputs import row_names
    from fnmf.cli.report import ids_beside
    from fnmf.persistence import inspect

    if model.is_dir():
        finish_moves(model)
        model = model / "model.fnmf"
    fitted = inspect(model).model
    if getattr(fitted, "sample_confidence_", None) is None:
        raise UsageError(
            f"{type(fitted).__name__} does not say how sure it is of a row; use FNMF, with --known "
            "if some classes are known."
        )
    n = len(fitted.labels_)
    return fitted, row_names(ids_beside(model, n), None, n)
