"""LCNMF: local centroids structured NMF."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from fnmf._compile import njit
from fnmf.affinity import adaptive_weights, nearest_neighbors
from fnmf.baselines._base import Factorisation, as_seed
from fnmf.baselines._matrix import Matrix, dense, is_sparse
from fnmf.baselines._prototypes import centroids
from fnmf.baselines._rank import bipartite_components, table
from fnmf.baselines._simplex import nonnegative_rows
from fnmf.baselines._spectral import indicators, laplacian, smallest_eigenvectors
from fnmf.kmeans import kmeans_on
from fnmf.validation import check_choice, check_integer, check_real

FIELDS = ("total", "reconstruction", "rank", "strength", "n_connected_components")

_FLOOR = 1e-12


class LCNMF(Factorisation):
    """Local centroids structured NMF: many centroids, tied into c groups by a graph.

    Centroids U (d × m), sparse codes G (n × m) and a spectral embedding P of the bipartite
    graph with weights G minimise

        ‖X − G Uᵀ‖² + 2λ tr(Pᵀ L_G P)

    subject to U ≥ 0, G ≥ 0, at most ``n_neighbors`` non-zeros in each row of G, PᵀP = I. λ
    starts at ``rank_strength`` and is doubled or halved until the graph of samples and
    centroids has exactly ``n_clusters`` connected components. If it has more on the way, P is
    made of the largest ones.

    Parameters
    ----------
    n_clusters : int, default=8
        Connected components wanted, and clusters.
    n_centroids : int, optional
        Local centroids m; by default ⌊√(n_samples · n_clusters)⌋.
    n_neighbors : int, default=5
        Non-zeros allowed in each row of G; at most ``n_centroids − 1`` are used at the start.
    rank_strength : float, default=1e-3
        λ at the start.
    init : {"kmeans", "random"}, default="kmeans"
        k-means centroids with adaptive weights, or random matrices, which nearly always end in
        one giant component and isolated samples.
    labels : {"kmeans", "components"}, default="kmeans"
        k-means on the rows of G, or, as in the original article, the connected components; if
        their number is wrong, k-means takes over and a warning says so.
    n_inner : int, default=10
        Projected gradient steps on G in each iteration.
    max_iter : int, default=60
        Iterations.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_centroids)
        G.
    components_ : ndarray of shape (n_centroids, n_features)
        Uᵀ.
    n_connected_components_ : int
        Components of the graph; isolated samples and centroids count.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each sample.
    converged_ : bool
        Whether ``n_clusters`` components were found; if not, a ``ConvergenceWarning`` says so.
    history_ : ndarray
        One row an iteration: total, reconstruction, rank (2λ tr(PᵀLP)), strength (λ),
        n_connected_components. The total rises whenever λ does.
    n_iter_ : int
        Iterations done.

    Notes
    -----
    ``transform`` fits each new row by its ``n_neighbors`` nearest centroids, non-negative and
    in least squares, without the graph term; ``fit_transform`` does the same for the training
    rows, while ``embedding_`` holds the G of the model.

    References
    ----------
    H. Gao, F. Nie, H. Huang, "Local Centroids Structured Non-Negative Matrix Factorization",
    AAAI 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import LCNMF
    >>> X, _ = make_blobs(150, centers=[[3, 3], [9, 3], [3, 9]], random_state=0)
    >>> model = LCNMF(n_clusters=3, labels="components", random_state=0).fit(X.clip(0))
    >>> model.n_connected_components_, sorted(set(model.labels_.tolist()))
    (3, [0, 1, 2])
    """

    _non_negative = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_centroids: int | None = None,
        n_neighbors: int = 5,
        rank_strength: float = 1e-3,
        init: str = "kmeans",
        labels: str = "kmeans",
        n_inner: int = 10,
        max_iter: int = 60,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_centroids = n_centroids
        self.n_neighbors = n_neighbors
        self.rank_strength = rank_strength
        self.init = init
        self.labels = labels
        self.n_inner = n_inner
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Learn centroids, codes and clusters."""
        init = check_choice("init", self.init, ("kmeans", "random"))
        labels = check_choice("labels", self.labels, ("kmeans", "components"))
        strength = check_real("rank_strength", self.rank_strength, strict=True)
        q = check_integer("n_neighbors", self.n_neighbors, low=1)
        n_inner = check_integer("n_inner", self.n_inner, low=1)
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        X, n_clusters = self._check_fit(X)
        m = self._n_centroids(X.shape[0], n_clusters)
        seed = as_seed(self.random_state)
        U, G = start(X, m, q, init, seed, self.n_jobs)
        rows: list[tuple[float, ...]] = []
        n_found, of_rows, of_columns = bipartite_components(G, count_empty_columns=True)
        P: np.ndarray | None = None
        for _ in range(max_iter):
            P = embed(G, np.concatenate([of_rows, of_columns]), n_clusters, P)
            U = update_centroids(X, U, G)
            G, cross, rank = update_codes(X, U, G, P, strength, q, n_inner)
            n_found, of_rows, of_columns = bipartite_components(G, count_empty_columns=True)
            error = reconstruction(X, U, G, cross)
            rows.append((error + rank, error, rank, strength, n_found))
            if n_found == n_clusters:
                break
            strength *= 2.0 if n_found < n_clusters else 0.5
        self.components_, self.embedding_ = U.T.copy(), G.toarray()
        self._n_features_out = U.shape[1]
        self.n_connected_components_ = n_found
        self.component_labels_ = np.unique(of_rows, return_inverse=True)[1]
        self.history_, self.n_iter_ = table(rows, FIELDS), len(rows)
        self.converged_ = n_found == n_clusters
        if not self.converged_:
            self._warn(n_found, n_clusters, labels)
        if labels == "components" and self.converged_:
            self.labels_ = self.component_labels_
        else:
            self.labels_ = kmeans_on(self.embedding_, n_clusters, seed).labels_

    def _encode(self, X: Any) -> np.ndarray:
        """Codes of new rows, each solved on its own."""
        X = self._check_rows(X, reset=False)
        U = np.ascontiguousarray(self.components_.T)
        q = min(self.n_neighbors, U.shape[1])
        allowed, _ = nearest_neighbors(self.components_, q, queries=X, n_jobs=self.n_jobs)
        return nonnegative_rows(np.asarray(X @ U), U.T @ U, np.sort(allowed, axis=1), 1e-10)

    def _n_centroids(self, n_samples: int, n_clusters: int) -> int:
        if self.n_centroids is None:
            return max(int(np.sqrt(n_samples * n_clusters)), 2)
        m = check_integer("n_centroids", self.n_centroids, low=2)
        if m > n_samples:
            raise ValueError(
                f"n_centroids={m} is more than n_samples={n_samples}; lower n_centroids."
            )
        return m

    def _warn(self, n_found: int, n_clusters: int, labels: str) -> None:
        fallback = " The labels are those of k-means." if labels == "components" else ""
        warnings.warn(
            f"LCNMF found {n_found} connected components, not n_clusters={n_clusters}, in "
            f"{self.max_iter} iterations; try another random_state, a larger max_iter or "
            f"another rank_strength.{fallback}",
            ConvergenceWarning,
            stacklevel=4,
        )


def start(
    X: Matrix, m: int, q: int, init: str, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, sp.csr_array]:
    """First centroids (d × m) and codes (n × m)."""
    n, d = X.shape
    if init == "random":
        generator = np.random.default_rng(seed)
        U, codes = generator.random((d, m)), generator.random((n, m))
        return U, sp.csr_array(codes * (np.argsort(np.argsort(-codes, axis=1), axis=1) < q))
    centres = centroids(X, m, seed)
    # k-means can leave a rounding error below zero.
    centres = np.maximum(centres, 0.0)
    if len(centres) == 1:
        centres = np.repeat(centres, 2, axis=0)
    q = min(q, len(centres) - 1)
    indices, distances = nearest_neighbors(centres, q + 1, queries=X, n_jobs=n_jobs)
    weights = adaptive_weights(distances)
    indptr = np.arange(0, n * q + 1, q)
    G = sp.csr_array((weights.ravel(), indices[:, :q].ravel(), indptr), shape=(n, len(centres)))
    G.sort_indices()
    G.eliminate_zeros()
    return np.ascontiguousarray(centres.T), G


def embed(
    G: sp.csr_array, labels: np.ndarray, n_vectors: int, previous: np.ndarray | None
) -> np.ndarray:
    """Smallest eigenvectors of the Laplacian of [[0, G], [Gᵀ, 0]]."""
    graph = sp.csr_array(sp.block_array([[None, G], [G.T, None]], format="csr"))
    return smallest_eigenvectors(laplacian(graph), n_vectors, indicators(labels), previous)


def update_centroids(X: Matrix, U: np.ndarray, G: sp.csr_array) -> np.ndarray:
    """Multiplicative step on U."""
    cross = dense(G.T @ X)
    gram = (G.T @ G).toarray()
    return U * cross.T / np.maximum(U @ gram, _FLOOR)


def update_codes(
    X: Matrix,
    U: np.ndarray,
    G: sp.csr_array,
    P: np.ndarray,
    strength: float,
    q: int,
    n_inner: int,
) -> tuple[sp.csr_array, np.ndarray, float]:
    """Projected gradient steps on G; also X U and the rank term 2λ Σ G∘Q."""
    n, m = G.shape
    gram = U.T @ U
    cross = np.ascontiguousarray(X @ U)
    top = float(np.linalg.eigvalsh(gram)[-1])
    step = 0.5 / top if top > 0 else 0.0
    columns, values, rank = code_rows(
        G.indptr, G.indices, G.data, cross, gram, P[:n], P[n:], strength, step, min(q, m), n_inner
    )
    indptr = np.arange(0, n * min(q, m) + 1, min(q, m))
    codes = sp.csr_array((values.ravel(), columns.ravel(), indptr), shape=(n, m))
    codes.eliminate_zeros()
    codes.sort_indices()
    return codes, cross, 2.0 * strength * rank


def reconstruction(X: Matrix, U: np.ndarray, G: sp.csr_array, cross: np.ndarray) -> float:
    """‖X − G Uᵀ‖² without the product."""
    values = X.data if is_sparse(X) else np.asarray(X)
    fitted = float(G.multiply(cross).sum())
    norm = float(np.sum((G.T @ G).multiply(U.T @ U)))
    return max(float(np.sum(values * values)) - 2.0 * fitted + norm, 0.0)


@njit(cache=True, nogil=True)
def code_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    cross: np.ndarray,
    gram: np.ndarray,
    P_rows: np.ndarray,
    P_columns: np.ndarray,
    strength: float,
    step: float,
    q: int,
    n_inner: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """For every row: gradient step, then the q largest positive entries, ties by index."""
    n, m = cross.shape
    columns = np.zeros((n, q), dtype=np.int64)
    values = np.zeros((n, q))
    price = np.empty(m)
    moved = np.empty(m)
    rank = 0.0
    for i in range(n):
        for j in range(m):
            total = 0.0
            for k in range(P_rows.shape[1]):
                gap = P_rows[i, k] - P_columns[j, k]
                total += gap * gap
            price[j] = total
        for e in range(indptr[i], indptr[i + 1]):
            columns[i, e - indptr[i]] = indices[e]
            values[i, e - indptr[i]] = data[e]
        for _ in range(n_inner):
            for j in range(m):
                moved[j] = 2.0 * step * (cross[i, j] - strength * price[j])
            for h in range(q):
                value = values[i, h]
                if value > 0.0:
                    own = columns[i, h]
                    moved[own] += value
                    for j in range(m):
                        moved[j] -= 2.0 * step * value * gram[own, j]
            for h in range(q):
                best = -1
                for j in range(m):
                    if moved[j] > 0.0 and (best < 0 or moved[j] > moved[best]):
                        best = j
                # Positions beyond the positive entries keep distinct columns and value 0.
                columns[i, h] = best if best >= 0 else 0
                values[i, h] = moved[best] if best >= 0 else 0.0
                if best >= 0:
                    moved[best] = 0.0
        for h in range(q):
            rank += values[i, h] * price[columns[i, h]]
    return columns, values, rank
