"""KMM: K-multiple-means."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from fnmf._seeding import fit_kmeans
from fnmf._validation import check_choice, check_integer
from fnmf.baselines._adaptive import sparse_graph
from fnmf.baselines._base import GraphClusterer, as_seed, warn_components
from fnmf.baselines._components import bipartite_components, in_order_of_first_sample
from fnmf.baselines._matrix import Matrix, dense, is_sparse, unit_scale
from fnmf.baselines._rank import StructuredGraph, search_rank, table
from fnmf.baselines._simplex import edge_distances, project_rows
from fnmf.baselines._spectral import inverse_root
from fnmf.graph import adaptive_weights, nearest_neighbors

FIELDS = ("total", "n_connected_components", "n_prototypes", "n_inner")

# Below this singular value the small Gram matrix has lost too many digits.
_SMALL_SINGULAR_VALUE = 1e-4


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
    n_clusters : int, default=8
        Connected components wanted.
    n_prototypes : int, optional
        Prototypes at the start, m; by default ⌊√(n_samples · n_clusters)⌋.
    n_neighbors : int, optional
        Neighbouring prototypes of each sample; by default 5, and ``n_clusters − 1`` (at least
        1) with fewer than 6 prototypes.
    init : {"kmeans", "random"}, default="kmeans"
        First prototypes: k-means centroids or random samples.
    max_iter : int, default=30
        Rounds, each with a search for λ and a move of the prototypes.
    max_inner : int, default=30
        Steps of one search for λ.
    random_state : int, RandomState instance or None, default=None
        Seed of the prototypes.
    n_jobs : int, optional
        Threads of the neighbour search. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The connected component of each sample.
    graph_ : csr_array of shape (n_samples, n_prototypes)
        Learned similarities S; rows sum to 1.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes of ``graph_``.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        The component of each prototype, −1 for one without samples.
    n_connected_components_ : int
        Components of ``graph_``, equal to ``n_clusters`` on success.
    converged_ : bool
        Whether that is so. Otherwise a ``ConvergenceWarning`` says what to change.
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

    prototypes_: np.ndarray
    prototype_labels_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_prototypes: int | None = None,
        n_neighbors: int | None = None,
        init: str = "kmeans",
        max_iter: int = 30,
        max_inner: int = 30,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_prototypes = n_prototypes
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn prototypes, graph and components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples. Sparse data are never made dense as a whole; prototypes are dense.
        y : ignored

        Returns
        -------
        self : object
        """
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
            now = _Round.run(unit, prototypes, k, n_clusters, max_inner, self.n_jobs)
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
            prototypes = move_prototypes(unit, now, n_clusters)
        assert best is not None
        self.prototypes_ = best.prototypes / scale
        self._keep(best, n_clusters, rows)
        return self

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
        cls,
        X: Matrix,
        prototypes: np.ndarray,
        k: int,
        n_clusters: int,
        max_inner: int,
        n_jobs: int | None,
    ) -> "_Round":
        n, m = X.shape[0], len(prototypes)
        k = min(k, m - 1)
        indices, distances = nearest_neighbors(prototypes, k + 1, queries=X, n_jobs=n_jobs)
        gammas = 0.5 * (k * distances[:, k] - distances[:, :k].sum(axis=1))
        gamma = float(max(gammas.mean(), 0.0)) or 1.0
        edges = _Edges(
            np.arange(0, n * k + 1, k), indices[:, :k].ravel(), distances[:, :k].ravel(), m, gamma
        )
        start = sparse_graph(edges.indptr, edges.indices, adaptive_weights(distances).ravel(), m)
        edges.degrees = degrees(start)
        found = search_rank(
            start,
            n_clusters,
            gamma,
            step=edges.step,
            count=lambda S: bipartite_components(S, count_empty_columns=False)[:2],
            embed=lambda S, labels, previous: bipartite_embedding(S, n_clusters),
            max_iter=max_inner,
        )
        total = found.history["total"][-1] if found.n_iter else edges.fit(start)
        return cls(prototypes, indices[:, 0], found, float(total))


@dataclass
class _Edges:
    """Candidate edges from samples to prototypes, and the step on them."""

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    n_prototypes: int
    gamma: float
    degrees: np.ndarray | None = None

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]:
        n = len(self.indptr) - 1
        assert self.degrees is not None
        right = F[n:] * inverse_root(self.degrees)[:, None]
        between = edge_distances(self.indptr, self.indices, F[:n], right)
        scores = (self.distances + strength * between) / (-2.0 * self.gamma)
        weights = project_rows(self.indptr, scores)
        graph = sparse_graph(self.indptr, self.indices, weights, self.n_prototypes)
        self.degrees = degrees(graph)
        fit = float(self.distances @ weights + self.gamma * (weights @ weights))
        return graph, fit, strength * float(between @ weights)

    def fit(self, graph: sp.csr_array) -> float:
        weights = sp.csr_array(
            (self.distances, self.indices, self.indptr), shape=graph.shape
        ).multiply(graph)
        return float(weights.sum() + self.gamma * (graph.data @ graph.data))


def degrees(graph: sp.csr_array) -> np.ndarray:
    """Weight that falls on each prototype."""
    return np.bincount(graph.indices, graph.data, minlength=graph.shape[1])


def bipartite_embedding(graph: sp.csr_array, n_vectors: int) -> np.ndarray:
    """Leading singular vectors of S D^{-1/2}, left above right, each divided by √2."""
    N = sp.csr_array(graph @ sp.diags_array(inverse_root(degrees(graph))))
    m = N.shape[1]
    values, right = eigh((N.T @ N).toarray(), subset_by_index=[max(m - n_vectors, 0), m - 1])
    sigma = np.sqrt(np.maximum(values, 0.0))
    if sigma[0] > _SMALL_SINGULAR_VALUE:
        left = (N @ right) / sigma
    else:
        left, _, turned = np.linalg.svd(N.toarray(), full_matrices=False)
        left, right = left[:, :n_vectors], turned[:n_vectors].T
    return np.sqrt(0.5) * np.vstack([left, right])


def draw_prototypes(X: Matrix, m: int, init: str, seed: int) -> np.ndarray:
    """k-means centroids or random samples, without duplicates."""
    if init == "random":
        picked = np.random.default_rng(seed).choice(X.shape[0], m, replace=False)
        points = dense(X[np.sort(picked)])
    else:
        points = centroids(X, m, seed)
    distinct = np.unique(points, axis=0)
    # One point is left when all samples are equal; two are needed to have neighbours.
    return distinct if len(distinct) > 1 else np.repeat(distinct, 2, axis=0)


def centroids(X: Matrix, m: int, seed: int) -> np.ndarray:
    """Centroids of one k-means run; fewer if there are fewer distinct samples."""
    distinct = _n_distinct(X) if is_sparse(X) else len(np.unique(np.asarray(X), axis=0))
    return fit_kmeans(X, min(m, distinct), n_init=1, random_state=seed % 2**32).cluster_centers_


def _n_distinct(X: sp.csr_array) -> int:
    X = X.copy()
    X.eliminate_zeros()
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return len({(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends})


def move_prototypes(X: Matrix, now: _Round, n_clusters: int) -> np.ndarray:
    """Means of the samples nearest to each prototype, weighted by s_ij; the idle ones go."""
    n, m = X.shape[0], len(now.prototypes)
    own = sp.csr_array((np.ones(n), (np.arange(n), now.nearest)), shape=(n, m))
    weighted = sp.csr_array(own.multiply(now.found.graph))
    sizes, masses = degrees(own), degrees(weighted)
    means, by_weight = dense(own.T @ X), dense(weighted.T @ X)
    moved = now.prototypes.copy()
    full, busy = masses > 0, (sizes > 0) & (masses <= 0)
    moved[full] = by_weight[full] / masses[full, None]
    moved[busy] = means[busy] / sizes[busy, None]
    idle = np.flatnonzero(sizes == 0)
    dropped = idle[: max(0, m - max(n_clusters, 2))]
    return np.delete(moved, dropped, axis=0)


def closer(now: _Round, best: _Round | None, n_clusters: int) -> _Round:
    """The round whose number of components is nearer to the one wanted."""
    if best is None:
        return now
    gaps = [abs(r.found.n_components - n_clusters) for r in (now, best)]
    return now if gaps[0] < gaps[1] else best
