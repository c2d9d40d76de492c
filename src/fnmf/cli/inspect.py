"""``fnmf inspect``: what is in a model file."""

from typing import Any

from fnmf.cli import _options as options
from fnmf.cli._errors import handled

_TOP = 10


def _rows_kept(fitted: Any) -> int | None:
    """How many rows of its data a model keeps; ``None`` for methods that have no such rows."""
    stream = getattr(fitted, "_stream", None)
    rows = getattr(fitted, "_fit_X", None) if stream is None else stream.reservoir.rows
    return None if rows is None else int(rows.shape[0])


def _about_rows(fitted: Any) -> str | None:
    """Whose data are in the file."""
    kept, labels = _rows_kept(fitted), getattr(fitted, "labels_", None)
    if kept is None:
        return None
    if hasattr(fitted, "_stream"):
        return f"It holds {kept:,} rows of its data, a sample that goes on with the stream."
    if labels is None:
        return None
    if kept == 0:
        return "It holds none of the rows of its data."
    if kept == len(labels):
        why = "" if getattr(fitted, "graph", None) is None else ": new ones are compared with them"
        return f"It holds all {kept:,} rows of its data{why}."
    return (
        f"It holds {kept:,} of the {len(labels):,} rows of its data, the anchors: new ones are "
        "compared with them alone."
    )


def inspect(
    model: options.ModelFile,
    as_json: options.Json = False,
) -> None:
    """Show what a model file holds; the file is checked and nothing in it is executed.

    \b
    Examples:
      fnmf inspect customers.csv-clusters
      fnmf inspect customers.csv-clusters/model.fnmf --json
    """
    with handled():
        import numpy as np
        import scipy.sparse as sp

        from fnmf.cli._folder import finish_moves
        from fnmf.cli._outputs import to_json
        from fnmf.cli._show import add_row, console, table
        from fnmf.display import feature_names, visible
        from fnmf.persistence import inspect as look
        from fnmf.statistics import top_indices

        if model.is_dir():
            finish_moves(model)
        info = look(model / "model.fnmf" if model.is_dir() else model)
        fitted = info.model
        parameters = {k: visible(repr(v)) for k, v in fitted.get_params(deep=False).items()}
        attributes = {}
        for name, value in vars(fitted).items():
            if name.endswith("_") and not name.startswith("_") and name != "chosen_":
                big = isinstance(value, np.ndarray) or sp.issparse(value)
                attributes[name] = f"{value.dtype} {value.shape}" if big else visible(repr(value))
        columns = info.metadata.get("columns")
        importances = getattr(fitted, "feature_importances_", None)
        top = []
        if importances is not None:
            names = feature_names(fitted, len(importances), columns)
            top = [(names[k], float(importances[k])) for k in top_indices(importances, _TOP)]
        if as_json:
            print(
                to_json(
                    {
                        "method": type(fitted).__name__,
                        "written_by": visible(info.written_by),
                        "parameters": parameters,
                        "attributes": attributes,
                        "chosen": getattr(fitted, "chosen_", None),
                        "columns": None if columns is None else [visible(c) for c in columns],
                        "top_features": [{"name": n, "importance": v} for n, v in top],
                        "rows_kept": _rows_kept(fitted),
                    }
                )
            )
            return
        out = console()
        out.print(f"{type(fitted).__name__}, written by {visible(info.written_by)}")
        if (told := _about_rows(fitted)) is not None:
            out.print(told)
        for title, entries in (("parameter", parameters), ("attribute", attributes)):
            shown = table(title, "value")
            for name, text in entries.items():
                add_row(shown, name, text)
            out.print(shown)
        tried = getattr(fitted, "chosen_", None) or []
        if tried:
            shown = table(*("preparation" if k == "rows" else k for k in tried[0]))
            for one in tried:
                cells = (f"{v:.3f}" if isinstance(v, float) else str(v) for v in one.values())
                add_row(shown, *map(visible, cells))
            out.print(shown)
        if top:
            shown = table("most important features", "importance")
            for name, value in top:
                add_row(shown, name, f"{value:.4g}")
            out.print(shown)
