"""Components of a graph, and the strength λ at which a learned one falls into exactly c."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

FIELDS = ("total", "fit", "rank", "strength", "n_connected_components")

# (embedding, strength) -> the next graph and the two terms of the objective.
Step = Callable[[np.ndarray, float], tuple[sp.csr_array, float, float]]
# graph -> number of components and the component of each sample.
Count = Callable[[sp.csr_array], tuple[int, np.ndarray]]
# graph, labels and previous embedding (None at first) -> next embedding.
Embed = Callable[[sp.csr_array, np.ndarray, np.ndarray | None], np.ndarray]


@dataclass(frozen=True)
class StructuredGraph:
    """The graph whose number of components came closest to the one wanted."""

    graph: sp.csr_array
    n_components: int
    labels: np.ndarray
    history: np.ndarray

    @property
    def n_iter(self) -> int:
        return len(self.history)


def search_rank(
    graph: sp.csr_array,
    n_clusters: int,
    strength: float,
    *,
    step: Step,
    count: Count,
    embed: Embed,
    max_iter: int,
) -> StructuredGraph:
    """Double λ while there are too few components, halve it when there are too many.

    After a step with too many components the embedding before it is used again, so that
    eigenvectors are needed, and computed, only for graphs with too few.
    """
    n_found, labels = count(graph)
    best = (graph, n_found, labels)
    rows: list[tuple[float, ...]] = []
    # No step can join what the candidate edges leave apart.
    if n_found < n_clusters:
        embedding = embed(graph, labels, None)
        for _ in range(max_iter):
            graph, fit, rank = step(embedding, strength)
            n_found, labels = count(graph)
            rows.append((fit + rank, fit, rank, strength, n_found))
            if abs(n_found - n_clusters) < abs(best[1] - n_clusters) or len(rows) == 1:
                best = (graph, n_found, labels)
            if n_found == n_clusters:
                break
            if n_found < n_clusters:
                embedding = embed(graph, labels, embedding)
                strength *= 2.0
            else:
                strength /= 2.0
    return StructuredGraph(*best, table(rows, FIELDS))


def table(rows: list[tuple[float, ...]], fields: tuple[str, ...]) -> np.ndarray:
    """One row an iteration, with named columns."""
    return np.array(rows, dtype=[(name, np.float64) for name in fields])


def components(graph: sp.csr_array) -> tuple[int, np.ndarray]:
    """Components of a square graph whose edges are taken in both directions."""
    n, labels = connected_components(graph, directed=True, connection="weak")
    return int(n), in_order_of_first_sample(labels)


def bipartite_components(
    weights: sp.csr_array, *, count_empty_columns: bool
) -> tuple[int, np.ndarray, np.ndarray]:
    """Components of the graph with rows on one side and columns on the other.

    Returns their number and the component of every row and column. Columns without an edge
    are components of their own, or are left out (component −1).
    """
    n_rows, n_columns = weights.shape
    whole: Any = sp.block_array([[None, weights], [weights.T, None]], format="csr")
    _, found = connected_components(whole, directed=False)
    labels = in_order_of_first_sample(found)
    rows, columns = labels[:n_rows], labels[n_rows:].copy()
    if not count_empty_columns:
        columns[np.bincount(weights.indices, minlength=n_columns) == 0] = -1
    return int(max(rows.max(), columns.max(initial=-1))) + 1, rows, columns


def in_order_of_first_sample(labels: np.ndarray) -> np.ndarray:
    """The same partition, numbered in the order in which the clusters are met."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
