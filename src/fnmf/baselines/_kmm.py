"""KMM: K-multiple-means."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fnmf.baselines._base import GraphClusterer, as_seed, warn_components
from fnmf.baselines._bipartite import SIDES, BipartiteEdges, bipartite_embedding
from fnmf.baselines._matrix import unit_scale
from fnmf.baselines._prototypes import draw_prototypes, move_prototypes
from fnmf.baselines._rank import (
    StructuredGraph,
    bipartite_components,
    in_order_of_first_sample,
    search_rank,
    table,
)
from fnmf.validation import check_choice, check_integer

FIELDS = ("total", "n_connected_components", "n_prototypes", "n_inner")


class KMM(GraphClusterer):
    """K-multiple-means: prototypes tied to samples by a graph with c components.

    Similarities S of samples to m prototypes a_j, the prototypes, and a spectral embedding F of
    both minimise

        Σ_ij s_ij ‖x_i − a_j‖² + γ ‖S‖² + λ tr(Fᵀ L̃_S F)

    subject to S ≥ 0, S1 = 1, FᵀF = I, where L̃_S is the normalised Laplacian of the bipartite
    graph. γ follows from ``n_neighbors``; λ is doubled or halved until the graph has exactly
    ``n_clusters`` connected components; then the prototypes move, until the partition by
    nearest prototype no longer changes.

    Parameters
    ----------
    n_prototypes : int, optional
        Prototypes at the start, m; by default ⌊√(n_samples · n_clusters)⌋.
    n_neighbors : int, optional
        Neighbouring prototypes of each sample; by default 5, and ``n_clusters − 1`` (at least
        1) with fewer than 6 prototypes.
    graph : {"one-sided", "two-sided"}, default="one-sided"
        Who chooses: samples their prototypes, as the objective says; or prototypes their samples
        too, the mean of both being used, as the authors' program has it. The latter leaves the
        objective: its second graph is no minimiser of anything. With ``init="random"`` it gives
        the numbers published for the method.
    init : {"kmeans", "random"}, default="kmeans"
        First prototypes: k-means centroids or random samples.
    max_iter : int, default=30
        Rounds, each with a search for λ and a move of the prototypes.
    max_inner : int, default=30
        Steps of one search for λ.

    Attributes
    ----------
    graph_ : csr_array of shape (n_samples, n_prototypes)
        Learned similarities S; rows sum to 1.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes of ``graph_``.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        The component of each prototype, −1 for one without samples.
    history_ : ndarray
        One row a round: total, n_connected_components, n_prototypes, n_inner (steps for λ).
    n_iter_ : int
        Rounds done.

    References
    ----------
    F. Nie, C.-L. Wang, X. Li, "K-Multiple-Means: A Multiple-Means Clustering Method with
    Specified K Clusters", KDD 2019, 959-967.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import KMM
    >>> X, _ = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> model = KMM(n_clusters=3, random_state=0).fit(X)
    >>> model.n_connected_components_, sorted(set(model.labels_.tolist()))
    (3, [0, 1, 2])
    """

    _stored_shapes: ClassVar = {"graph_": "np"}
    prototypes_: np.ndarray
    prototype_labels_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_prototypes: int | None = None,
        n_neighbors: int | None = None,
        graph: str = "one-sided",
        init: str = "kmeans",
        max_iter: int = 30,
        max_inner: int = 30,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_prototypes = n_prototypes
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.init = init
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Learn prototypes, graph and components."""
        graph = check_choice("graph", self.graph, tuple(SIDES))
        init = check_choice("init", self.init, ("kmeans", "random"))
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        max_inner = check_integer("max_inner", self.max_inner, low=1)
        X, n_clusters = self._check_fit(X)
        m, k = self._sizes(X.shape[0], n_clusters)
        seed = as_seed(self.random_state)
        scale = unit_scale(X)
        unit = X * scale
        rows: list[tuple[float, ...]] = []
        best: _Round | None = None
        partition = None
        prototypes = draw_prototypes(unit, m, init, seed)
        for t in range(max_iter):
            near = min(k, len(prototypes) - 1)
            edges = SIDES[graph](unit, prototypes, near, scale, self.n_jobs)
            now = _Round.run(edges, prototypes, n_clusters, max_inner)
            rows.append(
                (now.total / scale**2, now.found.n_components, len(prototypes), now.found.n_iter)
            )
            if now.found.n_components != n_clusters:
                if best is not None and best.found.n_components == n_clusters:
                    break
                best = closer(now, best, n_clusters)
                prototypes = draw_prototypes(unit, m, init, seed + t + 1)
                continue
            best = now
            settled = in_order_of_first_sample(now.nearest)
            if partition is not None and np.array_equal(settled, partition):
                break
            partition = settled
            prototypes = move_prototypes(unit, prototypes, now.found.graph, now.nearest, n_clusters)
        assert best is not None
        self.prototypes_ = best.prototypes / scale
        self._keep(best, n_clusters, rows)

    def _sizes(self, n_samples: int, n_clusters: int) -> tuple[int, int]:
        m = max(int(np.sqrt(n_samples * n_clusters)), 2)
        if self.n_prototypes is not None:
            m = check_integer("n_prototypes", self.n_prototypes, low=max(2, n_clusters))
            if m > n_samples:
                raise ValueError(
                    f"n_prototypes={m} is more than n_samples={n_samples}; lower n_prototypes."
                )
        if self.n_neighbors is None:
            return m, min(5, m - 1) if m >= 6 else max(1, min(n_clusters - 1, m - 1))
        k = check_integer("n_neighbors", self.n_neighbors, low=1)
        if k >= m:
            raise ValueError(
                f"n_neighbors={k} needs at least {k + 1} prototypes, there are {m}; "
                "lower n_neighbors or raise n_prototypes."
            )
        return m, k

    def _keep(self, best: "_Round", n_clusters: int, rows: list[tuple[float, ...]]) -> None:
        found = best.found
        self.graph_, self.labels_ = found.graph, found.labels
        self.n_connected_components_ = found.n_components
        self.prototype_labels_ = bipartite_components(found.graph, count_empty_columns=False)[2]
        self.history_, self.n_iter_ = table(rows, FIELDS), len(rows)
        self.converged_ = found.n_components == n_clusters
        if not self.converged_:
            warn_components(self, found.n_components, n_clusters)


@dataclass(frozen=True)
class _Round:
    """The graph learned for fixed prototypes."""

    prototypes: np.ndarray
    nearest: np.ndarray
    found: StructuredGraph
    total: float

    @classmethod
    def run(
        cls, edges: BipartiteEdges, prototypes: np.ndarray, n_clusters: int, max_inner: int
    ) -> "_Round":
        found = search_rank(
            edges.start,
            n_clusters,
            edges.strength,
            step=edges.step,
            count=lambda S: bipartite_components(S, count_empty_columns=False)[:2],
            embed=lambda S, labels, previous: bipartite_embedding(S, n_clusters),
            max_iter=max_inner,
        )
        total = found.history["total"][-1] if found.n_iter else edges.fit(found.graph)
        return cls(prototypes, edges.nearest, found, float(total))


def closer(now: _Round, best: _Round | None, n_clusters: int) -> _Round:
    """The round whose number of components is nearer to the one wanted."""
    if best is None:
        return now
    gaps = [abs(r.found.n_components - n_clusters) for r in (now, best)]
    return now if gaps[0] < gaps[1] else best
