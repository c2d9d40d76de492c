"""How well clusters agree with a graph."""

import numpy as np
import scipy.sparse as sp


def modularity(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> float:
    """Newman's modularity over its largest value: edges inside the clusters beyond chance."""
    pairs = graph.tocoo(copy=False)
    rows, columns = pairs.coords
    total = pairs.data.sum(dtype=np.float64)
    if total == 0:
        return 0.0
    degree = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    inside = pairs.data[labels[rows] == labels[columns]].sum(dtype=np.float64)
    volumes = np.bincount(labels, degree)
    found = inside / total - np.sum((volumes / total) ** 2)
    # So many clusters of equal size without an edge between them would have 1 − 1/c.
    return float(found / (1 - 1 / max(n_clusters, 2)))


def ties_between(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Share of all ties that lead from one cluster to another, (n_clusters, n_clusters)."""
    pairs = graph.tocoo(copy=False)
    rows, columns = (labels[side].astype(np.int64) for side in pairs.coords)
    ties = np.bincount(rows * n_clusters + columns, pairs.data, n_clusters**2)
    ties = ties.reshape(n_clusters, n_clusters)
    total = ties.sum()
    return ties / total if total > 0 else ties
