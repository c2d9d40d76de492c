"""Neighbours and graphs of any matrix, as :mod:`fnmf.graph` offers them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._adaptive import neighbor_graph, neighbors_of, recall_of
from fnmf.data import as_view
from fnmf.execution import threads
from fnmf.validation import check_integer


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


def adaptive_neighbors(
    X: Any,
    n_neighbors: int = 5,
    *,
    symmetric: bool = True,
    algorithm: str = "exact",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> sp.csr_array:
    """Sparse similarity graph of the nearest neighbours, free of parameters but their number.

    Parameters
    ----------
    X : array, sparse matrix or MappedCSR of shape (n_samples, n_features)
        The samples; read in blocks, never copied whole.
    n_neighbors : int, default=5
        Neighbours of each sample, K. At least K + 2 samples are needed.
    symmetric : bool, default=True
        Return (A + Aᵀ)/2 instead of the row-stochastic A.
    algorithm : {"exact", "faiss"}, default="exact"
        The neighbour search, see :func:`nearest_neighbors`.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    verbose : int, default=0
        Above 0, print which search was used and, if approximate, its measured recall.

    Returns
    -------
    graph : scipy.sparse.csr_array of shape (n_samples, n_samples)
        Canonical, with empty diagonal; float32 for float32 and small integers, else float64.

    Notes
    -----
    Row i solves min Σ_j d_ij a_ij + γ_i a_ij² over the simplex, d_ij being squared distances
    and γ_i the largest value that leaves K positive entries [1]_. The graph does not change
    when X is scaled or shifted.

    References
    ----------
    .. [1] F. Nie, X. Wang, M. I. Jordan, H. Huang, "The Constrained Laplacian Rank Algorithm
       for Graph-Based Clustering", AAAI 2016.

    Examples
    --------
    >>> from fnmf.graph import adaptive_neighbors
    >>> S = adaptive_neighbors([[0.0], [1.0], [2.0], [7.0]], n_neighbors=2, symmetric=False)
    >>> S.toarray().round(2)
    array([[0.  , 0.52, 0.48, 0.  ],
           [0.5 , 0.  , 0.5 , 0.  ],
           [0.47, 0.53, 0.  , 0.  ],
           [0.  , 0.35, 0.65, 0.  ]])
    """
    references = as_view(X)
    check_integer("n_neighbors", n_neighbors, low=1)
    with threads(n_jobs) as runner:
        return neighbor_graph(references, n_neighbors, algorithm, runner, symmetric, verbose)
