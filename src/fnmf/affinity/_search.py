"""Nearest neighbours by name of the algorithm, and how good an approximate answer is."""

from typing import Any

import numpy as np

from fnmf.affinity._exact import Frame, exact_neighbors, make_frame, true_distances
from fnmf.affinity._release import release_freed_memory
from fnmf.data import View, as_view
from fnmf.execution import Runner, threads
from fnmf.validation import check_choice, check_integer

ALGORITHMS = ("exact", "faiss")


def nearest_neighbors(
    X: Any,
    n_neighbors: int,
    *,
    queries: Any = None,
    algorithm: str = "exact",
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest samples by squared Euclidean distance.

    Parameters
    ----------
    X : array, sparse matrix or MappedCSR of shape (n_samples, n_features)
        The samples searched. Arrays may be memory-mapped: they are read in blocks.
    n_neighbors : int
        Neighbours wanted for each row.
    queries : array or sparse matrix of shape (n_queries, n_features), optional
        Rows whose neighbours are wanted. By default the rows of X, each without itself.
    algorithm : {"exact", "faiss"}, default="exact"
        ``"faiss"`` is approximate and needs the extra ``ann``. Its distances are exact, its
        neighbours nearly all.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    indices : ndarray of shape (n_queries, n_neighbors)
        Row numbers in X, by distance and, for equal distances, by row number.
    distances : ndarray of shape (n_queries, n_neighbors)
        Squared distances; float32 for float32 and small integers, else float64.

    Notes
    -----
    Distances are summed in double precision from differences, so duplicates have distance
    exactly 0. Working memory does not grow with the number of samples but for the answer, a few
    numbers for each sample, and the index of the approximate search: one byte for every ten
    features (at least 64 bytes) of a sample. A thread takes about 15 MB in the exact search and
    about 3 MB in the approximate one. When the approximate search finds less than 97 % of the
    neighbours of a sample of rows, it warns.

    Examples
    --------
    >>> from fnmf.graph import nearest_neighbors
    >>> indices, distances = nearest_neighbors([[0.0], [1.0], [3.0]], 1)
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 1], [1.0, 1.0, 4.0])
    """
    references = as_view(X)
    asked = None if queries is None else as_view(queries, "queries")
    with threads(n_jobs) as runner:
        return neighbors_of(references, n_neighbors, runner, queries=asked, algorithm=algorithm)


def neighbors_of(
    references: View,
    n_neighbors: int,
    runner: Runner,
    *,
    queries: View | None = None,
    algorithm: str = "exact",
) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`nearest_neighbors`, for views and by a runner that is there already."""
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


def estimate_recall(
    X: Any,
    indices: np.ndarray,
    *,
    n_probes: int = 200,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> float:
    """Share of true nearest neighbours that a search found, measured on a sample of rows.

    Parameters
    ----------
    X : array, sparse matrix or MappedCSR of shape (n_samples, n_features)
        The samples searched.
    indices : ndarray of shape (n_samples, n_neighbors)
        What a search among the samples returned, row by row.
    n_probes : int, default=200
        Rows whose neighbours are searched again, exactly.
    random_state : int or None, default=0
        Seed of the choice of rows.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    recall : float
        Between 0 and 1. A neighbour as near as the last true one counts as found.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.graph import estimate_recall, nearest_neighbors
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> estimate_recall(X, nearest_neighbors(X, 4)[0])
    1.0
    """
    references = as_view(X)
    indices = np.asarray(indices)
    n_samples = references.shape[0]
    if indices.ndim != 2 or len(indices) != n_samples or indices.dtype.kind not in "iu":
        raise ValueError(
            f"indices has shape {indices.shape} and type {indices.dtype}; "
            f"one row of integers for each of the {n_samples} samples is needed."
        )
    probes = min(check_integer("n_probes", n_probes, low=1), n_samples)
    with threads(n_jobs) as runner:
        return recall_of(references, indices, probes, runner, random_state)


def recall_of(
    references: View,
    indices: np.ndarray,
    probes: int,
    runner: Runner,
    random_state: int | None = 0,
) -> float:
    """As :func:`estimate_recall`, for views and by a runner that is there already."""
    n_samples = references.shape[0]
    rows = np.sort(np.random.default_rng(random_state).choice(n_samples, probes, replace=False))
    frame = make_frame(references, references)
    k = indices.shape[1]
    _, distances = exact_neighbors(references, references, rows, rows, k, frame, runner)
    given = true_distances(references, references, rows, indices[rows], frame.scale)
    return float(np.mean(given <= distances[:, -1:]))
