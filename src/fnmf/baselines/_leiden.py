"""Leiden: communities of the neighbour graph that all methods here share."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from fnmf.baselines._adaptive import input_graph
from fnmf.baselines._base import as_seed
from fnmf.baselines._rank import in_order_of_first_sample
from fnmf.baselines._rival import Rival
from fnmf.validation import check_real

# Halvings of the interval of resolutions; the counts jump, so a finer one finds nothing new.
_STEPS = 25
_WIDEST = 2.0**20


class Leiden(Rival):
    """Communities of a neighbour graph by the Leiden algorithm, as many as are wanted.

    Leiden looks for the partition that maximises the modularity

        Σ_ij (s_ij − γ k_i k_j / 2m) [i and j in one community]

    where k are the degrees and 2m is their sum. It has no number of clusters, but a resolution γ:
    without one given, γ is searched by bisection until there are ``n_clusters`` communities.

    Needs the packages leidenalg and igraph: ``pip install "fnmf[leiden]"``.

    Parameters
    ----------
    n_clusters : int, default=8
        Communities wanted; ignored when ``resolution`` is given.
    resolution : float, optional
        γ; larger means more and smaller communities.

    Attributes
    ----------
    resolution_ : float
        γ.
    converged_ : bool
        Whether there are as many communities as were wanted. If not, a ``ConvergenceWarning``
        says so, and the labels are those with the nearest number.
    graph_ : csr_array of shape (n_samples, n_samples)
        The graph.

    References
    ----------
    V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
    communities", Scientific Reports 9, 2019, 5233.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import Leiden
    >>> X, _ = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> labels = Leiden(n_clusters=3, random_state=0).fit_predict(X)  # doctest: +SKIP
    """

    resolution_: float
    converged_: bool
    graph_: sp.csr_array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        resolution: float | None = None,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.resolution = resolution
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Build the graph and find its communities."""
        if self.resolution is not None:
            check_real("resolution", self.resolution)
        rows, n_clusters = self._check_scaled(X)
        self.graph_ = input_graph(rows, self.graph, self.n_neighbors, self.n_jobs)
        communities = _Communities(self.graph_, as_seed(self.random_state))
        if self.resolution is not None:
            self.resolution_, self.converged_ = float(self.resolution), True
            self.labels_ = communities(self.resolution_)
            return
        self.resolution_, self.labels_ = search_resolution(communities, n_clusters)
        n_found = int(self.labels_.max()) + 1
        self.converged_ = n_found == n_clusters
        if not self.converged_:
            warnings.warn(
                f"Leiden found {n_found} communities, not n_clusters={n_clusters}; no resolution "
                "tried gives that number. Raise n_neighbors if there are too many, or set "
                "resolution yourself. The labels are the communities found.",
                ConvergenceWarning,
                stacklevel=3,
            )


class _Communities:
    """Communities of one graph at any resolution, always from the same seed."""

    def __init__(self, graph: sp.csr_array, seed: int) -> None:
        try:
            import igraph
            import leidenalg
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                'Leiden needs leidenalg and igraph; install them with: pip install "fnmf[leiden]"'
            ) from error
        edges = sp.coo_array(sp.triu(graph, k=1))
        self._graph = igraph.Graph(
            n=graph.shape[0], edges=list(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
        )
        self._weights, self._seed, self._leiden = edges.data.tolist(), seed % 2**31, leidenalg

    def __call__(self, resolution: float) -> np.ndarray:
        partition = self._leiden.find_partition(
            self._graph,
            self._leiden.RBConfigurationVertexPartition,
            weights=self._weights,
            resolution_parameter=resolution,
            seed=self._seed,
        )
        return in_order_of_first_sample(np.asarray(partition.membership))


def search_resolution(communities: Any, n_clusters: int) -> tuple[float, np.ndarray]:
    """Widen an interval until it holds the number wanted, then halve it; the nearest number."""
    best: tuple[float, np.ndarray] | None = None
    distance = np.inf
    low, high, resolution = 0.0, np.inf, 1.0
    for _ in range(_STEPS):
        labels = communities(resolution)
        n_found = int(labels.max()) + 1
        if abs(n_found - n_clusters) < distance:
            best, distance = (resolution, labels), abs(n_found - n_clusters)
        if n_found == n_clusters or resolution > _WIDEST or resolution < 1 / _WIDEST:
            break
        if n_found < n_clusters:
            low = resolution
        else:
            high = resolution
        if np.isinf(high):
            resolution *= 2.0
        elif low == 0.0:
            resolution /= 2.0
        else:
            resolution = float(np.sqrt(low * high))
    assert best is not None
    return best
