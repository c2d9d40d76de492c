"""ONGR: orthogonal and non-negative graph reconstruction."""

import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from fnmf.affinity import adaptive_weights, nearest_neighbors
from fnmf.baselines._adaptive import input_graph
from fnmf.baselines._base import Factorisation, as_seed
from fnmf.baselines._rank import components, in_order_of_first_sample, table
from fnmf.baselines._spectral import (
    indicators,
    inverse_root,
    polar_factor,
    random_orthonormal,
    smallest_eigenvectors,
)
from fnmf.kmeans import kmeans_on
from fnmf.validation import check_choice, check_integer, check_real

FIELDS = ("total", "reconstruction", "coupling")


class ONGR(ClusterMixin, Factorisation):
    """Orthogonal and non-negative graph reconstruction: a relaxed normalised cut.

    With S the neighbour graph, D its degrees and A = D^{-1/2} S D^{-1/2}, two factors F and G
    (n × c) minimise

        ‖A − F Gᵀ‖² + μ ‖F − G‖²      subject to FᵀF = I, G ≥ 0

    by exact alternating steps, so that the objective never rises. μ is ``coupling``. The
    published article states the model in words only; this is the penalty form that follows.

    Parameters
    ----------
    n_clusters : int, default=8
        Columns of F and G, and clusters.
    coupling : float, default=0.1
        μ. Large values tie F to its start.
    n_neighbors : int, default=5
        Neighbours in the adaptive-neighbour graph, and of a new row in ``transform``.
    init : {"spectral", "random"}, default="spectral"
        Leading eigenvectors of A under a random rotation, signs chosen so that no column of G
        starts empty, or a random orthonormal matrix.
    labels : {"kmeans", "argmax"}, default="kmeans"
        k-means on the rows of F, or, as in the original article, the largest entry of each row
        of G.
    max_iter : int, default=2000
        Iterations of each start. The clusters settle late: about 1000 are common.
    tol : float, default=1e-8
        Relative decrease of the objective at which to stop.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        F, with orthonormal columns.
    components_ : ndarray of shape (n_clusters, n_samples)
        Gᵀ: the other factor of the graph.
    graph_ : csr_array of shape (n_samples, n_samples)
        The neighbour graph S.
    n_connected_components_ : int
        Components of ``graph_``.
    objective_ : float
        The objective at the end.
    converged_ : bool
        Whether the objective settled; if not, a ``ConvergenceWarning`` says so.
    history_ : ndarray
        One row an iteration: total, reconstruction, coupling (μ‖F − G‖²).
    n_iter_ : int
        Iterations of the start that was kept.

    Notes
    -----
    ``transform`` gives a new row the mean of the rows of F of its nearest training samples, with
    adaptive-neighbour weights; ``fit_transform`` does the same for the training rows, while
    ``embedding_`` holds F. The training data are kept for this.

    References
    ----------
    J. Han, K. Xiong, F. Nie, "Orthogonal and Nonnegative Graph Reconstruction for Large Scale
    Clustering", IJCAI 2017, doi 10.24963/ijcai.2017/251.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from fnmf.baselines import ONGR
    >>> X, y = make_moons(200, noise=0.06, random_state=0)
    >>> labels = ONGR(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool((labels == y).all() or (labels != y).all())
    True
    """

    _stored_shapes: ClassVar = {"components_": "cn"}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        coupling: float = 0.1,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        init: str = "spectral",
        n_init: int = 1,
        labels: str = "kmeans",
        max_iter: int = 2000,
        tol: float = 1e-8,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.coupling = coupling
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.init = init
        self.n_init = n_init
        self.labels = labels
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Factorise the graph and find the clusters."""
        init = check_choice("init", self.init, ("spectral", "random"))
        labels = check_choice("labels", self.labels, ("kmeans", "argmax"))
        mu = check_real("coupling", self.coupling)
        tol = check_real("tol", self.tol)
        n_init = check_integer("n_init", self.n_init, low=1)
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        X, n_clusters = self._check_fit(X)
        self.graph_ = input_graph(X, self.graph, self.n_neighbors, self.n_jobs)
        self._rows = X
        seed = as_seed(self.random_state)
        generator = np.random.default_rng(seed)
        A = normalised(self.graph_)
        self.n_connected_components_, parts = components(self.graph_)
        if init == "spectral":
            basis = leading_eigenvectors(A, self.graph_, parts, n_clusters)
        else:
            basis = None
        best: tuple[np.ndarray, np.ndarray, list[tuple[float, ...]], bool] | None = None
        for _ in range(n_init):
            if basis is None:
                F = random_orthonormal(X.shape[0], n_clusters, generator)
            else:
                F = upright(basis @ random_orthonormal(basis.shape[1], n_clusters, generator))
            run = reconstruct(A, F, mu, max_iter, tol)
            if best is None or run[2][-1][0] < best[2][-1][0]:
                best = run
        assert best is not None
        F, G, rows, self.converged_ = best
        self.embedding_, self.components_ = F, G.T.copy()
        self._n_features_out = n_clusters
        self.history_, self.n_iter_ = table(rows, FIELDS), len(rows)
        self.objective_ = rows[-1][0]
        if not self.converged_:
            warnings.warn(
                f"ONGR still lowered its objective by more than tol={tol:g} (relative) after "
                f"{max_iter} iterations; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if labels == "argmax":
            self.labels_ = in_order_of_first_sample(G.argmax(axis=1))
        else:
            self.labels_ = kmeans_on(F, n_clusters, seed).labels_

    def _encode(self, X: Any) -> np.ndarray:
        """Place new rows among the training samples, each on its own."""
        X = self._check_rows(X, reset=False)
        k = min(self.n_neighbors, self._rows.shape[0] - 1)
        indices, distances = nearest_neighbors(self._rows, k + 1, queries=X, n_jobs=self.n_jobs)
        weights = adaptive_weights(distances)
        return np.einsum("ik,ikc->ic", weights, self.embedding_[indices[:, :k]])


def normalised(graph: sp.csr_array) -> sp.csr_array:
    """D^{-1/2} S D^{-1/2}; vertices without edges keep empty rows."""
    scale = sp.diags_array(inverse_root(graph.sum(axis=1)))
    return sp.csr_array(scale @ graph @ scale)


def upright(F: np.ndarray) -> np.ndarray:
    """Signs that make column sums positive: a column below zero would leave G without it."""
    return F * np.where(F.sum(axis=0) < 0, -1.0, 1.0)


def leading_eigenvectors(
    A: sp.csr_array, graph: sp.csr_array, parts: np.ndarray, n_vectors: int
) -> np.ndarray:
    """At least ``n_vectors`` of them: of the eigenvalue 1 there are as many as components."""
    null = indicators(parts, np.sqrt(graph.sum(axis=1)))
    rest = sp.csr_array(sp.eye_array(A.shape[0]) - A)
    return null if null.shape[1] >= n_vectors else smallest_eigenvectors(rest, n_vectors, null)


def reconstruct(
    A: sp.csr_array, F: np.ndarray, mu: float, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, list[tuple[float, ...]], bool]:
    """Alternate the two exact steps until the objective settles."""
    rows: list[tuple[float, ...]] = []
    size = float(A.data @ A.data)
    for _ in range(max_iter):
        G = np.maximum((A @ F + mu * F) / (1.0 + mu), 0.0)
        image = A @ G
        F = polar_factor(image + mu * G)
        fit = size - 2.0 * float(np.sum(F * image)) + float(np.sum(G * G))
        gap = mu * float(np.sum((F - G) ** 2))
        rows.append((fit + gap, fit, gap))
        if len(rows) > 1 and rows[-2][0] - rows[-1][0] <= tol * abs(rows[-2][0]):
            return F, G, rows, True
    return F, G, rows, False
