"""From the plain summary to one self-contained page."""

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fnmf._atomic import atomic_file
from fnmf.reporting._names import number
from fnmf.reporting._summary import summarise

# Colours that most kinds of colour vision tell apart; more clusters get evenly spread hues.
_PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#d55e00",
    "#56b4e9",
    "#8a7a00",
    "#7a5cc4",
    "#8c6d5a",
    "#6b7785",
)


def report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    feature_names: Sequence[Any] | None = None,
    sample_names: Sequence[Any] | None = None,
    labels_true: Sequence[Any] | None = None,
    image_shape: tuple[int, int] | None = None,
    n_restarts: int = 0,
    notes: Sequence[str] = (),
) -> None:
    """Write one self-contained HTML page about a fitted model.

    The page works offline, loads nothing, and shows clusters, a map of the samples, feature
    weights, what sets clusters apart, the representation, convergence and a diagnosis.

    Parameters
    ----------
    model : estimator
        A fitted :class:`fnmf.FNMF` or one of :mod:`fnmf.baselines`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data the model was fitted on, in the units to be shown.
    path : str or path-like
        Where to write the page; an older file is replaced.
    title : str, default=None
        Heading of the page.
    feature_names, sample_names : sequence of str, default=None
        Names to show. Default are the names seen in ``fit`` and row numbers.
    labels_true : sequence, default=None
        Known classes, to score the clusters.
    image_shape : tuple of int, default=None
        Height and width, if samples are images: weights and means are then shown as images.
    n_restarts : int, default=0
        Fit again this many times from other random starts and report how stable the clusters are.
    notes : sequence of str, default=()
        Remarks to print under the diagnosis.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import fnmf
    >>> X, _ = fnmf.datasets.make_noisy_gaussians(random_state=0)
    >>> model = fnmf.FNMF(3, tol=1e-2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder) / "report.html"
    ...     fnmf.report(model, X, page, title="Three groups")
    ...     "Three groups" in page.read_text()
    True
    """
    if not hasattr(X, "shape"):
        import numpy as np

        X = np.asarray(X)
    elif hasattr(X, "iloc"):
        X = X.to_numpy()
    summary = summarise(
        model,
        X,
        title=title,
        names=feature_names,
        samples=sample_names,
        labels_true=labels_true,
        image_shape=image_shape,
        n_restarts=n_restarts,
        notes=notes,
    )
    write_page(summary, Path(path))


def write_page(summary: dict[str, Any], path: Path) -> None:
    """Render the summary into the file ``path``."""
    page = render(summary).encode()
    with atomic_file(path) as file:
        file.write(page)


def render(summary: dict[str, Any]) -> str:
    """The page as text."""
    try:
        import jinja2
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'The report needs jinja2; install it with: pip install "fnmf[report]"', name="jinja2"
        ) from None
    from markupsafe import Markup

    folder = Path(__file__).parent / "templates"
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=False,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["num"] = number
    environment.filters["count_text"] = _count
    colours = "".join(
        f".k{c}{{fill:{colour}}}" for c, colour in enumerate(_colours(len(summary["clusters"])))
    )
    style = (folder / "report.css").read_text(encoding="utf-8") + colours
    script = (folder / "report.js").read_text(encoding="utf-8")
    data = {"clusters": [c["name"] for c in summary["clusters"]], "features": summary["features"]}
    return environment.get_template("report.html").render(
        **summary,
        largest=max(cluster["size"] for cluster in summary["clusters"]),
        # Only files of this package are marked as safe; everything from the data is escaped.
        style=Markup(style),
        script=Markup(script),
        data=Markup(json_for_html(data)),
        policy=_policy(style, script),
    )


def json_for_html(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}"


def _policy(style: str, script: str) -> str:
    def allowed(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; img-src data:; style-src {allowed(style)}; "
        f"script-src {allowed(script)}; base-uri 'none'; form-action 'none'"
    )


def _colours(count: int) -> list[str]:
    if count <= len(_PALETTE):
        return list(_PALETTE[:count])
    # The golden angle keeps neighbours in the list far apart in hue.
    return [
        f"hsl({137.508 * c % 360:.0f} {(70, 50, 85)[c % 3]}% {(48, 58, 40)[(c // 3) % 3]}%)"
        for c in range(count)
    ]
