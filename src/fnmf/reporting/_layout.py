"""Samples in two dimensions: principal components, and a layout of the neighbour graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

WIDTH, HEIGHT, MARGIN = 640, 460, 26
_GOLDEN = np.pi * (3 - np.sqrt(5))
_EPOCHS = 200
_REPELLED = 5
_KEPT_NEIGHBOURS = 10
# The curve 1 / (1 + a d^2b) that UMAP fits to a smallest distance of 0.1.
_A, _B = 1.577, 0.895


@dataclass(frozen=True)
class Layout:
    """Places of the samples on the page, and how many of their neighbours stay near."""

    key: str
    name: str
    text: str
    xy: np.ndarray
    kept: float


def layouts(points: np.ndarray, graph: sp.csr_array, source: str, radius: float) -> list[Layout]:
    """Both layouts, the one that keeps more neighbours first."""
    flat, share = principal_components(points)
    springs = neighbour_layout(graph, flat)
    made = [
        ("components", "Principal components", f"principal components of {source}", flat),
        ("neighbours", "Neighbours", "neighbours in the graph drawn close to each other", springs),
    ]
    found = []
    for key, name, text, places in made:
        kept = neighbours_kept(graph, places)
        text += f", {share:.0%} of its variance" if key == "components" else ""
        text += f"; {kept:.0%} of a sample's neighbours stay near it"
        found.append(Layout(key, name, text, _fan_out(_to_page(places), radius), kept))
    return sorted(found, key=lambda layout: -layout.kept)


def principal_components(points: np.ndarray) -> tuple[np.ndarray, float]:
    """The first two principal components and the share of the variance they show."""
    centred = points - points.mean(axis=0)
    if centred.shape[1] < 2:
        return np.column_stack([centred[:, 0], np.zeros(len(centred))]), 1.0
    if centred.shape[0] < 2:
        return centred[:, :2], 1.0
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    if sizes[0] <= 1e-10 * np.linalg.norm(points):
        # Equal samples: what is left is rounding, not a direction.
        return np.zeros((len(points), 2)), 1.0
    # A singular vector is as good as its negative: fix the sign so that runs look alike.
    signs = np.sign(right[:2, np.abs(right[:2]).argmax(axis=1)].diagonal())
    total = float((sizes**2).sum())
    share = float((sizes[:2] ** 2).sum()) / total if total > 0 else 1.0
    return left[:, :2] * sizes[:2] * np.where(signs == 0, 1, signs), share


def neighbour_layout(graph: sp.csr_array, start: np.ndarray) -> np.ndarray:
    """Pull neighbours together and push random pairs apart, as UMAP does, from ``start``."""
    n = graph.shape[0]
    rng = np.random.default_rng(0)
    scale = np.abs(start).max()
    # Samples at the same place would never part.
    xy = start / (scale or 1.0) * 10 + rng.normal(0, 1e-2, start.shape)
    pairs = graph.tocoo()
    i, j = pairs.coords
    if len(i) == 0 or n < 3:
        return xy
    strongest = np.maximum.reduceat(graph.data, graph.indptr[:-1][np.diff(graph.indptr) > 0])
    most = np.ones(n)
    most[np.diff(graph.indptr) > 0] = strongest
    weight = pairs.data / most[i]
    away = np.repeat(np.arange(n), _REPELLED)
    for epoch in range(_EPOCHS):
        pull = xy[j] - xy[i]
        near = np.maximum((pull**2).sum(axis=1), 1e-6)
        force = 2 * _A * _B * near ** (_B - 1) / (1 + _A * near**_B) * weight
        push = xy[away] - xy[rng.integers(0, n, len(away))]
        far = (push**2).sum(axis=1)
        back = 2 * _B / ((0.01 + far) * (1 + _A * far**_B))
        moves = np.column_stack(
            [
                np.bincount(i, np.clip(force * pull[:, a], -2, 2), n)
                - np.bincount(j, np.clip(force * pull[:, a], -2, 2), n)
                + np.bincount(away, np.clip(back * push[:, a], -2, 2), n)
                for a in range(2)
            ]
        )
        xy += 0.35 * (1 - epoch / _EPOCHS) * np.clip(moves, -4, 4)
    return xy


def neighbours_kept(graph: sp.csr_array, xy: np.ndarray) -> float:
    """Share of the edges of the graph among the ten nearest samples of the layout."""
    n = len(xy)
    near = min(_KEPT_NEIGHBOURS + 1, n)
    found = cKDTree(xy).query(xy, k=near)[1].reshape(n, near)
    rows = np.repeat(np.arange(n), near)
    close = sp.csr_array((np.ones(len(rows)), (rows, found.ravel())), shape=(n, n))
    edges: Any = (graph > 0).astype(float)
    total = float(edges.sum())
    return float(edges.multiply(close > 0).sum()) / total if total > 0 else 0.0


def _to_page(flat: np.ndarray) -> np.ndarray:
    low, high = flat.min(axis=0), flat.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    inside = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    places = MARGIN + np.where(high > low, (flat - low) / span, 0.5) * inside
    return np.column_stack([places[:, 0], HEIGHT - places[:, 1]])


def _fan_out(xy: np.ndarray, radius: float) -> np.ndarray:
    """Samples at one place become a disc whose area is their number."""
    cells = np.round(xy / radius).astype(int)
    _, stack, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(stack.ravel(), kind="stable")
    rank = np.empty(len(xy))
    rank[order] = np.arange(len(xy)) - np.repeat(np.cumsum(counts) - counts, counts)
    turn = rank * _GOLDEN
    out = xy + (radius * 1.15 * np.sqrt(rank))[:, None] * np.column_stack(
        [np.cos(turn), np.sin(turn)]
    )
    return np.clip(out, radius, [WIDTH - radius, HEIGHT - radius])
