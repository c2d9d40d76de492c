"""k-means in few dimensions, compiled: scikit-learn's checks would cost more than the work."""

from typing import Any

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.compiler import FAST

# k-means in few dimensions has long come to rest.
_MOST_ITERATIONS = 100
# Passes of subspace iteration, and directions beyond those wanted, which help the last ones.
_PASSES, _SPARE = 6, 4


def quick_kmeans(
    rows: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Labels of one start of k-means; sums in the order of the rows, whatever the threads."""
    numbers = rng.random_sample((1, numbers_for(n_clusters)))
    whole = np.zeros(len(rows), np.int64)
    own = np.ones(len(rows)) if weights is None else weights
    return _within(rows, own, whole, n_clusters, numbers, 1)


def halved(
    rows: np.ndarray,
    groups: np.ndarray,
    fewest: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Each group of at least ``fewest`` rows cut in two by k-means: 0 or 1 for every row."""
    large = np.count_nonzero(np.bincount(groups) >= fewest)
    numbers = rng.random_sample((large, numbers_for(2)))
    own = np.ones(len(rows))
    return _within(rows, own, groups, 2, numbers, fewest)


def best_kmeans(
    rows: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    starts: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Labels of the start that ends nearest to its centres; a row counts as its weight."""
    found = [quick_kmeans(rows, n_clusters, rng, weights) for _ in range(starts)]
    return min(found, key=lambda labels: _scatter(rows, labels, weights))


def principal_kmeans(
    rows: Any, n_clusters: int, seed: int, starts: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Labels of k-means along the principal directions of ``rows``, dense or CSR.

    Many features may tell a little each and none of them much, as the words of short documents do.
    Who is nearest is then mostly chance; means over many samples are not.
    """
    rng = np.random.RandomState(seed)
    leading = _leading(rows, n_clusters, rng, weights)
    return best_kmeans(leading, n_clusters, rng, starts, weights)


def _leading(
    rows: Any, count: int, rng: np.random.RandomState, weights: np.ndarray | None
) -> np.ndarray:
    """Coordinates of the rows about their mean in the directions of largest variance."""
    n, d = rows.shape
    each = np.ones((n, 1)) if weights is None else weights[:, None]
    mean = np.asarray(rows.mean(axis=0), np.float64).ravel()
    if weights is not None:
        mean = weights @ rows / weights.sum()
    width = min(count + _SPARE, n, d)
    along = np.linalg.qr(rng.normal(size=(d, width)))[0]
    for _ in range(_PASSES):
        coordinates = each * (rows @ along - mean @ along)
        spread = rows.T @ coordinates - np.outer(mean, coordinates.sum(axis=0))
        along = np.linalg.qr(np.asarray(spread, np.float64))[0]
    coordinates = np.asarray(rows @ along - mean @ along, np.float64)
    turned = np.linalg.eigh(coordinates.T @ (each * coordinates))[1][:, ::-1]
    return coordinates @ turned[:, : min(count, width)]


def _scatter(rows: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> float:
    """Squares about the means of the groups."""
    own = np.ones(len(rows)) if weights is None else weights
    counts = np.bincount(labels, own)
    sums = np.column_stack([np.bincount(labels, own * values) for values in rows.T])
    means = sums / np.where(counts > 0, counts, 1)[:, None]
    return float(own @ np.sum((rows - means[labels]) ** 2, axis=1))


def _within(
    rows: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    n_clusters: int,
    numbers: np.ndarray,
    fewest: int,
) -> np.ndarray:
    """k-means in each group of at least ``fewest`` rows; smaller ones stay whole.

    ``numbers`` has the random numbers of a group in each row.
    """
    # Double precision for all rows: another version of the loops would have to be compiled.
    rows, labels = np.ascontiguousarray(rows, np.float64), np.zeros(len(rows), np.int64)
    sizes = np.bincount(groups)
    ends, order = np.cumsum(sizes), np.argsort(groups, kind="stable")
    for done, group in enumerate(np.flatnonzero(sizes >= max(fewest, 1))):
        members = order[ends[group] - sizes[group] : ends[group]]
        part, own = rows[members], weights[members]
        centres = part[chosen_rows(part, own, n_clusters, numbers[done])]
        labels[members] = _lloyd(part, own, centres)
    return labels


def _lloyd(rows: np.ndarray, weights: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Assign and average until no sample moves; a centre without samples stays where it is."""
    labels, counts = np.full(len(rows), -1), np.empty(len(centres))
    _settle(rows, weights, centres, labels, np.empty_like(centres), counts)
    return labels


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _settle(rows, weights, centres, labels, sums, counts):  # type: ignore[no-untyped-def]
    (n, d), k = rows.shape, len(centres)
    for _ in range(_MOST_ITERATIONS):
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
            counts[best] += weights[i]
            for f in range(d):
                sums[best, f] += weights[i] * rows[i, f]
        if moved == 0:
            break
        for a in range(k):
            for f in range(d if counts[a] > 0 else 0):
                centres[a, f] = sums[a, f] / counts[a]


def numbers_for(n_clusters: int) -> int:
    """How many random numbers choosing the centres takes: one, then a few for each further."""
    return 1 + (n_clusters - 1) * (2 + int(np.log(n_clusters)))


def chosen_rows(
    X: np.ndarray, weights: np.ndarray, n_clusters: int, numbers: np.ndarray
) -> np.ndarray:
    """Which rows become centres, by random numbers from 0 to 1; a row counts as its weight."""
    mass = np.cumsum(weights, dtype=np.float64)
    place = np.searchsorted(mass, numbers[0] * mass[-1], side="right")
    chosen = np.full(n_clusters, min(place, len(X) - 1), np.int64)
    n_trials = (len(numbers) - 1) // max(n_clusters - 1, 1)
    distances = np.full((1 + max(n_trials, 1), len(X)), np.inf, X.dtype)
    _choose(X, weights, numbers, n_trials, distances, mass, chosen)
    return chosen


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _choose(X, weights, numbers, n_trials, distances, mass, chosen):  # type: ignore[no-untyped-def]
    """``distances`` to the nearest centre come first, then those with each candidate."""
    n_samples, used, total = len(X), 1, 0.0
    for number in range(len(chosen)):
        below, smallest, nearest = 0.0, np.inf, 1
        for i in range(n_samples if number > 0 else 0):
            below += weights[i] * distances[0, i]
            mass[i] = below
        for trial in range(n_trials if number > 0 else 1):
            candidate = chosen[0]
            if number > 0:
                place = numbers[used] * total
                used += 1
                candidate, end = 0, n_samples - 1
                while candidate < end:
                    middle = (candidate + end) // 2
                    if mass[middle] < place:
                        candidate = middle + 1
                    else:
                        end = middle
            reached = 0.0
            for i in range(n_samples):
                square = X.dtype.type(0)
                for k in range(X.shape[1]):
                    gap = X[i, k] - X[candidate, k]
                    square += gap * gap
                distances[1 + trial, i] = min(square, distances[0, i])
                reached += weights[i] * distances[1 + trial, i]
            if reached < smallest:
                smallest, nearest, chosen[number] = reached, 1 + trial, candidate
        total = smallest
        for i in range(n_samples):
            distances[0, i] = distances[nearest, i]
