"""A fitted model at a glance, for notebooks: sizes, weights, convergence."""

import html
from typing import Any

import numpy as np

from fnmf.display._curves import convergence
from fnmf.display._text import feature_names, visible
from fnmf.statistics import top_indices

_TOP = 8
_MOST_CLUSTERS = 30
_STYLE = (
    "<style>"
    ".fnmf{font:13px/1.5 system-ui,sans-serif;display:flex;flex-wrap:wrap;gap:8px 28px;"
    "align-items:flex-start;margin:6px 0}"
    ".fnmf table{border-collapse:collapse;margin:0}"
    ".fnmf th,.fnmf td{text-align:left;padding:1px 10px 1px 0;font-weight:normal;background:none}"
    ".fnmf caption{text-align:left;font-weight:600;color:inherit;caption-side:top;padding:0 0 2px}"
    ".fnmf .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".fnmf rect{fill:#3b82c4}.fnmf polyline{fill:none;stroke:#3b82c4;stroke-width:2}"
    "</style>"
)


def summary_html(model: Any) -> str:
    """A short HTML summary of a fitted model; every name in it is escaped.

    Parameters
    ----------
    model : estimator
        Fitted, with ``labels_``; anything else it has learned is shown too.

    Returns
    -------
    str
        One ``div`` with its own style, to be shown below scikit-learn's diagram.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from fnmf.display._notebook import summary_html
    >>> text = summary_html(SimpleNamespace(labels_=np.array([0, 0, 1])))
    >>> "2 clusters" in text
    True
    """
    parts = [_sizes(model), _importances(model), _course(model)]
    return f'{_STYLE}<div class="fnmf">{"".join(part for part in parts if part)}</div>'


def _sizes(model: Any) -> str:
    names, sizes = np.unique(np.asarray(model.labels_), return_counts=True)
    rows = [
        (visible(name), int(size), size / sizes.max())
        for name, size in zip(names[:_MOST_CLUSTERS], sizes[:_MOST_CLUSTERS], strict=True)
    ]
    word = "cluster" if len(names) == 1 else "clusters"
    more = f", the first {_MOST_CLUSTERS}" if len(names) > _MOST_CLUSTERS else ""
    return _table(f"{len(names)} {word} of {int(sizes.sum()):,} samples{more}", rows)


def _importances(model: Any) -> str:
    values = getattr(model, "feature_importances_", None)
    if values is None:
        return ""
    values = np.asarray(values, dtype=float)
    names = feature_names(model, len(values), None)
    top = top_indices(values, _TOP)
    largest = values[top[0]] or 1.0
    rows = [(names[k], f"{values[k]:.3g}", values[k] / largest) for k in top]
    effective = getattr(model, "effective_features_", None)
    shown = ""
    if effective is not None:
        each = ", ".join(f"{value:.1f}" for value in np.ravel(effective)[:8])
        shown = f" (effective in each weighting: {each})"
    return _table(f"Most important of {len(values):,} features{shown}", rows)


def _course(model: Any) -> str:
    charts = convergence(model)
    if not charts:
        return ""
    chart = charts[0]
    text = f"{chart['name']}: {chart['first']:.4g} → {chart['last']:.4g}"
    text += f" in {chart['steps']} iterations"
    return (
        f'<table><caption>{html.escape(text)}</caption><tr><td><svg width="240" height="104" '
        f'viewBox="0 0 {chart["width"]} {chart["height"]}" role="img" '
        f'aria-label="{html.escape(text)}"><polyline points="{chart["path"]}"/></svg>'
        "</td></tr></table>"
    )


def _table(caption: str, rows: list[tuple[str, Any, float]]) -> str:
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td class="n">{html.escape(str(value))}</td>'
        f'<td><svg width="80" height="10" aria-hidden="true"><rect width="{80 * share:.1f}" '
        'height="10" rx="2"/></svg></td></tr>'
        for name, value, share in rows
    )
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"
