"""Clusters of samples that anchors hold together: moved one by one while modularity rises.

The graph S = Z Λ⁻¹ Zᵀ is never made. What ties a sample to a cluster goes through its few anchors,
each of which knows its mass in every cluster.
"""

import numpy as np
from numba import njit

from fnmf.graph._anchors import Nearest
from fnmf.graph._moves import resolution

_SWEEPS = 5


def improve_held(nearest: Nearest, n_anchors: int, labels: np.ndarray) -> np.ndarray:
    """Labels after moving samples to the cluster their anchors tie them to most."""
    labels = labels.astype(np.int64)
    shares = nearest.shares.astype(np.float64)
    mass = np.bincount(nearest.indices.ravel(), shares.ravel(), n_anchors)
    k = int(labels.max()) + 1
    _move(nearest.indices, shares, np.where(mass > 0, mass, 1), labels, k, resolution(k), _SWEEPS)
    return labels


@njit(nogil=True, cache=True)
def _move(anchors, shares, mass, labels, k, resolution, sweeps):  # type: ignore[no-untyped-def]
    """Changes ``labels``; every sample has degree 1, since rows of Z sum to 1."""
    n, held = anchors.shape
    within, count, tied = np.zeros((len(mass), k)), np.zeros(k), np.zeros(k)
    for i in range(n):
        count[labels[i]] += 1
        for e in range(held):
            within[anchors[i, e], labels[i]] += shares[i, e]
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            own = labels[i]
            if count[own] == 1:
                continue
            tied[:] = 0
            itself = 0.0
            for e in range(held):
                share = shares[i, e] / mass[anchors[i, e]]
                itself += share * shares[i, e]
                for a in range(k):
                    tied[a] += share * within[anchors[i, e], a]
            best, most = own, tied[own] - itself - resolution * (count[own] - 1) / n
            for a in range(k):
                gain = tied[a] - resolution * count[a] / n
                if a != own and gain > most + 1e-12:
                    best, most = a, gain
            if best != own:
                labels[i] = best
                count[own] -= 1
                count[best] += 1
                for e in range(held):
                    within[anchors[i, e], own] -= shares[i, e]
                    within[anchors[i, e], best] += shares[i, e]
                moved += 1
        if moved == 0:
            break
