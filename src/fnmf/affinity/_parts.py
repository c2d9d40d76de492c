"""Graphs of no more parts than clusters.

Rows that repeat each other, as those of categories or small counts do, are each other's nearest
neighbours: the graph falls into many parts, and nothing tells which of them belong together.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fnmf.relevance.defaults import DEFAULTS, Defaults


class Graphs(NamedTuple):
    """Graphs of the same rows.

    Attributes
    ----------
    build : callable
        The graph of so many neighbours.
    reach : callable or None
        From the parts of the rows to the fewest neighbours with which any two of them meet.
    """

    build: Callable[[int], sp.csr_array]
    reach: Callable[[np.ndarray], int] | None = None


def in_few_parts(
    graphs: Graphs, n_neighbors: int, n_clusters: int, defaults: Defaults = DEFAULTS
) -> sp.csr_array:
    """A graph with neighbours doubled until it has at most ``n_clusters`` parts.

    Never more neighbours than half of the samples or ``defaults.most_neighbors``, whichever is
    less; of those that leave as many parts the fewest.
    """
    best = graphs.build(n_neighbors)
    most = min(best.shape[0] // 2, defaults.most_neighbors)
    fewest, parts = connected_components(best, directed=False)
    needed = 0
    while fewest > n_clusters and 2 * n_neighbors <= most:
        n_neighbors *= 2
        if graphs.reach is not None and not needed:
            needed = graphs.reach(parts)
        if n_neighbors < needed:
            continue
        graph = graphs.build(n_neighbors)
        count, found = connected_components(graph, directed=False)
        if count < fewest:
            best, fewest, parts, needed = graph, count, found, 0
    return best
