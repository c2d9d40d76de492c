"""PCAN: CAN on a linear projection that is learned along with the graph."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from fnmf.baselines._adaptive import Neighbors, embed, full_step, local_step
from fnmf.baselines._base import GraphClusterer, check_neighbors
from fnmf.baselines._can import DEFAULT_NEIGHBORS
from fnmf.baselines._matrix import Matrix, dense, unit_scale
from fnmf.baselines._rank import components, search_rank
from fnmf.baselines._spectral import laplacian
from fnmf.validation import check_choice, check_integer

_NULL_SPACE = 1e-8
# From this step on the local mode searches neighbours in the projected space.
_SEARCH_AGAIN_AT = 6


class PCAN(GraphClusterer):
    """Projected clustering with adaptive neighbours: graph and projection learned together.

    Similarities S, a projection W and a spectral embedding F minimise

        Σ_ij (‖Wᵀx_i − Wᵀx_j‖² s_ij + γ s_ij²) + 2λ tr(Fᵀ L_S F)

    subject to S ≥ 0, S1 = 1, FᵀF = I and WᵀS_tW diagonal, S_t being the total scatter and the
    columns of W having unit length. γ follows from ``n_neighbors`` in the input space, and λ
    is doubled or halved until the graph has ``n_clusters`` connected components. Deterministic.

    Directions in which the data do not vary are removed first; sparse data become dense there.

    Parameters
    ----------
    n_projected : int or "all", optional
        Dimension of the projection; by default ``n_clusters − 1``, at least 1. Never more than
        the rank of the data, which is what "all" stands for. Two clusters that no line separates
        need 2.
    n_neighbors : int, optional
        Neighbours of each sample, k. By default 15, or as many as the samples allow.
    neighborhood : {"full", "local"}, default="full"
        Learn similarities to all samples (quadratic time; memory stays that of the learned
        graph), or to the k nearest only, which fails where input-space neighbours mislead.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_projected)
        Learned W, columns of unit length.
    graph_ : csr_array of shape (n_samples, n_samples)
        Learned similarities S; rows sum to 1. Over all samples, s_ii counts too and ties nothing.
    history_ : ndarray
        One row an iteration: total, fit, rank (2λ tr(FᵀLF)), strength (λ),
        n_connected_components. The total may rise: unit-length columns are no minimiser.

    References
    ----------
    F. Nie, X. Wang, H. Huang, "Clustering and Projected Clustering with Adaptive Neighbors",
    KDD 2014, 977-986.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from fnmf.baselines import PCAN
    >>> X, y = make_moons(200, noise=0.06, random_state=0)
    >>> model = PCAN(n_clusters=2, n_projected=2).fit(X)
    >>> bool((model.labels_ == y).all() or (model.labels_ != y).all())
    True
    """

    projection_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_projected: int | str | None = None,
        n_neighbors: int | None = None,
        neighborhood: str = "full",
        max_iter: int = 30,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_projected = n_projected
        self.n_neighbors = n_neighbors
        self.neighborhood = neighborhood
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Learn the projection, the graph and its components."""
        neighborhood = check_choice("neighborhood", self.neighborhood, ("full", "local"))
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        X, n_clusters = self._check_fit(X)
        k = check_neighbors(self.n_neighbors, X.shape[0], DEFAULT_NEIGHBORS)
        p = self._dimension(n_clusters, X.shape[1])
        scale = unit_scale(X)
        X = X * scale
        edges = Neighbors.find(X, k, self.n_jobs)
        search = _Projected(X, edges, p, neighborhood, self.n_jobs)
        found = search_rank(
            edges.graph(),
            n_clusters,
            edges.gamma,
            step=search.step,
            count=components,
            embed=partial(embed, n_clusters=n_clusters),
            max_iter=max_iter,
        )
        self.projection_ = search.axes @ search.W
        self._adopt(found, n_clusters, scale)

    def _dimension(self, n_clusters: int, n_features: int) -> int:
        wanted = self.n_projected
        if wanted is None:
            return max(1, n_clusters - 1)
        if isinstance(wanted, str):
            check_choice("n_projected", wanted, ("all",))
            return n_features
        return check_integer("n_projected", wanted, low=1)


class _Projected:
    """The reduced data, the current projection W, and the step that renews S and then W."""

    def __init__(
        self, X: Matrix, edges: Neighbors, p: int, neighborhood: str, n_jobs: int | None
    ) -> None:
        rows = dense(X)
        basis, lengths, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        kept = max(1, int(np.sum(lengths > _NULL_SPACE * lengths[0])))
        self.basis, self.lengths, self.axes = basis[:, :kept], lengths[:kept], axes[:kept].T
        self.X = self.basis * self.lengths
        self.edges, self.neighborhood, self.n_jobs = edges, neighborhood, n_jobs
        self.k = len(edges.indices) // len(self.X)
        self.p = min(p, kept)
        self.n_steps = 0
        self.W = self._first_projection()

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]:
        self.n_steps += 1
        Z = self.X @ self.W
        if self.neighborhood == "full":
            found = full_step(Z, F, strength, gamma=self.edges.gamma, n_jobs=self.n_jobs)
        else:
            found = local_step(self._edges_in(Z), F, strength)
        self.W = self._next_projection(found[0])
        return found

    def _first_projection(self) -> np.ndarray:
        scatter = self.X.T @ (laplacian(self.edges.graph()) @ self.X)
        return eigh(scatter, subset_by_index=[0, self.p - 1])[1]

    def _next_projection(self, graph: sp.csr_array) -> np.ndarray:
        # Total scatter is diagonal in this basis: the generalised problem becomes a plain one.
        scatter = self.basis.T @ (laplacian(graph) @ self.basis)
        vectors = eigh(scatter, subset_by_index=[0, self.p - 1])[1]
        W = vectors / np.where(self.lengths > 0, self.lengths, 1.0)[:, None]
        return W / np.linalg.norm(W, axis=0)

    def _edges_in(self, Z: np.ndarray) -> Neighbors:
        if self.n_steps >= _SEARCH_AGAIN_AT:
            return Neighbors.find(Z, self.k, self.n_jobs).with_gamma(self.edges.gamma)
        return self.edges.measured_in(Z)
