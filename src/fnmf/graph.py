"""Nearest neighbours, and the adaptive-neighbour graph that :class:`fnmf.FNMF` builds."""

from fnmf.affinity import adaptive_neighbors, estimate_recall, nearest_neighbors

__all__ = ["adaptive_neighbors", "estimate_recall", "nearest_neighbors"]
