"""CAN: clustering with adaptive neighbours."""

from functools import partial
from typing import Any

from fnmf.baselines._adaptive import Neighbors, embed, full_step, local_step
from fnmf.baselines._base import GraphClusterer, check_neighbors
from fnmf.baselines._matrix import unit_scale
from fnmf.baselines._rank import components, search_rank
from fnmf.validation import check_choice, check_integer

DEFAULT_NEIGHBORS = 15


class CAN(GraphClusterer):
    """Clustering with adaptive neighbours: a similarity graph learned with c components.

    Similarities S and a spectral embedding F minimise

        Σ_ij (‖x_i − x_j‖² s_ij + γ s_ij²) + 2λ tr(Fᵀ L_S F)

    subject to S ≥ 0, S1 = 1, FᵀF = I, where L_S is the Laplacian of (S + Sᵀ)/2. γ follows
    from ``n_neighbors``, and λ is doubled or halved until the graph has exactly
    ``n_clusters`` connected components, which are the clusters. Deterministic.

    Parameters
    ----------
    n_neighbors : int, optional
        Neighbours of each sample, k. By default 15, or as many as the samples allow.
    neighborhood : {"local", "full"}, default="local"
        Learn similarities to the k nearest neighbours in the input space, or to all samples
        (quadratic time; memory stays that of the learned graph), itself among them: as in the
        authors' program a sample may keep a share s_ii, which ties it to nobody.

    Attributes
    ----------
    graph_ : csr_array of shape (n_samples, n_samples)
        Learned similarities S; rows sum to 1. With "full", s_ii counts too.
    history_ : ndarray
        One row an iteration: total, fit, rank (2λ tr(FᵀLF)), strength (λ),
        n_connected_components. Empty if the initial graph already has enough components.

    References
    ----------
    F. Nie, X. Wang, H. Huang, "Clustering and Projected Clustering with Adaptive Neighbors",
    KDD 2014, 977-986.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from fnmf.baselines import CAN
    >>> X, y = make_moons(200, noise=0.06, random_state=0)
    >>> model = CAN(n_clusters=2).fit(X)
    >>> model.n_connected_components_, model.converged_
    (2, True)
    >>> bool((model.labels_ == y).all() or (model.labels_ != y).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int | None = None,
        neighborhood: str = "local",
        max_iter: int = 30,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.neighborhood = neighborhood
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Learn the graph and its components."""
        neighborhood = check_choice("neighborhood", self.neighborhood, ("local", "full"))
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        X, n_clusters = self._check_fit(X)
        k = check_neighbors(self.n_neighbors, X.shape[0], DEFAULT_NEIGHBORS)
        scale = unit_scale(X)
        X = X * scale
        edges = Neighbors.find(X, k, self.n_jobs)
        if neighborhood == "local":
            step = partial(local_step, edges)
        else:
            step = partial(full_step, X, gamma=edges.gamma, n_jobs=self.n_jobs)
        found = search_rank(
            edges.graph(),
            n_clusters,
            edges.gamma,
            step=step,
            count=components,
            embed=partial(embed, n_clusters=n_clusters),
            max_iter=max_iter,
        )
        self._adopt(found, n_clusters, scale)
