"""The course of a fit as lines in SVG."""

from typing import Any

import numpy as np

_MOST_POINTS = 300
WIDTH, HEIGHT = 300, 130
LEFT, BOTTOM, TOP, RIGHT = 8, 20, 10, 8


def convergence(model: Any) -> list[dict[str, Any]]:
    """One small chart for each term of the objective."""
    history = getattr(model, "history_", None)
    columns = _columns(history)
    return [
        chart
        for name, values in columns.items()
        if (chart := _chart(name, np.asarray(values, dtype=float))) is not None
    ]


def _columns(history: Any) -> dict[str, Any]:
    if isinstance(history, dict):
        return history
    names = getattr(getattr(history, "dtype", None), "names", None)
    if names:
        return {name: history[name] for name in names if name not in ("iteration", "round")}
    if history is not None and np.ndim(history) == 1 and len(history):
        return {"objective": history}
    return {}


def _chart(name: str, values: np.ndarray) -> dict[str, Any] | None:
    if values.ndim != 1 or not np.isfinite(values).any():
        return None
    steps = np.arange(1, len(values) + 1)
    chosen = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).astype(int))
    steps, values = steps[chosen], values[chosen]
    fine = np.isfinite(values)
    steps, values = steps[fine], values[fine]
    low, high = float(values.min()), float(values.max())
    # Objectives fall fast and then slowly: equal ratios, equal heights.
    logarithmic = low > 0 and high / low > 20
    heights = np.log(values) if logarithmic else values
    bottom, top = float(heights.min()), float(heights.max())
    span = top - bottom or 1.0
    x = LEFT + (steps - 1) / max(1, steps[-1] - 1) * (WIDTH - LEFT - RIGHT)
    y = TOP + (top - heights) / span * (HEIGHT - TOP - BOTTOM)
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return {
        "name": name.replace("_", " "),
        "path": path,
        "first": float(values[0]),
        "last": float(values[-1]),
        "low": low,
        "high": high,
        "steps": int(steps[-1]),
        "logarithmic": logarithmic,
        "end": [round(float(x[-1]), 1), round(float(y[-1]), 1)],
        "width": WIDTH,
        "height": HEIGHT,
        "base": HEIGHT - BOTTOM,
    }
