"""Graphs of no more parts than clusters.

Rows that repeat each other, as those of categories or small counts do, are each other's nearest
neighbours: the graph falls into many parts, and nothing tells which of them belong together.
"""

from collections.abc import Callable

import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components


def in_few_parts(
    build: Callable[[int], sp.csr_array], n_neighbors: int, n_clusters: int
) -> sp.csr_array:
    """A graph by ``build`` with neighbours doubled until it has at most ``n_clusters`` parts.

    It ends with half of the samples as neighbours, whatever the number of parts.
    """
    graph = build(n_neighbors)
    while (
        connected_components(graph, directed=False)[0] > n_clusters
        and 2 * n_neighbors <= graph.shape[0] // 2
    ):
        n_neighbors *= 2
        graph = build(n_neighbors)
    return graph
