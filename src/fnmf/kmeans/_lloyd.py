"""k-means in few dimensions, compiled: scikit-learn's checks would cost more than the work."""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.compiler import FAST
from fnmf.kmeans._seeding import chosen_rows, numbers_for
from fnmf.relevance.defaults import DEFAULTS, Defaults


def quick_kmeans(
    rows: np.ndarray, n_clusters: int, rng: np.random.RandomState, defaults: Defaults = DEFAULTS
) -> np.ndarray:
    """Labels of one start of k-means; sums in the order of the rows, whatever the threads."""
    numbers = rng.random_sample((1, numbers_for(n_clusters)))
    whole = np.zeros(len(rows), np.int64)
    return _within(
        np.ascontiguousarray(rows), whole, n_clusters, numbers, 1, defaults.kmeans_iterations
    )


def halved(
    rows: np.ndarray,
    groups: np.ndarray,
    fewest: int,
    rng: np.random.RandomState,
    defaults: Defaults = DEFAULTS,
) -> np.ndarray:
    """Each group of at least ``fewest`` rows cut in two by k-means: 0 or 1 for every row."""
    large = np.count_nonzero(np.bincount(groups) >= fewest)
    numbers = rng.random_sample((large, numbers_for(2)))
    return _within(
        np.ascontiguousarray(rows), groups, 2, numbers, fewest, defaults.kmeans_iterations
    )


def best_kmeans(
    rows: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    starts: int,
    defaults: Defaults = DEFAULTS,
) -> np.ndarray:
    """Labels of the start that ends nearest to its centres."""
    found = [quick_kmeans(rows, n_clusters, rng, defaults) for _ in range(starts)]
    return min(found, key=lambda labels: _scatter(rows, labels))


def _scatter(rows: np.ndarray, labels: np.ndarray) -> float:
    """Squares about the means of the groups."""
    groups = (rows[labels == a] for a in np.unique(labels))
    return sum(float(np.sum((group - group.mean(axis=0)) ** 2)) for group in groups)


def _within(
    rows: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    numbers: np.ndarray,
    fewest: int,
    iterations: int,
) -> np.ndarray:
    """k-means in each group of at least ``fewest`` rows; smaller ones stay whole.

    ``numbers`` has the random numbers of a group in each row.
    """
    labels = np.zeros(len(rows), np.int64)
    done = 0
    for group in range(groups.max() + 1):
        members = np.flatnonzero(groups == group)
        if len(members) >= fewest:
            part = rows[members]
            centres = part[chosen_rows(part, n_clusters, numbers[done])]
            labels[members] = _lloyd(part, centres, iterations)
            done += 1
    return labels


def _lloyd(rows: np.ndarray, centres: np.ndarray, iterations: int) -> np.ndarray:
    """Assign and average until no sample moves; a centre without samples stays where it is."""
    labels, counts = np.full(len(rows), -1), np.empty(len(centres))
    sums = np.empty_like(centres)
    for _ in range(iterations):
        if _assign(rows, centres, labels, sums, counts) == 0:
            break
        held = counts > 0
        centres[held] = sums[held] / counts[held, None]
    return labels


@njit(nogil=True, cache=True, fastmath=FAST)
def _assign(rows, centres, labels, sums, counts):  # type: ignore[no-untyped-def]
    """Labels, sums and counts of the nearest centres; returns how many labels are new."""
    n, d = rows.shape
    k = len(centres)
    for a in range(k):
        counts[a] = 0
        for f in range(d):
            sums[a, f] = 0
    moved = 0
    for i in range(n):
        best, nearest = 0, np.inf
        for a in range(k):
            distance = 0.0
            for f in range(d):
                gap = rows[i, f] - centres[a, f]
                distance += gap * gap
            if distance < nearest:
                best, nearest = a, distance
        if labels[i] != best:
            labels[i] = best
            moved += 1
        counts[best] += 1
        for f in range(d):
            sums[best, f] += rows[i, f]
    return moved
