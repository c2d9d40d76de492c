"""Common rules for the number of clusters, each as its users apply it: on the data as they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph

_ROWS, _COMPONENTS = 1000, 50
_REFERENCES = 5


def _dense(X: Any, seed: int) -> np.ndarray:
    """At most a thousand rows on at most fifty principal components: quick, and kind to all."""
    rng = np.random.RandomState(seed)
    rows = rng.permutation(X.shape[0])[:_ROWS]
    part = X[rows].toarray() if sp.issparse(X) else np.asarray(X)[rows]
    part = part - part.mean(axis=0)
    left, values, _ = np.linalg.svd(part, full_matrices=False)
    return (left * values)[:, :_COMPONENTS]


def _kmeans(X: np.ndarray, k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=3, random_state=seed).fit(X)


def _by(score: Callable[[np.ndarray, np.ndarray], float]) -> Callable[[Any, int, int], int]:
    def rule(X: Any, most: int, seed: int) -> int:
        rows = _dense(X, seed)
        ks = range(2, min(most, len(rows) - 1) + 1)
        return max(ks, key=lambda k: score(rows, _kmeans(rows, k, seed).labels_))

    return rule


def gap(X: Any, most: int, seed: int) -> int:
    """Tibshirani, Walther and Hastie, 2001: the first k within one error of the next."""
    rows = _dense(X, seed)
    rng = np.random.RandomState(seed)
    low, high = rows.min(axis=0), rows.max(axis=0)
    references = [rng.uniform(low, high, rows.shape) for _ in range(_REFERENCES)]
    gaps, errors = [], []
    ks = range(1, min(most, len(rows) - 1) + 1)
    for k in ks:
        null = np.log([_kmeans(one, k, seed).inertia_ for one in references])
        gaps.append(null.mean() - np.log(_kmeans(rows, k, seed).inertia_))
        errors.append(null.std() * np.sqrt(1 + 1 / _REFERENCES))
    for k in ks[:-1]:
        if gaps[k - 1] >= gaps[k] - errors[k]:
            return k
    return ks[-1]


def _graph(X: Any, seed: int) -> sp.csr_array:
    rows = _dense(X, seed)
    graph = sp.csr_array(kneighbors_graph(rows, min(10, len(rows) - 1)))
    return sp.csr_array((graph + graph.T) / 2)


def eigengap(X: Any, most: int, seed: int) -> int:
    """The largest gap between eigenvalues of the normalised graph of ten neighbours."""
    graph = _graph(X, seed)
    scale = 1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    values = np.linalg.eigvalsh(graph.toarray() * scale[:, None] * scale)[::-1]
    return int(np.argmax(values[1:most] - values[2 : most + 1])) + 2


def bic(X: Any, most: int, seed: int) -> int:
    """The least Bayesian information criterion of a mixture with full covariances."""
    rows = _dense(X, seed)
    fits = {
        k: GaussianMixture(k, reg_covar=1e-2 * rows.var(), random_state=seed).fit(rows).bic(rows)
        for k in range(1, min(most, len(rows) - 1) + 1)
    }
    return min(fits, key=lambda k: fits[k])


def leiden(X: Any, most: int, seed: int) -> int:
    """Clusters that Leiden finds at resolution 1 on the graph of ten neighbours."""
    import igraph
    import leidenalg

    graph = sp.triu(_graph(X, seed)).tocoo()
    edges = list(zip(graph.row.tolist(), graph.col.tolist(), strict=True))
    found = leidenalg.find_partition(
        igraph.Graph(n=graph.shape[0], edges=edges),
        leidenalg.RBConfigurationVertexPartition,
        weights=graph.data.tolist(),
        resolution_parameter=1.0,
        seed=seed,
    )
    return len(found)


RULES: dict[str, Callable[[Any, int, int], int]] = {
    "gap statistic": gap,
    "silhouette": _by(silhouette_score),
    "Calinski-Harabasz": _by(calinski_harabasz_score),
    "eigengap": eigengap,
    "Leiden": leiden,
}
