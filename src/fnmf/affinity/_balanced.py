"""A neighbour graph in which every batch has the same say.

Rows of another batch are further away in all that a batch effect touches, so that the nearest rows
are of the own batch whatever they are. Neighbours are therefore searched in every batch by itself.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._adaptive import adaptive_weights, neighbors_of, weigh_ties
from fnmf.data import View
from fnmf.execution import Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults


def balanced_graph(
    weighted: View,
    batch: np.ndarray,
    n_neighbors: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> sp.csr_array:
    """Symmetric graph of the nearest rows of every batch, which all count alike.

    Parameters
    ----------
    weighted : View
        Rows in which distances are measured.
    batch : ndarray of int of shape (n,)
        The batch of each row, counted from 0.
    n_neighbors : int
        Neighbours of a row in all batches together, about.
    runner : Runner
        Works through the blocks.
    """
    n, count = len(batch), int(batch.max()) + 1
    wanted = max(defaults.batch_neighbors, math.ceil(n_neighbors / count))
    total = sp.csr_array((n, n), dtype=weighted.dtype)
    for one in range(count):
        own = np.flatnonzero(batch == one)
        others = np.flatnonzero(batch != one)
        there, k = weighted.subset(own), min(wanted + 1, len(own) - 1)
        if k:
            total = total + _ties(own, own, neighbors_of(there, k, runner), weighted)
        if len(others):
            # A batch may be one row that counts many times.
            queries = weighted.subset(others)
            found = neighbors_of(there, max(k, 1), runner, queries=queries)
            total = total + _ties(others, own, found, weighted)
    graph = sp.csr_array(total + total.T)
    graph.data /= 2 * count
    graph.sort_indices()
    return graph


def _ties(
    rows: np.ndarray, there: np.ndarray, found: tuple[np.ndarray, np.ndarray], all_rows: View
) -> sp.csr_array:
    """Adaptive weights of some rows to their nearest among others, as part of a graph of all."""
    indices, distances = found
    # Of a single neighbour there is no further one for the weight to fall to.
    ties = adaptive_weights(distances) if distances.shape[1] > 1 else np.ones_like(distances)
    k, n = ties.shape[1], all_rows.shape[0]
    near = there[indices[:, :k]]
    if all_rows.weights is not None:
        ties = weigh_ties(ties, near, all_rows.weights, rows).astype(ties.dtype)
    return sp.csr_array((ties.ravel(), (np.repeat(rows, k), near.ravel())), (n, n))
