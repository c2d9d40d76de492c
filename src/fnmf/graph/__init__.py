"""Nearest neighbours and the graph built from them."""

from fnmf.graph._adaptive import adaptive_neighbors, adaptive_weights
from fnmf.graph._search import choose_algorithm, estimate_recall, nearest_neighbors

__all__ = [
    "adaptive_neighbors",
    "adaptive_weights",
    "choose_algorithm",
    "estimate_recall",
    "nearest_neighbors",
]
