"""Pictures of what a model has learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fnmf.validation import check_integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_feature_weights"]

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
    if image_shape is not None and int(np.prod(image_shape)) != n_features:
        raise ValueError(
            f"image_shape={tuple(image_shape)} has {int(np.prod(image_shape))} pixels, but the "
            f"model has {n_features} features; pass the shape of one image."
        )
    figure = _figure(figure, len(panels), image_shape is not None)
    for axis, (title, values) in zip(figure.axes, panels.items(), strict=True):
        axis.set_title(title, fontsize=10)
        if image_shape is None:
            _bars(axis, values, names, top)
        else:
            axis.imshow(values.reshape(image_shape), cmap="viridis", vmin=0)
            axis.set_axis_off()
    return figure


def _names(model: Any, given: Sequence[str] | None, n_features: int) -> list[str]:
    if given is None:
        given = getattr(model, "feature_names_in_", [str(k) for k in range(n_features)])
    if len(given) != n_features:
        raise ValueError(
            f"feature_names has {len(given)} names, but the model has {n_features} features."
        )
    return [str(name) for name in given]


def _figure(figure: Figure | None, n_panels: int, images: bool) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'drawing needs matplotlib; install it with: pip install "fnmf[plot]"', name=error.name
        ) from error
    size = (2.2 * n_panels, 2.5) if images else (3.2 * n_panels, 4.0)
    figure = Figure(figsize=size, layout="constrained") if figure is None else figure
    figure.clear()
    figure.subplots(1, n_panels)
    return figure


def _bars(axis: Any, values: np.ndarray, names: list[str], top: int) -> None:
    shown = np.argsort(-values, kind="stable")[:top]
    shown = shown[values[shown] > 0][::-1]
    places = np.arange(len(shown))
    axis.barh(places, values[shown], color=_COLOUR)
    axis.set_yticks(places, [names[k] for k in shown], fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
