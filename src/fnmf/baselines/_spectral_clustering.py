"""Spectral clustering on the neighbour graph that all methods here share."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.baselines._adaptive import input_graph
from fnmf.baselines._base import as_seed
from fnmf.baselines._rival import Rival
from fnmf.baselines._spectral import eigenmap
from fnmf.kmeans import kmeans_on


class Spectral(Rival):
    """Normalised cuts, relaxed: k-means on the smoothest functions of a neighbour graph.

    The ``n_clusters`` solutions of L y = λ D y with the smallest λ minimise

        tr(Yᵀ L Y)      subject to Yᵀ D Y = I

    and k-means on the rows of Y gives the clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters, and eigenvectors.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Y.
    graph_ : csr_array of shape (n_samples, n_samples)
        The graph.

    References
    ----------
    J. Shi, J. Malik, "Normalized Cuts and Image Segmentation", IEEE TPAMI 22(8), 2000, 888-905;
    U. von Luxburg, "A Tutorial on Spectral Clustering", Statistics and Computing 17, 2007,
    395-416.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from fnmf.baselines import Spectral
    >>> X, y = make_moons(200, noise=0.06, random_state=0)
    >>> labels = Spectral(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool((labels == y).all() or (labels != y).all())
    True
    """

    embedding_: np.ndarray
    graph_: sp.csr_array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Build the graph, embed it and cluster."""
        rows, n_clusters = self._check_scaled(X)
        self.graph_ = input_graph(rows, self.graph, self.n_neighbors, self.n_jobs)
        self.embedding_ = eigenmap(self.graph_, n_clusters, trivial=True)
        model = kmeans_on(self.embedding_, n_clusters, as_seed(self.random_state) % 2**32)
        self.labels_ = model.labels_
