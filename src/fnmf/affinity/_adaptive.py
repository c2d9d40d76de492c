"""The adaptive-neighbour graph: weights in closed form from the nearest distances."""

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._search import find_neighbors, recall_of, release_freed_memory
from fnmf.data import View, spans
from fnmf.execution import Runner

_ROWS = 8192  # rows whose weights are computed together
_PROBES = 200  # rows whose neighbours are searched again to measure the recall


def adaptive_weights(distances: np.ndarray) -> np.ndarray:
    """Weights of the K nearest neighbours from the K + 1 smallest squared distances.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, K + 1)
        Squared distances, rising within each row.

    Returns
    -------
    weights : ndarray of shape (n_rows, K)
        Non-negative, each row summing to 1: the weight falls linearly with the squared
        distance and reaches 0 at the (K + 1)-th neighbour. When all K + 1 distances are
        equal, every weight is 1/K.

    Examples
    --------
    >>> from fnmf.affinity import adaptive_weights
    >>> adaptive_weights([[1.0, 2.0, 4.0]])
    array([[0.6, 0.4]])
    """
    distances = np.asarray(distances)
    if distances.ndim != 2 or distances.shape[1] < 2:
        raise ValueError(
            f"distances has shape {distances.shape}; K + 1 >= 2 columns are needed, "
            "one more than there are neighbours."
        )
    dtype = np.float32 if distances.dtype == np.float32 else np.float64
    gaps = distances[:, -1:].astype(np.float64) - distances[:, :-1]
    totals = gaps.sum(axis=1, keepdims=True)
    equal = totals == 0
    uniform = 1.0 / gaps.shape[1]
    return np.where(equal, uniform, gaps / np.where(equal, 1.0, totals)).astype(dtype)


def weigh_ties(shares: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Ties of rows to their neighbours, (n, K), if rows count as their weights.

    A row that counts w times has w times the ties of one, and shares them out among its neighbours
    as each of these counts.
    """
    pulled = shares * weights[indices]
    return pulled * (weights / pulled.sum(axis=1))[:, None]


def neighbor_graph(
    references: View,
    k: int,
    algorithm: str,
    runner: Runner,
    symmetric: bool = True,
    verbose: int = 0,
) -> sp.csr_array:
    """As ``fnmf.graph.adaptive_neighbors``, for a view and by a runner that is there already."""
    n_samples = references.shape[0]
    if n_samples < k + 2:
        raise ValueError(
            f"n_neighbors={k} needs at least {k + 2} samples, got n_samples={n_samples}; "
            "lower n_neighbors."
        )
    indices, distances, _ = find_neighbors(references, k + 1, runner, algorithm=algorithm)
    indices = indices[:, :k]
    if verbose:
        kind = "exact" if algorithm == "exact" else "approximate (faiss)"
        note = f"{kind} neighbour search of {n_samples} samples"
        if algorithm != "exact":
            recall = recall_of(references, indices, min(_PROBES, n_samples), runner)
            note += f", recall {recall:.3f} on a sample of rows"
        print(f"Neighbour graph: {note}.")
    weights = np.empty((n_samples, k), dtype=references.dtype)
    for a, b in spans(n_samples, _ROWS):
        weights[a:b] = adaptive_weights(distances[a:b])
    del distances
    # graphs made with faiss are large: short row numbers where they suffice
    short = algorithm == "faiss" and 2 * n_samples * k <= np.iinfo(np.int32).max
    narrow = np.int32 if short else np.int64
    if references.weights is not None:
        weights = weigh_ties(weights, indices, references.weights).astype(weights.dtype)
    A = _row_graph(indices.astype(narrow), weights)
    del indices, weights
    if symmetric:
        A = sp.csr_array(A + A.T)
        A.data *= references.dtype.type(0.5)
        A.sort_indices()
    A.eliminate_zeros()
    release_freed_memory()
    return A


def _row_graph(indices: np.ndarray, weights: np.ndarray) -> sp.csr_array:
    """The directed graph, every row with the same number of entries."""
    n_samples, k = weights.shape
    indptr = np.arange(0, n_samples * k + 1, k, dtype=indices.dtype)
    A = sp.csr_array((weights.ravel(), indices.ravel(), indptr), (n_samples, n_samples))
    A.sort_indices()
    return A
