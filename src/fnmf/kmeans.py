"""k-means: compiled for few dimensions, with scikit-learn's starts, and on codes.

In few dimensions scikit-learn's checks would cost more than the work.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from fnmf._compile import FAST, njit
from fnmf.data import View, drawn
from fnmf.execution import BlockSource, RowArray, Runner, pools
from fnmf.relevance.defaults import DEFAULTS, Defaults

# k-means in few dimensions has long come to rest.
_MOST_ITERATIONS = 100
# Entries of dense rows that are worked on at a time.
_AT_ONCE = 1 << 23
# Passes of subspace iteration, and directions beyond those wanted, which help the last ones.
_PASSES, _SPARE = 6, 4


def quick_kmeans(
    rows: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Labels of one start of k-means; sums in the order of the rows, whatever the threads."""
    numbers = rng.random_sample(numbers_for(n_clusters))
    own = np.ones(len(rows)) if weights is None else np.array(weights, np.float64)
    # Double precision for all rows: another version of the loops would have to be compiled.
    return _clustered(np.array(rows, np.float64, order="C"), own, n_clusters, numbers)


def halved(
    rows: np.ndarray,
    groups: np.ndarray,
    fewest: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Each group of at least ``fewest`` rows cut in two by k-means: 0 or 1 for every row."""
    counts = np.bincount(groups)
    numbers = iter(rng.random_sample((np.count_nonzero(counts >= fewest), numbers_for(2))))
    # Groups lie one after the other.
    order, ends = np.argsort(groups, kind="stable"), np.cumsum(counts).tolist()
    rows, own = np.asarray(rows, np.float64)[order], np.ones(len(rows))
    found, labels = np.zeros(len(rows), np.int64), np.empty(len(rows), np.int64)
    for start, stop in pairwise([0, *ends]):
        if stop - start >= max(fewest, 1):
            found[start:stop] = _clustered(rows[start:stop], own[start:stop], 2, next(numbers))
    labels[order] = found
    return labels


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
        coordinates = each * (_times(rows, along) - mean @ along)
        spread = _turned_times(rows, coordinates) - np.outer(mean, coordinates.sum(axis=0))
        along = np.linalg.qr(np.asarray(spread, np.float64))[0]
    coordinates = np.asarray(_times(rows, along) - mean @ along, np.float64)
    turned = np.linalg.eigh(coordinates.T @ (each * coordinates))[1][:, ::-1]
    return coordinates @ turned[:, : min(count, width)]


def _times(rows: Any, along: np.ndarray) -> np.ndarray:
    """Rows times directions; dense ones by parts, whose copies in double precision are small."""
    return np.concatenate([part @ along for _, part in _parts(rows)])


def _turned_times(rows: Any, coordinates: np.ndarray) -> np.ndarray:
    """Sums of the rows times their coordinates."""
    first, *others = (part.T @ coordinates[place] for place, part in _parts(rows))
    return sum(others, first)


def _parts(rows: Any) -> list[tuple[slice, Any]]:
    n, d = rows.shape
    size = n if sp.issparse(rows) else max(_AT_ONCE // max(d, 1), 1)
    places = [slice(start, start + size) for start in range(0, n, size)]
    return [(place, rows if size >= n else rows[place]) for place in places]


def _scatter(rows: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> float:
    """Squares about the means of the groups."""
    own = np.ones(len(rows)) if weights is None else weights
    counts = np.bincount(labels, own)
    sums = np.column_stack([np.bincount(labels, own * values) for values in rows.T])
    means = sums / np.where(counts > 0, counts, 1)[:, None]
    return float(own @ np.sum((rows - means[labels]) ** 2, axis=1))


def _clustered(
    rows: np.ndarray, weights: np.ndarray, n_clusters: int, numbers: np.ndarray
) -> np.ndarray:
    """Labels of k-means from rows that are drawn by ``numbers``."""
    centres = rows[chosen_rows(rows, weights, n_clusters, numbers)]
    labels, room = np.full(len(rows), -1), (np.zeros_like(centres), np.zeros(n_clusters))
    _assign(rows, weights, _MOST_ITERATIONS, centres, *room, labels)
    return labels


def numbers_for(n_clusters: int) -> int:
    """How many random numbers choosing the centres takes: one, then a few for each further."""
    return 1 + (n_clusters - 1) * (2 + int(np.log(n_clusters)))


def chosen_rows(
    X: np.ndarray, weights: np.ndarray, n_clusters: int, numbers: np.ndarray
) -> np.ndarray:
    """Which rows become centres, by random numbers from 0 to 1; a row counts as its weight."""
    n_trials = max((len(numbers) - 1) // max(n_clusters - 1, 1), 1)
    # The first centre has one number; another trial of it would be the same.
    places = np.empty((n_clusters, n_trials))
    places[0], places[1:] = numbers[0], numbers[1:].reshape(-1, n_trials)
    distances, chosen = np.empty((1 + n_trials, len(X))), np.zeros(n_clusters, np.int64)
    distances[0] = np.inf
    _choose(np.asarray(X, np.float64), weights, places, np.cumsum(weights), distances, chosen)
    return chosen


@njit(nogil=True, cache=True, fastmath=FAST)
def _square(X, i, Y, j):  # type: ignore[no-untyped-def]
    """Squared distance of X[i] and Y[j]."""
    total = 0.0
    for f in range(X.shape[1]):
        gap = X[i, f] - Y[j, f]
        total += gap * gap
    return total


@njit(nogil=True, cache=True, fastmath=FAST)
def _choose(X, weights, places, mass, distances, chosen):  # type: ignore[no-untyped-def]
    """Of each few rows, drawn in proportion to ``mass``, the one that leaves the rest nearest.

    ``distances`` to the nearest centre come first, then those with each candidate.
    """
    n = len(X)
    for number in range(len(chosen)):
        smallest, nearest = np.inf, 1
        for trial in range(1, len(distances)):
            candidate, reached = 0, 0.0
            while mass[candidate] < places[number, trial - 1] * mass[n - 1]:
                candidate += 1
            for i in range(n):
                square = _square(X, i, X, candidate)
                distances[trial, i] = square if square < distances[0, i] else distances[0, i]
                reached += weights[i] * distances[trial, i]
            if reached < smallest:
                smallest, nearest, chosen[number] = reached, trial, candidate
        reached = 0.0
        for i in range(n):
            distances[0, i] = distances[nearest, i]
            reached += weights[i] * distances[0, i]
            mass[i] = reached


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _assign(X, weights, most, centres, sums, counts, labels):  # type: ignore[no-untyped-def]
    """Samples join the nearest centre, centres become means, until no label changes.

    A centre without samples stays where it is.
    """
    n, d, k = len(X), X.shape[1], len(centres)
    for _ in range(most):
        moved = False
        for i in range(n):
            best, closest = 0, np.inf
            for a in range(k):
                distance = _square(X, i, centres, a)
                if distance < closest:
                    best, closest = a, distance
            if labels[i] != best:
                labels[i] = best
                moved = True
            counts[best] += weights[i]
            for f in range(d):
                sums[best, f] += weights[i] * X[i, f]
        if not moved:
            break
        for a in range(k):
            for f in range(d):
                if counts[a] > 0:
                    centres[a, f] = sums[a, f] / counts[a]
                sums[a, f] = 0
            counts[a] = 0


N_STARTS = 10


def kmeans_on(
    embedding: np.ndarray,
    n_clusters: int,
    random_state: int | None,
    weights: np.ndarray | None = None,
) -> KMeans:
    """k-means++ with ten starts, best inertia kept; fitted on the rows of ``embedding``."""
    # Fewer distinct rows than clusters is a fact about the data, not a failure of k-means.
    n_distinct = count_distinct(embedding, n_clusters)
    return fit_kmeans(
        embedding, n_distinct, n_init=N_STARTS, random_state=random_state, weights=weights
    )


def count_distinct(rows: Any, most: int) -> int:
    """Number of distinct rows; counting ends at ``most``, which is mostly after a few rows."""
    if sp.issparse(rows):
        whole: Any = rows
        rows = sp.csr_array(whole, copy=True)
        rows.eliminate_zeros()
        rows.sort_indices()
    seen: set[bytes] = set()
    for i in range(rows.shape[0]):
        if isinstance(rows, sp.csr_array):
            part = slice(rows.indptr[i], rows.indptr[i + 1])
            seen.add(rows.indices[part].tobytes() + rows.data[part].tobytes())
        else:
            seen.add(rows[i].tobytes())
        if len(seen) == most:
            break
    return len(seen)


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


# k-means looks at no more codes than this; the others join the nearest centre.
_MOST = 200_000


def cluster_codes(
    V: RowArray, n_clusters: int, seed: int, view: View, runner: Runner
) -> tuple[KMeans, RowArray]:
    """k-means on the codes of all rows, or of so many of them, and the labels of all."""
    n = len(V)
    if n <= _MOST:
        codes = V if isinstance(V, np.ndarray) else V[np.arange(n)]
        kmeans = kmeans_on(codes, n_clusters, seed, view.weights)
        return kmeans, runner.spread(kmeans.labels_, view)
    some = drawn(n, _MOST, np.random.RandomState(seed))
    own = None if view.weights is None else view.weights[some]
    kmeans = kmeans_on(V[some], n_clusters, seed, own)
    nearest = partial(pairwise_distances_argmin, Y=kmeans.cluster_centers_)
    labels = runner.map_rows(nearest, BlockSource(view), (V,), (), kmeans.labels_.dtype)
    return kmeans, labels


def partition_codes(
    labels: RowArray,
    n_components: int,
    view: View,
    runner: Runner,
    sizes: np.ndarray | None = None,
    defaults: Defaults = DEFAULTS,
) -> RowArray:
    """Codes of a partition: large for the own cluster, small for the others; times ``sizes``."""
    sizes = np.ones(n_components) if sizes is None else sizes
    own = partial(_large_for_own, sizes, defaults.prior)
    return runner.map_rows(own, BlockSource(view), (labels,), (n_components,), view.dtype)


def _large_for_own(sizes: np.ndarray, prior: float, labels: np.ndarray) -> np.ndarray:
    V = np.tile(prior * sizes, (len(labels), 1))
    V[np.arange(len(V)), labels] = (1 + prior) * sizes[labels]
    return V
