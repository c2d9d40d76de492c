"""Graphs between samples and prototypes, and the steps that learn them."""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from fnmf.affinity import adaptive_weights, nearest_neighbors
from fnmf.baselines._adaptive import sparse_graph
from fnmf.baselines._matrix import Matrix
from fnmf.baselines._simplex import edge_distances, project_rows
from fnmf.baselines._spectral import inverse_root

# Below this singular value the small Gram matrix has lost too many digits.
_SMALL_SINGULAR_VALUE = 1e-4


class BipartiteEdges(Protocol):
    """What a round needs: nearest prototypes, a first graph and λ, a step, the cost of a graph."""

    nearest: np.ndarray
    start: sp.csr_array
    strength: float

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]: ...

    def fit(self, graph: sp.csr_array) -> float: ...


@dataclass(frozen=True)
class NearestEdges:
    """The k nearest columns of each row as candidate edges, with the closed-form weights."""

    indptr: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    weights: np.ndarray
    n_columns: int
    gamma: float

    @classmethod
    def find(cls, rows: Matrix, columns: Matrix, k: int, n_jobs: int | None) -> Self:
        """Search; γ is the mean of ½(k d_{i,k+1} − Σ_{h≤k} d_ih)."""
        indices, distances = nearest_neighbors(columns, k + 1, queries=rows, n_jobs=n_jobs)
        gammas = 0.5 * (k * distances[:, k] - distances[:, :k].sum(axis=1))
        return cls(
            indptr=np.arange(0, len(indices) * k + 1, k),
            indices=indices[:, :k].ravel(),
            distances=distances[:, :k].ravel(),
            weights=adaptive_weights(distances).ravel(),
            n_columns=columns.shape[0],
            gamma=float(max(gammas.mean(), 0.0)) or 1.0,
        )

    def graph(self, weights: np.ndarray) -> sp.csr_array:
        """A graph on these edges."""
        return sparse_graph(self.indptr, self.indices, weights, self.n_columns)

    def costs(self) -> sp.csr_array:
        """The distances of the edges, in their places; distances of 0 need no place."""
        return self.graph(self.distances)

    def first_of_each(self) -> np.ndarray:
        """The nearest column of each row."""
        return self.indices[self.indptr[:-1]]


class OneSided:
    """Samples choose prototypes: each row of S minimises the stated objective."""

    def __init__(
        self, X: Matrix, prototypes: np.ndarray, k: int, scale: float, n_jobs: int | None
    ) -> None:
        self._edges = NearestEdges.find(X, prototypes, k, n_jobs)
        self.nearest, self.strength = self._edges.first_of_each(), self._edges.gamma
        self.start = self._edges.graph(self._edges.weights)
        self._costs, self._degrees = self._edges.costs(), degrees(self.start)

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]:
        """The samples' choice; both objective terms."""
        left, right = halves(F, self._degrees)
        graph = choice_of_samples(self._edges, left, right, strength)
        self._degrees = degrees(graph)
        return graph, self.fit(graph), strength * spread(graph, left, right)

    def fit(self, graph: sp.csr_array) -> float:
        """Σ_ij s_ij ‖x_i − a_j‖² + γ ‖S‖²."""
        return cost(self._costs, graph, self._edges.gamma)


class TwoSided:
    """The mean of two graphs, samples that choose prototypes and prototypes that choose samples.

    So the authors' program does it. The second graph's step projects D − ½λT, with the sign of the
    distances turned round and no γ: it lowers no objective, and the mean of both does not either.
    It depends on the scale of the data, so distances are taken back to that of the input.
    """

    def __init__(
        self, X: Matrix, prototypes: np.ndarray, k: int, scale: float, n_jobs: int | None
    ) -> None:
        self._unit = scale**2
        self._edges = NearestEdges.find(X, prototypes, k, n_jobs)
        self._back = NearestEdges.find(prototypes, X, min(k, X.shape[0] - 1), n_jobs)
        self.nearest = self._edges.first_of_each()
        self.strength = 0.5 * (self._edges.gamma + self._back.gamma)
        self._costs = self._edges.costs().maximum(self._back.costs().T)
        self.start = mean_graph(
            self._edges.graph(self._edges.weights), self._back.graph(self._back.weights)
        )
        self._degrees = degrees(self.start)

    def step(self, F: np.ndarray, strength: float) -> tuple[sp.csr_array, float, float]:
        """Both graphs from one embedding, then their mean with rows that sum to 1."""
        back = self._back
        left, right = halves(F, self._degrees)
        between = edge_distances(back.indptr, back.indices, right, left)
        returned = project_rows(
            back.indptr, (back.distances - 0.5 * strength * between) / self._unit
        )
        chosen = choice_of_samples(self._edges, left, right, strength)
        graph = mean_graph(chosen, back.graph(returned))
        self._degrees = degrees(graph)
        return graph, self.fit(graph), strength * spread(graph, left, right)

    def fit(self, graph: sp.csr_array) -> float:
        """Σ_ij s_ij ‖x_i − a_j‖² + γ ‖S‖² of the mean graph."""
        return cost(self._costs, graph, self._edges.gamma)


SIDES: dict[str, type[OneSided] | type[TwoSided]] = {"one-sided": OneSided, "two-sided": TwoSided}


def halves(F: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Embedding of the samples, whose degree is 1, and of the prototypes over √degree."""
    n = len(F) - len(masses)
    return F[:n], F[n:] * inverse_root(masses)[:, None]


def choice_of_samples(
    edges: NearestEdges, left: np.ndarray, right: np.ndarray, strength: float
) -> sp.csr_array:
    """Rows s_i = Proj(−(D_i + λ T_i)/2γ) over the candidate edges."""
    between = edge_distances(edges.indptr, edges.indices, left, right)
    scores = (edges.distances + strength * between) / (-2.0 * edges.gamma)
    return edges.graph(project_rows(edges.indptr, scores))


def mean_graph(chosen: sp.csr_array, returned: sp.csr_array) -> sp.csr_array:
    """(Z + ZTᵀ)/2 with rows that sum to 1; no row is empty, since those of Z sum to 1."""
    both = sp.csr_array(0.5 * (chosen + returned.T))
    return sp.csr_array(sp.diags_array(1.0 / both.sum(axis=1)) @ both)


def cost(costs: sp.csr_array, graph: sp.csr_array, gamma: float) -> float:
    """Σ_ij s_ij d_ij + γ ‖S‖²."""
    return float(costs.multiply(graph).sum()) + gamma * float(graph.data @ graph.data)


def spread(graph: sp.csr_array, left: np.ndarray, right: np.ndarray) -> float:
    """Σ_ij s_ij ‖u_i − v_j‖²."""
    return float(edge_distances(graph.indptr, graph.indices, left, right) @ graph.data)


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
