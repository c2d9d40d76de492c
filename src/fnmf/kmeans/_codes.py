"""Clusters of codes, by the k-means of the protocol, and codes of clusters."""

from functools import partial

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from fnmf.data import View, drawn
from fnmf.execution import BlockSource, RowArray, Runner
from fnmf.kmeans._protocol import kmeans_on
from fnmf.relevance.defaults import DEFAULTS, Defaults

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
    own = partial(_large_for_own, sizes, defaults.softness)
    return runner.map_rows(own, BlockSource(view), (labels,), (n_components,), view.dtype)


def _large_for_own(sizes: np.ndarray, softness: float, labels: np.ndarray) -> np.ndarray:
    V = np.tile(softness * sizes, (len(labels), 1))
    V[np.arange(len(V)), labels] = (1 + softness) * sizes[labels]
    return V
