"""The nearest of a few candidates for each query, by true distances."""

import numpy as np

from fnmf.affinity._exact import Found, smallest, true_distances
from fnmf.data import View


def nearest_candidates(
    references: View,
    queries: View,
    rows: np.ndarray,
    own: np.ndarray,
    candidates: np.ndarray,
    k: int,
    scale: float,
) -> Found:
    """The k nearest candidates of ``queries[rows]``; -1 and ``own`` are no candidates.

    Places that remain empty have the distance infinity.
    """
    here, there = queries.in_place, references.in_place
    if here is not None and there is not None:
        from fnmf.affinity import _kernels

        near = np.empty((len(rows), k), dtype=np.int64)
        far = np.empty((len(rows), k))
        _kernels.nearest_of(here, rows, own, there, candidates, scale, near, far)
        return near, far
    missing = (candidates < 0) | (candidates == own[:, None])
    direct = true_distances(references, queries, rows, np.where(missing, 0, candidates), scale)
    direct[missing] = np.inf
    return smallest(candidates, direct, k)
