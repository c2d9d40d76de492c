"""k-means++ compiled: most of the time of a small k-means goes into choosing its centres."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from fnmf._compile import njit
from fnmf.execution import pools
from fnmf.kernels.compiler import FAST


def fit_kmeans(
    rows: Any,
    n_clusters: int,
    *,
    n_init: int,
    random_state: int | None,
    weights: np.ndarray | None = None,
) -> KMeans:
    """scikit-learn's k-means from the centres that its own k-means++ would draw."""
    model = KMeans(n_clusters, init=plus_plus, n_init=n_init, random_state=random_state)
    if sp.issparse(rows) or weights is not None:
        model.set_params(init="k-means++")
    # One thread: with more, k-means adds up in an order that depends on their number.
    with pools().limit(limits=1):
        model.fit(rows, sample_weight=weights)
    # The name of the method can be saved with the model, a function cannot.
    return model.set_params(init="k-means++")


def plus_plus(X: np.ndarray, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Rows of X as centres: each the best of a few, drawn in proportion to squared distances.

    Asks ``random_state`` for the same numbers as scikit-learn, so that up to rounding it
    chooses the same rows.
    """
    numbers = random_state.random_sample(numbers_for(n_clusters))
    return X[chosen_rows(X, np.ones(len(X)), n_clusters, numbers)]


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
