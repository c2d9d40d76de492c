"""Nearest neighbours and the graph built from them."""

from fnmf.graph._adaptive import adaptive_neighbors, adaptive_weights, neighbor_graph
from fnmf.graph._anchors import Nearest, nearest_anchors, vote
from fnmf.graph._attraction import attraction
from fnmf.graph._modularity import modularity
from fnmf.graph._partition import Partition, best_of, improve, partition
from fnmf.graph._release import release_freed_memory
from fnmf.graph._search import (
    choose_algorithm,
    estimate_recall,
    nearest_neighbors,
    neighbors_of,
)
from fnmf.graph._small import small_graph

__all__ = [
    "Nearest",
    "Partition",
    "adaptive_neighbors",
    "adaptive_weights",
    "attraction",
    "best_of",
    "choose_algorithm",
    "estimate_recall",
    "improve",
    "modularity",
    "nearest_anchors",
    "nearest_neighbors",
    "neighbor_graph",
    "neighbors_of",
    "partition",
    "release_freed_memory",
    "small_graph",
    "vote",
]
