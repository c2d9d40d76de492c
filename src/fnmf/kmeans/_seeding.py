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


@njit(nogil=True, cache=True)
def chosen_rows(X, weights, n_clusters, numbers):  # type: ignore[no-untyped-def]
    """Which rows become centres, by random numbers from 0 to 1; a row counts as its weight."""
    n_samples = len(X)
    n_trials = (len(numbers) - 1) // max(n_clusters - 1, 1)
    chosen, candidates = np.empty(n_clusters, np.int64), np.empty(n_trials, np.int64)
    mass = np.cumsum(weights)
    chosen[0] = min(np.searchsorted(mass, numbers[0] * mass[-1], side="right"), n_samples - 1)
    distances, sums = _closest(X, weights, chosen[:1], np.full(n_samples, np.inf, X.dtype))
    closest, total = distances[0], sums[0]
    for number in range(1, n_clusters):
        below = 0.0
        for i in range(n_samples):
            below += weights[i] * closest[i]
            mass[i] = below
        for trial in range(n_trials):
            place = numbers[1 + (number - 1) * n_trials + trial] * total
            candidates[trial] = min(np.searchsorted(mass, place), n_samples - 1)
        distances, sums = _closest(X, weights, candidates, closest)
        best = np.argmin(sums)
        closest, total = distances[best], sums[best]
        chosen[number] = candidates[best]
    return chosen


@njit(nogil=True, cache=True, fastmath=FAST)
def _closest(X, weights, candidates, closest):  # type: ignore[no-untyped-def]
    """Squared distances to the nearest centre if a candidate became one; and their sums."""
    n_samples, n_features = X.shape
    distances = np.empty((candidates.size, n_samples), X.dtype)
    sums = np.zeros(candidates.size)
    for i in range(n_samples):
        x = X[i]
        for j in range(candidates.size):
            centre = X[candidates[j]]
            square = X.dtype.type(0)
            for k in range(n_features):
                square += (x[k] - centre[k]) * (x[k] - centre[k])
            distances[j, i] = min(square, closest[i])
            sums[j] += weights[i] * distances[j, i]
    return distances, sums
