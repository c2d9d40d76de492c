"""The choice of a number of clusters as a picture: scores above, what splits into what below.

Written as SVG by hand: no library is needed, and the text stays text.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

_WIDTH, _TOP, _FLOW, _LEFT, _RIGHT = 760, 190, 270, 60, 20
_BAR = 9
# Streams of fewer samples than this share are left out.
_THIN = 0.01
# How far down scores are drawn, in units of what the median number loses.
_DEPTH = 3.0
# Ink follows the page, so that the picture can be read on dark ones.
_INK, _SOFT, _MARK, _SHADE = "currentColor", "#9db4c8", "#c2502e", "#d98e5f"


class Drawable(Protocol):
    """What the picture shows of a choice."""

    @property
    def n_components(self) -> int: ...
    @property
    def interval(self) -> tuple[int, int]: ...
    @property
    def also(self) -> tuple[int, ...]: ...
    @property
    def scores(self) -> np.ndarray: ...
    @property
    def labels(self) -> np.ndarray: ...

    def price(self, k: int) -> float:
        """What the score loses with ``k``."""


def draw(choice: Drawable) -> str:
    """An SVG of the scores, the recommended number, and how clusters divide."""
    k = choice.scores["k"]
    flows = choice.labels.size > 0
    height = _TOP + (_FLOW + 70 if flows else 0)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" font-family="sans-serif" font-size="12" fill="{_INK}">'
        f"<title>Number of clusters: {choice}</title>"
    )
    if len(k) == 0:
        return f'{head}<text x="20" y="30">Too few samples to compare numbers.</text></svg>'
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (np.arange(len(k)) + 0.5) / len(k)
    streams = _flow(choice, x) if flows else []
    return "\n".join([head, *_scores(choice, x), *streams, "</svg>"])


def _scores(choice: Drawable, x: np.ndarray) -> list[str]:
    k, score, spread = (choice.scores[name] for name in ("k", "score", "spread"))
    high = float((score + spread).max())
    # Hopeless numbers lie on the ground, so that those in question can be told apart.
    low = max(float((score - spread).min()), high - _DEPTH * float(high - np.median(score)))
    span = max(high - low, 1e-12)

    def y(value: float) -> float:
        return 30 + (_TOP - 60) * (high - max(value, low)) / span

    step = (x[1] - x[0]) / 2 if len(x) > 1 else 20
    inside = (k >= choice.interval[0]) & (k <= choice.interval[1])
    found = [f'<text x="{_LEFT}" y="18">{choice}</text>']
    if inside.any():
        first, last = x[inside][0] - step, x[inside][-1] + step
        found.append(
            f'<rect x="{first:.1f}" y="24" width="{last - first:.1f}" height="{_TOP - 48}" '
            f'fill="{_SHADE}" opacity=".2"/>'
        )
    upper = [f"{a:.1f},{y(s + e):.1f}" for a, s, e in zip(x, score, spread, strict=True)]
    lower = [f"{a:.1f},{y(s - e):.1f}" for a, s, e in zip(x, score, spread, strict=True)]
    line = [f"{a:.1f},{y(s):.1f}" for a, s in zip(x, score, strict=True)]
    found.append(f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{_SOFT}" opacity=".4"/>')
    found.append(f'<polyline points="{" ".join(line)}" fill="none" stroke="{_INK}"/>')
    for a, number, s in zip(x, k, score, strict=True):
        chosen = number == choice.n_components
        also = number in choice.also
        colour, radius = (_MARK, 6) if chosen else (_MARK, 4) if also else (_INK, 3)
        look = f'fill="{colour}"' if s >= low else f'fill="none" stroke="{colour}"'
        lost = f"score {s:.3f}, {choice.price(int(number)):.3f} below the highest"
        found.append(
            f'<circle cx="{a:.1f}" cy="{y(s):.1f}" r="{radius}" {look}>'
            f"<title>{number} clusters: {lost}</title></circle>"
        )
        weight = ' font-weight="bold"' if chosen else ""
        found.append(
            f'<text x="{a:.1f}" y="{_TOP - 6}" text-anchor="middle"{weight}>{number}</text>'
        )
    digits = 2 if span > 0.1 else 3
    ground = " or less" if (score < low).any() else ""
    found.append('<text x="8" y="22" font-size="10">score</text>')
    found.append(f'<text x="8" y="{y(high) + 8:.1f}" font-size="10">{high:.{digits}f}</text>')
    found.append(f'<text x="8" y="{y(low):.1f}" font-size="10">{low:.{digits}f}{ground}</text>')
    return found


def _flow(choice: Drawable, x: np.ndarray) -> list[str]:
    """Bars for the clusters of every number, and the samples that go from bar to bar."""
    n = choice.labels.shape[1]
    places = _places(choice.labels)
    top, scale = _TOP + 20, (_FLOW - 60) / n
    found = [
        f'<text x="{_LEFT}" y="{top + _FLOW + 10}" font-size="11">Bars are clusters of each '
        "number, streams the samples they share: a stream that forks is a cluster that splits."
        "</text>"
    ]
    columns = []
    for labels, order, at in zip(choice.labels, places, x, strict=True):
        gap = 60 / max(len(order), 1)
        columns.append(_Bars(labels, _starts(labels, order, gap / scale), float(at)))
    for before, after in pairwise(columns):
        found += _streams(before, after, top, scale)
    for k, column in zip(choice.scores["k"], columns, strict=True):
        colour = _MARK if k == choice.n_components else _INK
        for c, start in column.starts.items():
            size = int((column.labels == c).sum())
            found.append(
                f'<rect x="{column.x - _BAR / 2:.1f}" y="{top + start * scale:.1f}" '
                f'width="{_BAR}" height="{max(size * scale, 0.5):.1f}" fill="{colour}">'
                f"<title>{size} of {n} samples</title></rect>"
            )
    return found


class _Bars(NamedTuple):
    """Clusters of one number: labels, where each bar begins in samples, and the column's place."""

    labels: np.ndarray
    starts: dict[int, float]
    x: float


def _streams(before: _Bars, after: _Bars, top: float, scale: float) -> list[str]:
    n, found = len(before.labels), []
    out, into = dict(before.starts), dict(after.starts)
    a, b = before.x + _BAR / 2, after.x - _BAR / 2
    middle = (a + b) / 2
    for c in sorted(before.starts, key=lambda c: before.starts[c]):
        for d in sorted(after.starts, key=lambda d: after.starts[d]):
            size = int(((before.labels == c) & (after.labels == d)).sum())
            if size == 0:
                continue
            y, z, thick = top + out[c] * scale, top + into[d] * scale, size * scale
            out[c] += size
            into[d] += size
            if size < _THIN * n:
                continue
            found.append(
                f'<path d="M{a:.1f},{y:.1f}C{middle:.1f},{y:.1f} {middle:.1f},{z:.1f} '
                f"{b:.1f},{z:.1f}v{thick:.1f}C{middle:.1f},{z + thick:.1f} "
                f'{middle:.1f},{y + thick:.1f} {a:.1f},{y + thick:.1f}z" '
                f'fill="{_SOFT}" opacity=".55"/>'
            )
    return found


def _places(labels: np.ndarray) -> list[dict[int, int]]:
    """Order of the clusters of each number: near those that their samples come from."""
    found: list[dict[int, int]] = []
    height = np.zeros(labels.shape[1])
    for one in labels:
        names = np.unique(one)
        means = {int(c): float(height[one == c].mean()) for c in names}
        ranked = sorted(means, key=lambda c: (means[c], c))
        places = {c: rank for rank, c in enumerate(ranked)}
        found.append(places)
        height = np.array([places[int(c)] for c in one]) / max(len(names), 1)
    return found


def _starts(labels: np.ndarray, places: dict[int, int], gap: float) -> dict[int, float]:
    """Where the bar of each cluster begins, in samples."""
    starts, at = {}, 0.0
    for c in sorted(places, key=lambda c: places[c]):
        starts[c] = at
        at += int((labels == c).sum()) + gap
    return starts
