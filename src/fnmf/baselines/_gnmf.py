"""GNMF: graph regularised NMF."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import Attraction, attraction, neighbor_graph, neighbors_of
from fnmf.baselines._base import check_neighbors
from fnmf.baselines._engine import EngineFactorisation, WeightedRows
from fnmf.data import View, view_of
from fnmf.execution import Runner
from fnmf.factorization import initial_factors
from fnmf.validation import check_choice, check_graph, check_real


class GNMF(EngineFactorisation):
    """Graph regularised NMF: close samples get close representations.

    A basis U (d × c) and a representation V (n × c) minimise

        ‖X − V Uᵀ‖² + λ tr(Vᵀ L V)      subject to U ≥ 0, V ≥ 0

    where L is the Laplacian of a neighbour graph and λ is ``smoothness``, by multiplicative
    updates that never raise the objective. λ = 0 is NMF.

    Parameters
    ----------
    smoothness : float, default=100.0
        λ, the weight of the graph term.
    graph : {"adaptive", "binary"} or sparse matrix of shape (n_samples, n_samples), \
            default="adaptive"
        Adaptive-neighbour graph; or weight 1 between samples of which one is among the nearest
        of the other, as in the original article (the best λ is then about ten times smaller);
        or a symmetric graph of the user's.
    normalize_start : bool, default=False
        Start as the author's program does: random numbers between 0 and 1 that are not brought to
        the size of the data, and the columns of U scaled to unit length, V taking the scale. The
        graph term is then larger beside the data term in the first iterations; some data gain by
        it and some lose.

    Attributes
    ----------
    graph_ : csr_array of shape (n_samples, n_samples)
        The neighbour graph; of the samples that count, if some have weight 0.

    Notes
    -----
    ``transform`` solves each row on its own, held to its nearest training samples by the graph
    term; ``fit_transform`` does the same for the training rows, while ``embedding_`` holds V.
    The training data are kept for this.

    References
    ----------
    D. Cai, X. He, J. Han, T. S. Huang, "Graph Regularized Nonnegative Matrix Factorization for
    Data Representation", IEEE TPAMI 33(8), 2011, 1548-1560.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import GNMF
    >>> X, _ = make_blobs(120, centers=[[3, 3], [9, 3], [3, 9]], random_state=0)
    >>> model = GNMF(n_clusters=3, smoothness=10.0, tol=1e-3, max_iter=2000, random_state=0)
    >>> model.fit(X.clip(0)).embedding_.shape
    (120, 3)
    """

    graph_: sp.csr_array

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        smoothness: float = 100.0,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        init: Any = "random",
        normalize_start: bool = False,
        max_iter: int = 300,
        tol: float = 1e-6,
        n_init: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.init = init
        self.normalize_start = normalize_start
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _smoothness(self) -> float:
        return check_real("smoothness", self.smoothness)

    def _start(
        self, view: View, runner: Runner, init: Any, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        if not self.normalize_start:
            return super()._start(view, runner, init, rng)
        # With this factor random numbers stay as they were drawn, between 0 and 1.
        mean = float(view.mean()) if isinstance(init, str) and init == "random" else 0.0
        scale = self.n_clusters / (4.0 * mean) if mean > 0 else 1.0
        U, V = initial_factors(view, self.n_clusters, init, scale, rng, runner)
        lengths = np.linalg.norm(U.astype(np.float64), axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        return (U / lengths).astype(U.dtype), (V * lengths).astype(V.dtype)

    def _neighbor_graph(self, rows: WeightedRows, runner: Runner) -> sp.csr_array:
        view = rows.view
        self._fit_X = view.X
        self.__dict__.pop("_held_codes", None)
        adaptive = isinstance(self.graph, str) and self.graph == "adaptive"
        if isinstance(self.graph, str):
            check_choice("graph", self.graph, ("adaptive", "binary"))
            k = check_neighbors(self.n_neighbors, view.shape[0], 5)
            if adaptive:
                self.graph_ = neighbor_graph(view, k, "exact", runner)
            else:
                self.graph_ = binary_graph(view, k, runner)
        else:
            absent = 0 if rows.absent is None else rows.absent.shape[0]
            graph = check_graph(self.graph, view.shape[0] + absent, view.dtype)
            self.graph_ = sp.csr_array(graph[rows.places][:, rows.places]) if absent else graph
        if view.weights is not None and not adaptive:
            # Each copy of a sample would have these ties to each copy of the other.
            each = sp.diags_array(view.weights.astype(view.dtype))
            self.graph_ = sp.csr_array(each @ self.graph_ @ each)
        return self.graph_

    def _attraction(self, view: View, runner: Runner) -> Attraction | None:
        if self.smoothness == 0:
            return None
        codes = getattr(self, "_held_codes", self.embedding_) / self._scales
        strength = float(self.smoothness)
        return attraction(view_of(self._fit_X), view, codes, self.n_neighbors, strength, runner)


def binary_graph(view: View, k: int, runner: Runner) -> sp.csr_array:
    """Weight 1 if either sample is among the k nearest of the other."""
    indices, distances = neighbors_of(view, k, runner)
    n = len(indices)
    ones = np.ones(indices.size, dtype=distances.dtype)
    directed = sp.csr_array((ones, indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return sp.csr_array(directed.maximum(directed.T))
