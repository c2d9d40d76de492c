"""The search for the strength λ at which a learned graph falls into exactly c components."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

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
