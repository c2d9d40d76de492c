"""From a representation to cluster labels: the k-means of the evaluation protocol."""

import numpy as np
from sklearn.cluster import KMeans

from fnmf.kmeans._seeding import fit_kmeans

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
