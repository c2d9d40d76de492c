"""Nearest neighbours by name of the algorithm, and the adaptive-neighbour graph made of them."""

import ctypes
import sys

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._exact import Frame, exact_neighbors, make_frame, true_distances
from fnmf.data import View, spans
from fnmf.execution import Runner
from fnmf.validation import check_choice, check_integer

ALGORITHMS = ("exact", "faiss")
_ROWS = 8192  # rows whose weights are computed together
_PROBES = 200  # rows whose neighbours are searched again to measure the recall


def neighbors_of(
    references: View,
    n_neighbors: int,
    runner: Runner,
    *,
    queries: View | None = None,
    algorithm: str = "exact",
) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`fnmf.graph.nearest_neighbors`, for views and by a runner that is there already."""
    indices, distances, frame = find_neighbors(
        references, n_neighbors, runner, queries=queries, algorithm=algorithm
    )
    with np.errstate(over="ignore"):
        return indices, (distances / frame.scale / frame.scale).astype(references.dtype)


def find_neighbors(
    references: View,
    n_neighbors: int,
    runner: Runner,
    *,
    queries: View | None = None,
    algorithm: str = "exact",
) -> tuple[np.ndarray, np.ndarray, Frame]:
    """Indices, float64 distances in the scale of the frame, and the frame."""
    n_samples, n_features = references.shape
    k = check_integer("n_neighbors", n_neighbors, low=1)
    check_choice("algorithm", algorithm, ALGORITHMS)
    asked = references if queries is None else queries
    if asked.shape[1] != n_features:
        raise ValueError(
            f"queries has {asked.shape[1]} features, but X has {n_features}; "
            "pass rows with the same features."
        )
    need = k + (queries is None)
    if need > n_samples:
        raise ValueError(
            f"n_neighbors={k} needs at least {need} samples, got n_samples={n_samples}; "
            "lower n_neighbors."
        )
    rows = np.arange(asked.shape[0])
    own = rows if queries is None else np.full(len(rows), -1)
    frame = make_frame(references, asked)
    if algorithm == "exact":
        found = exact_neighbors(references, asked, rows, own, k, frame, runner)
    else:
        from fnmf.affinity._approximate import approximate_neighbors

        found = approximate_neighbors(references, asked, rows, own, k, frame, runner)
        release_freed_memory()
    return *found, frame


def recall_of(
    references: View,
    indices: np.ndarray,
    probes: int,
    runner: Runner,
    random_state: int | None = 0,
) -> float:
    """As :func:`fnmf.graph.estimate_recall`, for views and by a runner that is there already."""
    n_samples = references.shape[0]
    rows = np.sort(np.random.default_rng(random_state).choice(n_samples, probes, replace=False))
    frame = make_frame(references, references)
    k = indices.shape[1]
    _, distances = exact_neighbors(references, references, rows, rows, k, frame, runner)
    given = true_distances(references, references, rows, indices[rows], frame.scale)
    return float(np.mean(given <= distances[:, -1:]))


def release_freed_memory() -> None:
    """Ask the allocator to give back what it keeps; where it cannot be asked, do nothing.

    Small buffers come from one heap for each thread, and glibc holds on to freed parts of it:
    without this, the buffers of a search would still be counted during the fit that follows.
    """
    if not sys.platform.startswith("linux"):
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


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
