"""k-means in few dimensions, compiled: scikit-learn's checks would cost more than the work."""

from typing import Any

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.compiler import FAST
from fnmf.kmeans._seeding import chosen_rows, numbers_for

# k-means in few dimensions has long come to rest.
_MOST_ITERATIONS = 100
# Passes of subspace iteration, and directions beyond those wanted, which help the last ones.
_PASSES, _SPARE = 6, 4


def quick_kmeans(rows: np.ndarray, n_clusters: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels of one start of k-means; sums in the order of the rows, whatever the threads."""
    numbers = rng.random_sample((1, numbers_for(n_clusters)))
    whole = np.zeros(len(rows), np.int64)
    return _within(np.ascontiguousarray(rows), whole, n_clusters, numbers, 1, _MOST_ITERATIONS)


def halved(
    rows: np.ndarray,
    groups: np.ndarray,
    fewest: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Each group of at least ``fewest`` rows cut in two by k-means: 0 or 1 for every row."""
    large = np.count_nonzero(np.bincount(groups) >= fewest)
    numbers = rng.random_sample((large, numbers_for(2)))
    return _within(np.ascontiguousarray(rows), groups, 2, numbers, fewest, _MOST_ITERATIONS)


def best_kmeans(
    rows: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    starts: int,
) -> np.ndarray:
    """Labels of the start that ends nearest to its centres."""
    found = [quick_kmeans(rows, n_clusters, rng) for _ in range(starts)]
    return min(found, key=lambda labels: _scatter(rows, labels))


def principal_kmeans(rows: Any, n_clusters: int, seed: int, starts: int) -> np.ndarray:
    """Labels of k-means along the principal directions of ``rows``, dense or CSR.

    Many features may tell a little each and none of them much, as the words of short documents do.
    Who is nearest is then mostly chance; means over many samples are not.
    """
    rng = np.random.RandomState(seed)
    return best_kmeans(_leading(rows, n_clusters, rng), n_clusters, rng, starts)


def _leading(rows: Any, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Coordinates of the rows about their mean in the directions of largest variance."""
    n, d = rows.shape
    mean = np.asarray(rows.mean(axis=0), np.float64).ravel()
    width = min(count + _SPARE, n, d)
    along = np.linalg.qr(rng.normal(size=(d, width)))[0]
    for _ in range(_PASSES):
        coordinates = rows @ along - mean @ along
        spread = rows.T @ coordinates - np.outer(mean, coordinates.sum(axis=0))
        along = np.linalg.qr(np.asarray(spread, np.float64))[0]
    coordinates = np.asarray(rows @ along - mean @ along, np.float64)
    turned = np.linalg.eigh(coordinates.T @ coordinates)[1][:, ::-1]
    return coordinates @ turned[:, : min(count, width)]


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
    _moved(rows, centres, labels, np.empty_like(centres), counts, iterations)
    return labels


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _moved(rows, centres, labels, sums, counts, iterations):  # type: ignore[no-untyped-def]
    (n, d), k = rows.shape, len(centres)
    for _ in range(iterations):
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
        if moved == 0:
            break
        for a in range(k):
            for f in range(d if counts[a] > 0 else 0):
                centres[a, f] = sums[a, f] / counts[a]
