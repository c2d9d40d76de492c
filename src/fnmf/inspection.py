"""Pictures of what a model has learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fnmf.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_feature_weights", "plot_hierarchy"]

_COLOUR = "#1f5a8a"


def plot_feature_weights(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    top: int = 15,
    figure: Figure | None = None,
) -> Figure:
    """Draw the importance of the features and every weighting.

    Parameters
    ----------
    model : FNMF
        A fitted model.
    feature_names : sequence of str, optional
        Names of the features; those seen during fit, or their numbers, if not given.
    image_shape : tuple of (height, width), optional
        Draw weights as images of this shape instead of bars.
    top : int, default=15
        How many of the largest weights a panel of bars shows.
    figure : matplotlib Figure, optional
        Where to draw; a new one if not given. It is cleared first.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from fnmf import FNMF
    >>> from fnmf.datasets import make_planted_subspaces
    >>> from fnmf.inspection import plot_feature_weights
    >>> X, _, _ = make_planted_subspaces(random_state=0)
    >>> model = FNMF(4, n_weightings=4, random_state=0).fit(X)
    >>> figure = plot_feature_weights(model, top=10)
    >>> len(figure.axes)
    5
    """
    check_is_fitted(model, "feature_weights_")
    top = check_integer("top", top, low=1)
    weights = np.asarray(model.feature_weights_)
    n_features = weights.shape[1]
    names = _names(model, feature_names, n_features)
    panels = {"importance": np.asarray(model.feature_importances_)}
    panels |= {f"weighting {j + 1}": row for j, row in enumerate(weights)}
    _check_image(image_shape, n_features)
    figure = _figure(figure, (1, len(panels)), 0 if image_shape else top)
    for axis, (title, values) in zip(figure.axes, panels.items(), strict=True):
        _panel(axis, title, values, names if image_shape is None else image_shape, top)
    return figure


def plot_hierarchy(
    model: Any,
    *,
    layer: int = -1,
    n_finer: int = 4,
    feature_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    top: int = 6,
    figure: Figure | None = None,
) -> Figure:
    """Draw each part of a layer, and beside it the finer parts that it is made of.

    Parameters
    ----------
    model : DeepFNMF
        A fitted model of at least two layers.
    layer : int, default=-1
        Which layer, as an index; the first has no finer parts.
    n_finer : int, default=4
        How many finer parts are drawn, the largest shares first.
    feature_names : sequence of str, optional
        Names of the features; those seen during fit, or their numbers, if not given.
    image_shape : tuple of (height, width), optional
        Draw parts as images of this shape instead of bars.
    top : int, default=6
        How many of the largest features a panel of bars shows.
    figure : matplotlib Figure, optional
        Where to draw; a new one if not given. It is cleared first.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from fnmf import DeepFNMF
    >>> from fnmf.datasets import make_planted_subspaces
    >>> from fnmf.inspection import plot_hierarchy
    >>> X, _, _ = make_planted_subspaces(random_state=0)
    >>> model = DeepFNMF((12, 4), random_state=0).fit(X)
    >>> len(plot_hierarchy(model, n_finer=3).axes)
    16
    """
    check_is_fitted(model, "components_")
    top, n_finer = check_integer("top", top, low=1), check_integer("n_finer", n_finer, low=1)
    parts = model.layer_products_
    numbers = range(1, len(parts))
    if layer not in numbers and layer + len(parts) not in numbers:
        raise ValueError(
            f"layer={layer} has no finer parts: the model has {len(parts)} layers, and the first "
            "is the finest."
        )
    layer %= len(parts)
    coarse, finer, shares = parts[layer], parts[layer - 1], model.hierarchy_[layer - 1]
    n_features, n_finer = coarse.shape[1], min(n_finer, len(finer))
    names = _names(model, feature_names, n_features)
    _check_image(image_shape, n_features)
    figure = _figure(figure, (len(coarse), 1 + n_finer), 0 if image_shape else top)
    axes = np.array(figure.axes, dtype=object).reshape(len(coarse), 1 + n_finer)
    drawn = names if image_shape is None else image_shape
    for a, (row, part) in enumerate(zip(axes, coarse, strict=True)):
        _panel(row[0], f"part {a}", part, drawn, top)
        largest = np.argsort(-shares[a], kind="stable")[:n_finer]
        for axis, b in zip(row[1:], largest, strict=True):
            _panel(axis, f"{b}: {shares[a, b]:.0%}", finer[b], drawn, top)
    return figure


def _check_image(image_shape: tuple[int, int] | None, n_features: int) -> None:
    if image_shape is not None and int(np.prod(image_shape)) != n_features:
        raise ValueError(
            f"image_shape={tuple(image_shape)} has {int(np.prod(image_shape))} pixels, but the "
            f"model has {n_features} features; pass the shape of one image."
        )


def _panel(axis: Any, title: str, values: np.ndarray, drawn: Any, top: int) -> None:
    """Values of the features as bars with these names, or as an image of this shape."""
    axis.set_title(title, fontsize=10)
    if isinstance(drawn, list):
        _bars(axis, values, drawn, top)
    else:
        axis.imshow(values.reshape(drawn), cmap="viridis", vmin=0)
        axis.set_axis_off()


def _names(model: Any, given: Sequence[str] | None, n_features: int) -> list[str]:
    if given is None:
        given = getattr(model, "feature_names_in_", [str(k) for k in range(n_features)])
    if len(given) != n_features:
        raise ValueError(
            f"feature_names has {len(given)} names, but the model has {n_features} features."
        )
    return [str(name) for name in given]


def _figure(figure: Figure | None, panels: tuple[int, int], bars: int) -> Figure:
    """Panels in rows and columns, high enough for so many bars; for images if there are none."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'drawing needs matplotlib; install it with: pip install "fnmf[plot]"', name=error.name
        ) from error
    rows, columns = panels
    size = (3.2 * columns, (0.8 + 0.22 * bars) * rows) if bars else (2.2 * columns, 2.5 * rows)
    figure = Figure(figsize=size, layout="constrained") if figure is None else figure
    figure.clear()
    figure.subplots(rows, columns)
    return figure


def _bars(axis: Any, values: np.ndarray, names: list[str], top: int) -> None:
    shown = np.argsort(-values, kind="stable")[:top]
    shown = shown[values[shown] > 0][::-1]
    places = np.arange(len(shown))
    axis.barh(places, values[shown], color=_COLOUR)
    axis.set_yticks(places, [names[k] for k in shown], fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
