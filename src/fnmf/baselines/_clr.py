"""CLR: the constrained Laplacian rank method."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import adaptive_neighbors
from fnmf.baselines._adaptive import embed, sparse_graph
from fnmf.baselines._base import GraphClusterer, check_neighbors
from fnmf.baselines._matrix import is_sparse, unit_scale
from fnmf.baselines._rank import components, search_rank
from fnmf.baselines._simplex import edge_distances, minimise_rows, project_rows
from fnmf.validation import check_choice, check_integer, check_real


class CLR(GraphClusterer):
    """Constrained Laplacian rank: the graph with c components that is nearest to a given one.

    For a given graph A with rows on the simplex, similarities S and a spectral embedding F
    minimise, with the loss ‖·‖ squared Frobenius (``"l2"``) or the sum of absolute values
    (``"l1"``),

        ‖S − A‖ + 2λ tr(Fᵀ L_S F)

    subject to S ≥ 0, S1 = 1, FᵀF = I, where S has no edge that A lacks. λ is doubled or halved
    until the graph has exactly ``n_clusters`` connected components. Deterministic.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours in the adaptive-neighbour graph A.
    graph : "adaptive" or sparse matrix of shape (n_samples, n_samples), default="adaptive"
        A, built from the data, or given: non-negative, not necessarily symmetric.
    loss : {"l2", "l1"}, default="l2"
        Distance between S and A.
    rank_strength : float, default=0.1
        λ at the start of the search.

    Attributes
    ----------
    n_connected_components_ : int
        Components of ``graph_``, equal to ``n_clusters`` on success. If A has more to begin
        with, the method has no answer: A is returned, and a larger ``n_neighbors`` is needed.
    converged_ : bool
        Whether ``n_clusters`` components were found; if not, a ``ConvergenceWarning`` says so.
    history_ : ndarray
        One row an iteration: total, fit (‖S − A‖), rank (2λ tr(FᵀLF)), strength (λ),
        n_connected_components. Empty if A already has enough components.

    References
    ----------
    F. Nie, X. Wang, M. I. Jordan, H. Huang, "The Constrained Laplacian Rank Algorithm for
    Graph-Based Clustering", AAAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from fnmf.baselines import CLR
    >>> X, y = make_moons(200, noise=0.06, random_state=0)
    >>> model = CLR(n_clusters=2, n_neighbors=10).fit(X)
    >>> bool((model.labels_ == y).all() or (model.labels_ != y).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        loss: str = "l2",
        rank_strength: float = 0.1,
        max_iter: int = 30,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.loss = loss
        self.rank_strength = rank_strength
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Learn the graph and its components."""
        loss = check_choice("loss", self.loss, ("l2", "l1"))
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        strength = check_real("rank_strength", self.rank_strength, strict=True)
        X, n_clusters = self._check_fit(X)
        if isinstance(self.graph, str):
            check_choice("graph", self.graph, ("adaptive",))
            k = check_neighbors(self.n_neighbors, X.shape[0], 5)
            A = adaptive_neighbors(X * unit_scale(X), k, symmetric=False, n_jobs=self.n_jobs)
        else:
            A = _check_directed(self.graph, X.shape[0])
        found = search_rank(
            A,
            n_clusters,
            strength,
            step=_SquaredLoss(A).step if loss == "l2" else _AbsoluteLoss(A).step,
            count=components,
            embed=partial(embed, n_clusters=n_clusters),
            max_iter=max_iter,
        )
        self._adopt(found, n_clusters)


class _SquaredLoss:
    """Rows s_i = Proj(a_i − (λ/2) v_i), v_ij = ‖f_i − f_j‖²."""

    def __init__(self, A: sp.csr_array) -> None:
        self.A = A

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]:
        A = self.A
        between = edge_distances(A.indptr, A.indices, F, F)
        weights = project_rows(A.indptr, A.data - 0.5 * strength * between)
        fit = float(np.sum((weights - A.data) ** 2))
        graph = sparse_graph(A.indptr, A.indices, weights)
        return graph, fit, strength * float(between @ weights)


class _AbsoluteLoss:
    """Iteratively reweighted squares; the weights come from the step before."""

    def __init__(self, A: sp.csr_array) -> None:
        self.A = A
        self.curvature = np.ones_like(A.data)

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]:
        A = self.A
        between = edge_distances(A.indptr, A.indices, F, F)
        linear = self.curvature * A.data - 0.5 * strength * between
        weights = minimise_rows(A.indptr, linear, self.curvature)
        gaps = weights - A.data
        self.curvature = 0.5 / np.sqrt(gaps**2 + np.finfo(float).eps)
        graph = sparse_graph(A.indptr, A.indices, weights)
        return graph, float(np.abs(gaps).sum()), strength * float(between @ weights)


def _check_directed(graph: Any, n_samples: int) -> sp.csr_array:
    """A graph of the user's: square and non-negative, edges possibly one-way."""
    if not is_sparse(graph):
        raise TypeError(
            f'graph must be "adaptive" or a SciPy sparse matrix, got {type(graph).__name__}; '
            "wrap a dense array in scipy.sparse.csr_array."
        )
    if graph.shape != (n_samples, n_samples):
        raise ValueError(
            f"graph has shape {graph.shape}, but X has {n_samples} samples; "
            f"pass a graph of shape ({n_samples}, {n_samples})."
        )
    if graph.format in ("csr", "csc", "bsr"):
        graph.check_format(full_check=True)
    A = sp.csr_array(graph).astype(np.float64)
    A.sum_duplicates()
    if not np.isfinite(A.data).all() or A.data.min(initial=0.0) < 0:
        raise ValueError("graph has weights that are negative or not finite; pass similarities.")
    A.setdiag(0.0)
    A.eliminate_zeros()
    A.sort_indices()
    return A
