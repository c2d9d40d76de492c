"""Graphs of adaptive neighbours: the input graph, and the simplex steps that change one."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import adaptive_neighbors, adaptive_weights, nearest_neighbors
from fnmf.baselines._base import check_neighbors
from fnmf.baselines._matrix import Matrix, dense, is_sparse, squared_norms, unit_scale
from fnmf.baselines._simplex import edge_distances, project_block, project_rows
from fnmf.baselines._spectral import indicators, laplacian, smallest_eigenvectors
from fnmf.execution import threads
from fnmf.validation import check_choice, check_graph

# Bytes of one dense block of distances.
_BLOCK_BYTES = 16_000_000


@dataclass(frozen=True)
class Neighbors:
    """The k nearest neighbours of each sample as candidate edges, and what follows from them."""

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    weights: np.ndarray
    gamma: float

    @classmethod
    def find(cls, X: Matrix, k: int, n_jobs: int | None) -> "Neighbors":
        """Search; γ is the mean of ½(k d_{i,k+1} − Σ_{h≤k} d_ih)."""
        indices, distances = nearest_neighbors(X, k + 1, n_jobs=n_jobs)
        gammas = 0.5 * (k * distances[:, k] - distances[:, :k].sum(axis=1))
        order = np.argsort(indices[:, :k], axis=1)
        by_index = partial(np.take_along_axis, indices=order, axis=1)
        return cls(
            indptr=np.arange(0, len(indices) * k + 1, k),
            indices=by_index(indices[:, :k]).ravel(),
            distances=by_index(distances[:, :k]).ravel(),
            weights=by_index(adaptive_weights(distances)).ravel(),
            # All distances equal: any positive value gives the same, uniform, weights.
            gamma=float(max(gammas.mean(), 0.0)) or 1.0,
        )

    def graph(self) -> sp.csr_array:
        """The adaptive-neighbour graph, each row with its own γ_i."""
        return sparse_graph(self.indptr, self.indices, self.weights)

    def with_gamma(self, gamma: float) -> "Neighbors":
        """The same edges under another γ."""
        return replace(self, gamma=gamma)

    def measured_in(self, Z: np.ndarray) -> "Neighbors":
        """The same edges with the distances of another space."""
        return replace(self, distances=edge_distances(self.indptr, self.indices, Z, Z))


def sparse_graph(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, n_columns: int | None = None
) -> sp.csr_array:
    """Graph with the given candidate edges; those of weight 0 are no edges."""
    n = len(indptr) - 1
    graph = sp.csr_array((weights, indices, indptr), shape=(n, n_columns or n), copy=True)
    graph.eliminate_zeros()
    return graph


def embed(
    graph: sp.csr_array, labels: np.ndarray, previous: np.ndarray | None, n_clusters: int
) -> np.ndarray:
    """The F step: eigenvectors of the Laplacian for the c smallest eigenvalues."""
    return smallest_eigenvectors(laplacian(graph), n_clusters, indicators(labels), previous)


def local_step(
    edges: Neighbors, F: np.ndarray, strength: float
) -> tuple[sp.csr_array, float, float]:
    """Rows s_i = Proj(−(D_i + λ D^F_i)/2γ) over the candidate edges; both objective terms."""
    between = edge_distances(edges.indptr, edges.indices, F, F)
    scores = (edges.distances + strength * between) / (-2.0 * edges.gamma)
    weights = project_rows(edges.indptr, scores)
    fit = float(edges.distances @ weights + edges.gamma * (weights @ weights))
    rank = strength * float(between @ weights)
    return sparse_graph(edges.indptr, edges.indices, weights), fit, rank


def full_step(
    X: Matrix, F: np.ndarray, strength: float, *, gamma: float, n_jobs: int | None
) -> tuple[sp.csr_array, float, float]:
    """The same step over all pairs; distances live in one block of rows at a time."""
    n = X.shape[0]
    # ‖x_i − x_j‖² + λ‖f_i − f_j‖² is a distance in one joint space.
    G = np.sqrt(strength) * F
    norms = squared_norms(X) + squared_norms(G)

    def block(start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = slice(start, min(start + size, n))
        products = dense(X[rows] @ X.T)
        products += G[rows] @ G.T
        products *= 2.0
        products -= norms
        products -= norms[rows, None]
        np.minimum(products, 0.0, out=products)
        products /= 2.0 * gamma
        return project_block(products, start, 64 * products.shape[0] + n)

    size = max(1, _BLOCK_BYTES // (8 * n))
    with threads(n_jobs) as runner:
        found = list(runner.each(block, [(start,) for start in range(0, n, size)]))
    counts, columns, weights = zip(*found, strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    graph = sp.csr_array((np.concatenate(weights), np.concatenate(columns), indptr), shape=(n, n))
    between = edge_distances(graph.indptr, graph.indices, F, F)
    rank = strength * float(between @ graph.data)
    fit = edge_cost(X, graph) + gamma * float(graph.data @ graph.data)
    return graph, fit, rank


def edge_cost(X: Matrix, graph: sp.csr_array) -> float:
    """Σ_ij ‖x_i − x_j‖² s_ij."""
    degrees: Any = graph.sum(axis=1) + graph.sum(axis=0)
    image = graph @ X
    cross = X.multiply(image).sum() if is_sparse(X) else np.sum(np.asarray(X) * image)
    return max(float(degrees @ squared_norms(X) - 2.0 * cross), 0.0)


def input_graph(X: Matrix, graph: Any, n_neighbors: int, n_jobs: int | None) -> sp.csr_array:
    """The symmetric adaptive-neighbour graph of X, or the user's own, checked."""
    if isinstance(graph, str):
        check_choice("graph", graph, ("adaptive",))
        k = check_neighbors(n_neighbors, X.shape[0], 5)
        # The graph does not depend on the scale of X; this one cannot overflow.
        return adaptive_neighbors(X * unit_scale(X), k, n_jobs=n_jobs)
    return check_graph(graph, X.shape[0], np.dtype(np.float64))
