"""k-means++ compiled: most of the time of a small k-means goes into choosing its centres."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from fnmf._compile import njit
from fnmf.execution import pools
from fnmf.kernels.compiler import FAST


def fit_kmeans(rows: Any, n_clusters: int, *, n_init: int, random_state: int | None) -> KMeans:
    """scikit-learn's k-means from the centres that its own k-means++ would draw."""
    model = KMeans(n_clusters, init=plus_plus, n_init=n_init, random_state=random_state)
    if sp.issparse(rows):
        model.set_params(init="k-means++")
    # One thread: with more, k-means adds up in an order that depends on their number.
    with pools().limit(limits=1):
        model.fit(rows)
    # The name of the method can be saved with the model, a function cannot.
    return model.set_params(init="k-means++")


def plus_plus(X: np.ndarray, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
    """Rows of X as centres: each the best of a few, drawn in proportion to squared distances.

    Asks ``random_state`` for the same numbers as scikit-learn, so that up to rounding it
    chooses the same rows.
    """
    return X[chosen_rows(X, n_clusters, random_state.random_sample(numbers_for(n_clusters)))]


def numbers_for(n_clusters: int) -> int:
    """How many random numbers choosing the centres takes: one, then a few for each further."""
    return 1 + (n_clusters - 1) * (2 + int(np.log(n_clusters)))


def chosen_rows(X: np.ndarray, n_clusters: int, numbers: np.ndarray) -> np.ndarray:
    """Which rows become centres, by random numbers from 0 to 1."""
    n_samples = len(X)
    trials = numbers[1:].reshape(max(n_clusters - 1, 1), -1)
    chosen = np.empty(n_clusters, np.int64)
    chosen[0] = int(numbers[0] * n_samples)
    closest = np.full(n_samples, np.inf, X.dtype)
    distances, sums = _closest(X, chosen[:1], closest)
    closest, total = distances[0], sums[0]
    for number in range(1, n_clusters):
        mass = np.cumsum(closest, dtype=np.float64)
        places = np.searchsorted(mass, trials[number - 1] * total)
        candidates = np.minimum(places, n_samples - 1)
        distances, sums = _closest(X, candidates, closest)
        best = int(np.argmin(sums))
        closest, total = distances[best], sums[best]
        chosen[number] = candidates[best]
    return chosen


def _closest(
    X: np.ndarray, candidates: np.ndarray, closest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances to the nearest centre if a candidate became one; and their sums."""
    distances, sums = np.empty((len(candidates), len(X)), X.dtype), np.zeros(len(candidates))
    _measure(X, candidates, closest, distances, sums)
    return distances, sums


@njit(nogil=True, cache=True, fastmath=FAST)
def _measure(X, candidates, closest, distances, sums):  # type: ignore[no-untyped-def]
    for i in range(X.shape[0]):
        for j in range(candidates.size):
            square = X.dtype.type(0)
            for k in range(X.shape[1]):
                gap = X[i, k] - X[candidates[j], k]
                square += gap * gap
            distances[j, i] = min(square, closest[i])
            sums[j] += distances[j, i]
