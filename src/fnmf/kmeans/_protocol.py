"""From a representation to cluster labels: the k-means of the evaluation protocol.

Its centres are chosen compiled, which is most of the time of a small k-means.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from fnmf.execution import pools
from fnmf.kmeans._lloyd import chosen_rows, numbers_for

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


def count_distinct(rows: np.ndarray, most: int) -> int:
    """Number of distinct rows; counting ends at ``most``, which is mostly after a few rows."""
    seen: set[bytes] = set()
    for row in rows:
        seen.add(row.tobytes())
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
