"""The samples the page draws: a choice of at most a few thousand, their places and neighbours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.reporting._layout import Layout, layouts
from fnmf.statistics import Statistics, rows_between

MOST_POINTS = 3000
_NEIGHBOURS = 6


@dataclass(frozen=True)
class Drawn:
    """The drawn samples.

    Attributes
    ----------
    rows : ndarray of shape (n_drawn,)
        Their positions in the data.
    layouts : list of Layout
        Their places, best layout first.
    neighbours : ndarray of shape (n_drawn, 6)
        Positions among the drawn samples, nearest first, -1 for none.
    radius : float
        Size of a point.
    """

    rows: np.ndarray
    layouts: list[Layout]
    neighbours: np.ndarray
    radius: float


def draw_samples(model: Any, X: Any, stats: Statistics) -> Drawn:
    """Choose, place and connect the samples of the map."""
    rows = chosen_samples(stats.codes, MOST_POINTS)
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        source, points = "the data", _dense_rows(X, rows)
    else:
        source, points = "the representation", np.asarray(embedding)[rows].astype(float)
    # Length says how much of a sample is described; the mixture is what makes clusters.
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    points = np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0)
    graph = _graph_of(model, rows, points)
    radius = 4.5 if len(rows) < 500 else 3.0 if len(rows) < 1500 else 2.4
    return Drawn(rows, layouts(points, graph, source, radius), _nearest(graph), radius)


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


def _graph_of(model: Any, rows: np.ndarray, points: np.ndarray) -> sp.csr_array:
    """The fitted graph among the drawn samples, over one step more where some are left out."""
    graph: Any = getattr(model, "graph_", None)
    n_samples, of_graph = len(model.labels_), getattr(model, "graph_rows_", None)
    if of_graph is not None:
        rows, n_samples = of_graph[rows], getattr(graph, "shape", (0,))[0]
    if getattr(graph, "shape", None) == (n_samples, n_samples) and (rows >= 0).all():
        whole: Any = sp.csr_array(graph)
        part = whole[rows][:, rows]
        if len(rows) < n_samples:
            part = part + whole[rows] @ whole[:, rows]
    else:
        from sklearn.neighbors import kneighbors_graph

        count = min(_NEIGHBOURS, len(points) - 1)
        if count < 1:
            return sp.csr_array((len(points), len(points)))
        part = kneighbors_graph(points, count)
    part = sp.csr_array(part + part.T)
    part.setdiag(0)
    part.eliminate_zeros()
    part.sort_indices()
    return part


def _nearest(graph: sp.csr_array) -> np.ndarray:
    found = np.full((graph.shape[0], _NEIGHBOURS), -1, dtype=np.int16)
    for i in range(graph.shape[0]):
        start, stop = graph.indptr[i], graph.indptr[i + 1]
        order = np.argsort(-graph.data[start:stop], kind="stable")[:_NEIGHBOURS]
        found[i, : len(order)] = graph.indices[start:stop][order]
    return found


def _dense_rows(X: Any, rows: np.ndarray) -> np.ndarray:
    blocks = [rows_between(X, int(i), int(i) + 1) for i in rows]
    found = np.vstack([b if isinstance(b, np.ndarray) else b.toarray() for b in blocks])
    missing = np.isnan(found)
    # Missing cells are at the mean, where they say nothing.
    known = np.maximum(np.count_nonzero(~missing, axis=0), 1)
    return np.where(missing, np.nansum(found, axis=0) / known, found)
