"""Nearest neighbours by name of the algorithm, and how good an approximate answer is."""

import ctypes
import sys

import numpy as np

from fnmf.affinity._exact import Frame, exact_neighbors, make_frame, true_distances
from fnmf.data import View
from fnmf.execution import Runner
from fnmf.validation import check_choice, check_integer

ALGORITHMS = ("exact", "faiss")


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
