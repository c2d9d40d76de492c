"""How many clusters there are, and whether they come back: the number, restarts, consensus."""

from fnmf.choosing.number import NumberOfClusters
from fnmf.choosing.restarts import Agreement, matched_clusters, restart_agreement

__all__ = ["Agreement", "NumberOfClusters", "matched_clusters", "restart_agreement"]
