"""Clusters about means, where neighbours tell too little.

Many features may tell a little each and none of them much, as the words of short documents do.
Who is nearest is then mostly chance; means over many samples are not.
"""

from typing import Any

import numpy as np

from fnmf.kmeans import best_kmeans
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Passes of subspace iteration, and directions beyond those wanted, which help the last ones.
_PASSES, _SPARE = 6, 4


def principal_kmeans(
    rows: Any,
    n_clusters: int,
    seed: int,
    defaults: Defaults = DEFAULTS,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Labels of k-means along the principal directions of ``rows``, dense or CSR."""
    rng = np.random.RandomState(seed)
    leading = _leading(rows, n_clusters, rng, weights)
    return best_kmeans(leading, n_clusters, rng, defaults.means_starts, weights)


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
