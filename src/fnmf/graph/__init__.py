"""Nearest neighbours and the graph built from them."""

from fnmf.graph._adaptive import adaptive_neighbors, adaptive_weights, neighbor_graph
from fnmf.graph._attraction import attraction
from fnmf.graph._modularity import modularity
from fnmf.graph._release import release_freed_memory
from fnmf.graph._search import (
    choose_algorithm,
    estimate_recall,
    nearest_neighbors,
    neighbors_of,
)

__all__ = [
    "adaptive_neighbors",
    "adaptive_weights",
    "attraction",
    "choose_algorithm",
    "estimate_recall",
    "modularity",
    "nearest_neighbors",
    "neighbor_graph",
    "neighbors_of",
    "release_freed_memory",
]
