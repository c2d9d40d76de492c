"""A picture of the samples in two dimensions, and of their representation."""

from typing import Any

import numpy as np

from fnmf.reporting._images import heat_image
from fnmf.reporting._statistics import Statistics, _rows

MOST_POINTS = 3000
_MOST_HEAT_ROWS = 600
_MOST_HEAT_COLUMNS = 400
WIDTH, HEIGHT, MARGIN = 640, 460, 14


def sample_map(model: Any, X: Any, stats: Statistics, names: list[str]) -> dict[str, Any]:
    """Coordinates of (at most a few thousand) samples for the page."""
    embedding = getattr(model, "embedding_", None)
    chosen = chosen_samples(stats.codes, MOST_POINTS)
    source = "the representation V"
    if embedding is None:
        source = "the data"
        blocks = [_rows(X, int(i), int(i) + 1) for i in chosen]
        points = np.vstack([b if isinstance(b, np.ndarray) else b.toarray() for b in blocks])
    else:
        points = np.asarray(embedding)[chosen].astype(float)
    # Length says how much of a sample is described; the mixture is what makes clusters.
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    points = np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0)
    flat, share = _two_dimensions(points)
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    inside = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    xy = MARGIN + (flat - low) / span * inside
    return {
        "source": source,
        "share": share,
        "shown": len(chosen),
        "of": len(stats.codes),
        "width": WIDTH,
        "height": HEIGHT,
        "radius": 4.5 if len(chosen) < 500 else 3 if len(chosen) < 1500 else 2.2,
        "points": [
            {
                "x": round(float(x), 1),
                "y": round(HEIGHT - float(y), 1),
                "c": int(c),
                "name": names[i],
            }
            for (x, y), i, c in zip(xy, chosen, stats.codes[chosen], strict=True)
        ],
    }


def chosen_samples(codes: np.ndarray, most: int) -> np.ndarray:
    """Evenly spaced samples, in the order of the data; small clusters keep at least some."""
    if len(codes) <= most:
        return np.arange(len(codes))
    chosen = []
    n_clusters = int(codes.max()) + 1
    for cluster in range(n_clusters):
        members = np.flatnonzero(codes == cluster)
        share = max(min(len(members), most // (4 * n_clusters)), most * len(members) // len(codes))
        chosen.append(members[np.linspace(0, len(members) - 1, max(1, share)).astype(int)])
    return np.unique(np.concatenate(chosen))


def _two_dimensions(points: np.ndarray) -> tuple[np.ndarray, float]:
    """The first two principal components and the share of the variance they show."""
    centred = points - points.mean(axis=0)
    if centred.shape[1] < 2:
        return np.column_stack([centred[:, 0], np.arange(len(centred))]), 1.0
    if centred.shape[0] < 2:
        return centred[:, :2], 1.0
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    # A singular vector is as good as its negative: fix the sign so that runs look alike.
    signs = np.sign(right[:2, np.abs(right[:2]).argmax(axis=1)].diagonal())
    total = float((sizes**2).sum())
    share = float((sizes[:2] ** 2).sum()) / total if total > 0 else 1.0
    return left[:, :2] * sizes[:2] * np.where(signs == 0, 1, signs), share


def representation(model: Any, stats: Statistics) -> dict[str, Any] | None:
    """Heat map of V, samples sorted by cluster and thinned to what a screen can show."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        return None
    V = np.asarray(embedding, dtype=float)[:, :_MOST_HEAT_COLUMNS]
    chosen = chosen_samples(stats.codes, _MOST_HEAT_ROWS)
    order = chosen[np.argsort(stats.codes[chosen], kind="stable")]
    rows = V[order]
    # Columns of V have no common unit, so that each is shown on its own scale.
    top = rows.max(axis=0)
    rows = np.divide(rows, top, out=np.zeros_like(rows), where=top > 0)
    counts = np.bincount(stats.codes[order], minlength=len(stats.sizes))
    ends = np.cumsum(counts)
    means = np.array([V[stats.codes == c].mean(axis=0) for c in range(len(stats.sizes))])
    most = means.max(axis=0)
    return {
        "image": heat_image(rows),
        "rows": len(order),
        "columns": V.shape[1],
        "of_columns": int(np.shape(embedding)[1]),
        "bands": [
            {"c": c, "start": int(end - count), "size": int(count)}
            for c, (end, count) in enumerate(zip(ends, counts, strict=True))
        ],
        "means": np.divide(means, most, out=np.zeros_like(means), where=most > 0)[:, :20].tolist(),
    }
