"""From a representation to cluster labels: the k-means of the evaluation protocol."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

N_STARTS = 10


def kmeans_on(embedding: np.ndarray, n_clusters: int, random_state: int | None) -> KMeans:
    """k-means++ with ten starts, best inertia kept; fitted on the rows of ``embedding``."""
    # Fewer distinct rows than clusters is a fact about the data, not a failure of k-means.
    n_distinct = count_distinct(embedding, n_clusters)
    model = KMeans(n_distinct, n_init=N_STARTS, random_state=random_state)
    # One BLAS thread: the sums, and so the labels, are then the same on every machine load.
    with threadpool_limits(1):
        return model.fit(embedding)


def count_distinct(rows: np.ndarray, most: int) -> int:
    """Number of distinct rows; counting ends at ``most``, which is mostly after a few rows."""
    seen: set[bytes] = set()
    for row in rows:
        seen.add(row.tobytes())
        if len(seen) == most:
            break
    return len(seen)
