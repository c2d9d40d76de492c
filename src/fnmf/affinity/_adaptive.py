"""Nearest neighbours by name of the algorithm, and the adaptive-neighbour graph made of them.

The graph of a few rows is made from one matrix of products: it is built dozens of times while a
fit explores. Distances lose digits that the exact search would keep, which moves a neighbour only
among those equally near.

Rows that repeat each other, as those of categories or small counts do, are each other's nearest
neighbours: the graph falls into many parts, and nothing tells which of them belong together. So
neighbours are added until there are no more parts than clusters.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fnmf._compile import njit
from fnmf.affinity._exact import Frame, exact_neighbors, make_frame, true_distances
from fnmf.affinity._kernels import few_nearest
from fnmf.data import View, repeated_rows, spans
from fnmf.execution import Runner
from fnmf.kernels.csr import dense_products
from fnmf.relevance.defaults import DEFAULTS, Defaults
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
        raise _too_few(k, need, n_samples)
    rows = np.arange(asked.shape[0])
    own = rows if queries is None else np.full(len(rows), -1)
    frame = make_frame(references, asked)
    repeated = repeated_rows(references) if algorithm == "exact" and queries is None else None
    if repeated is not None:
        from fnmf.affinity._repeated import neighbors_among_repeated

        found = neighbors_among_repeated(references, *repeated, k, frame, runner)
    elif algorithm == "exact":
        found = exact_neighbors(references, asked, rows, own, k, frame, runner)
    else:
        from fnmf.affinity._approximate import approximate_neighbors

        found = approximate_neighbors(references, asked, rows, own, k, frame, runner)
        release_freed_memory()
    return *found, frame


def _too_few(k: int, need: int, n_samples: int) -> ValueError:
    few = f"n_neighbors={k} needs at least {need} samples, got n_samples={n_samples}"
    return ValueError(f"{few}; lower n_neighbors.")


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
    """Ask the allocator to give back what it keeps, if it can be asked.

    Small buffers come from one heap for each thread, and glibc holds on to freed parts of it:
    without this, the buffers of a search would still be counted during the fit that follows.
    """
    if not sys.platform.startswith("linux"):
        return
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
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


def weigh_ties(
    shares: np.ndarray, indices: np.ndarray, weights: np.ndarray, rows: Any = slice(None)
) -> np.ndarray:
    """Ties of all or some rows to their neighbours, (n, K), if rows count as their weights.

    A row that counts w times has w times the ties of one, and shares them out among its neighbours
    as each of these counts.
    """
    pulled = shares * weights[indices]
    return pulled * (weights[rows] / pulled.sum(axis=1))[:, None]


def neighbor_graph(
    references: View,
    k: int,
    algorithm: str,
    runner: Runner,
    symmetric: bool = True,
    verbose: int = 0,
    known: list[np.ndarray] | None = None,
) -> sp.csr_array:
    """As ``fnmf.graph.adaptive_neighbors``, for a view and by a runner that is there already.

    ``known`` has what the last exact search found, if any: the nearest few are the first of many.
    """
    n_samples = references.shape[0]
    if n_samples < k + 2:
        raise _too_few(k, k + 2, n_samples)
    known = [] if known is None else known
    if not known or known[0].shape[1] <= k:
        wanted = min(2 * k, n_samples - 2) if known else k
        known[:] = find_neighbors(references, wanted + 1, runner, algorithm=algorithm)[:2]
    indices, distances = known[0][:, :k], known[1][:, : k + 1]
    if verbose:
        kind, recall = "exact", ""
        if algorithm != "exact":
            share = recall_of(references, indices, min(_PROBES, n_samples), runner)
            kind, recall = "approximate (faiss)", f", recall {share:.3f} on a sample of rows"
        print(f"Neighbour graph: {kind} neighbour search of {n_samples} samples{recall}.")
    weights = np.empty((n_samples, k), dtype=references.dtype)
    for a, b in spans(n_samples, _ROWS):
        weights[a:b] = adaptive_weights(distances[a:b])
    del distances, known
    # Graphs made with faiss are large: short row numbers where they suffice.
    short = algorithm == "faiss" and 2 * n_samples * k <= np.iinfo(np.int32).max
    if references.weights is not None:
        weights = weigh_ties(weights, indices, references.weights).astype(weights.dtype)
    narrow = np.int32 if short else np.int64
    pointers = np.arange(0, n_samples * k + 1, k, dtype=narrow)
    parts = weights.ravel(), indices.astype(narrow).ravel(), pointers
    A = sp.csr_array(parts, (n_samples, n_samples))
    A.sort_indices()
    del indices, weights, parts
    if symmetric:
        A = sp.csr_array(A + A.T)
        A.data *= references.dtype.type(0.5)
        A.sort_indices()
    A.eliminate_zeros()
    release_freed_memory()
    return A


class Graphs(NamedTuple):
    """Graphs of the same rows.

    Attributes
    ----------
    build : callable
        The graph of so many neighbours.
    reach : callable or None
        From the parts of the rows to the fewest neighbours with which any two of them meet.
    """

    build: Callable[[int], sp.csr_array]
    reach: Callable[[np.ndarray], int] | None = None


def in_few_parts(
    graphs: Graphs, n_neighbors: int, n_clusters: int, defaults: Defaults = DEFAULTS
) -> sp.csr_array:
    """A graph with neighbours doubled until it has at most ``n_clusters`` parts.

    Never more neighbours than half of the samples or ``defaults.most_neighbors``, whichever is
    less; of those that leave as many parts the fewest.
    """
    best = graphs.build(n_neighbors)
    most = min(best.shape[0] // 2, defaults.most_neighbors)
    fewest, parts = connected_components(best, directed=False)
    needed = 0
    while fewest > n_clusters and 2 * n_neighbors <= most:
        n_neighbors *= 2
        if graphs.reach is not None and not needed:
            needed = graphs.reach(parts)
        if n_neighbors < needed:
            continue
        graph = graphs.build(n_neighbors)
        count, found = connected_components(graph, directed=False)
        if count < fewest:
            best, fewest, parts, needed = graph, count, found, 0
    return best


def turned(rows: Any) -> Any:
    """Rows feature by feature, as ``products_with`` wants them."""
    return rows.T if isinstance(rows, np.ndarray) else sp.csr_array(rows.T)


def products_with(rows: Any, others: Any, place: np.ndarray | None = None) -> np.ndarray:
    """``rows`` times ``others``, which are turned; dense ones go to ``place``."""
    if isinstance(rows, np.ndarray) and isinstance(others, np.ndarray):
        return np.matmul(rows, others, out=place)
    if isinstance(rows, np.ndarray) or isinstance(others, np.ndarray):
        return np.ascontiguousarray(rows @ others)
    parts = others.indptr, others.indices, others.data
    return dense_products(rows.indptr, rows.indices, rows.data, *parts, others.shape[1])


def products_of(rows: Any) -> np.ndarray:
    """Products of rows with each other."""
    return products_with(rows, turned(rows))


def small_graph(rows: Any, n_neighbors: int, weights: np.ndarray | None = None) -> sp.csr_array:
    """Symmetric graph of the nearest neighbours of ``rows``, dense or CSR."""
    return small_graphs(products_of(rows), weights).build(n_neighbors)


def small_graphs(products: np.ndarray, weights: np.ndarray | None = None) -> Graphs:
    """Graphs of any number of neighbours of rows, from their products with each other."""
    return Graphs(partial(_graph, products, weights), partial(_neighbors_beyond_part, products))


def _graph(products: np.ndarray, own: np.ndarray | None, n_neighbors: int) -> sp.csr_array:
    n = len(products)
    if n == 2:
        # There is no further row for a weight to fall to: each is all that the other has.
        return sp.csr_array(1 - np.eye(2, dtype=products.dtype))
    k = min(n_neighbors, n - 2)
    squares = np.diag(products).astype(np.float64)
    indices, distances = few_nearest(products, squares, squares, k + 1, True)
    weights = adaptive_weights(distances)
    if own is not None:
        weights = weigh_ties(weights, indices[:, :k], own)
    pointers = np.arange(0, n * k + 1, k)
    A = sp.csr_array((weights.ravel(), indices[:, :k].ravel(), pointers), (n, n))
    S = sp.csr_array(A + A.T)
    S.data *= 0.5
    S.sort_indices()
    return S


@njit(nogil=True, cache=True)
def _neighbors_beyond_part(products, parts):  # type: ignore[no-untyped-def]
    """The fewest neighbours with which a row is tied to one of another part.

    Of so many neighbours those count that are nearer than the next one after them; if all are
    equally near, all of them do.
    """
    n = len(products)
    fewest = n
    gaps = np.empty(n)
    for i in range(n):
        nearest = outside = np.inf
        for j in range(n):
            if j == i:
                continue
            gap = products[i, i] + float(products[j, j]) - 2 * float(products[i, j])
            gaps[j] = max(gap, 0.0)
            nearest = min(nearest, gaps[j])
            if parts[j] != parts[i]:
                outside = min(outside, gaps[j])
        count = 0
        for j in range(n):
            if j != i and gaps[j] <= outside:
                count += 1
                if outside == nearest and parts[j] != parts[i]:
                    break
        fewest = min(fewest, count)
    return fewest


def nearest_rows(here: Any, there: Any, count: int) -> np.ndarray:
    """The ``count`` rows ``there`` nearest to each row ``here``, nearest first."""
    products = products_with(here, turned(there))
    squares = there.multiply(there) if not isinstance(there, np.ndarray) else there * there
    gaps = np.asarray(squares.sum(axis=1), np.float64).ravel() - 2.0 * products
    count = min(count, gaps.shape[1])
    few = np.sort(np.argpartition(gaps, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(np.take_along_axis(gaps, few, axis=1), axis=1, kind="stable")
    return np.take_along_axis(few, order, axis=1)
