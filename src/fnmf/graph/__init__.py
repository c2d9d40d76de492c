"""Nearest neighbours and the graph built from them."""

from fnmf.graph._adaptive import adaptive_neighbors, adaptive_weights, neighbor_graph
from fnmf.graph._anchor_moves import held_clusters
from fnmf.graph._anchors import Nearest, anchor_mass, anchor_votes, nearest_anchors, vote
from fnmf.graph._attraction import attraction
from fnmf.graph._modularity import modularity, ties_between
from fnmf.graph._moves import Partition, improve
from fnmf.graph._partition import best_of, partition, spectrum
from fnmf.graph._parts import Graphs, in_few_parts
from fnmf.graph._release import release_freed_memory
from fnmf.graph._search import (
    choose_algorithm,
    estimate_recall,
    nearest_neighbors,
    neighbors_of,
)
from fnmf.graph._small import nearest_rows, small_graph, small_graphs
from fnmf.graph._votes import graph_votes

__all__ = [
    "Graphs",
    "Nearest",
    "Partition",
    "adaptive_neighbors",
    "adaptive_weights",
    "anchor_mass",
    "anchor_votes",
    "attraction",
    "best_of",
    "choose_algorithm",
    "estimate_recall",
    "graph_votes",
    "held_clusters",
    "improve",
    "in_few_parts",
    "modularity",
    "nearest_anchors",
    "nearest_neighbors",
    "nearest_rows",
    "neighbor_graph",
    "neighbors_of",
    "partition",
    "release_freed_memory",
    "small_graph",
    "small_graphs",
    "spectrum",
    "ties_between",
    "vote",
]
