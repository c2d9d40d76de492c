"""RMNMF: robust manifold NMF, by the alternating direction method of multipliers."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fnmf.baselines._adaptive import input_graph
from fnmf.baselines._base import Factorisation, as_seed
from fnmf.baselines._matrix import dense
from fnmf.baselines._rank import in_order_of_first_sample, table
from fnmf.baselines._rmnmf_rows import advance_rows, clean_rows, pack_basis, project_rows
from fnmf.baselines._simplex import nonnegative_rows
from fnmf.baselines._spectral import Laplacian, laplacian, polar_factor
from fnmf.kmeans import count_distinct, fit_kmeans, kmeans_on
from fnmf.validation import check_choice, check_integer, check_real

FIELDS = ("total", "reconstruction", "smoothness", "residual_data", "residual_sign")

_LARGEST_PENALTY = 1e10


class RMNMF(Factorisation):
    """Robust manifold NMF: l2,1 loss, graph term and orthonormal non-negative representation.

    A basis U (d × c) and a representation V (n × c) minimise

        ‖X − V Uᵀ‖_{2,1} + λ tr(Vᵀ L V)      subject to V ≥ 0, VᵀV = I

    where the l2,1 norm sums the lengths of the samples' residuals, L is the Laplacian of a
    neighbour graph and λ is ``smoothness``. The splitting E = X − VUᵀ, H = V is solved by
    alternating directions with a growing penalty: V is orthonormal after every iteration,
    H is non-negative, and both meet in the limit.

    Parameters
    ----------
    n_clusters : int, default=8
        Columns of V, and clusters.
    smoothness : float, default=10.0
        λ, the weight of the graph term.
    penalty : float, optional
        First penalty μ; by default max(10, λ). Meant for samples of unit length.
    penalty_growth : float, default=1.05
        Factor of the penalty in each iteration; at least 1.
    labels : {"kmeans", "argmax"}, default="kmeans"
        k-means on the rows of V, or the largest entry of each row.
    max_iter : int, default=1000
        Iterations.
    tol : float, default=1e-3
        Both relative constraint residuals must fall to this.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        V: orthonormal, non-negative up to ``tol``.
    nonnegative_embedding_ : ndarray of shape (n_samples, n_clusters)
        H: non-negative, orthonormal up to ``tol``.
    components_ : ndarray of shape (n_clusters, n_features)
        Uᵀ.
    graph_ : csr_array of shape (n_samples, n_samples)
        The neighbour graph.
    converged_ : bool
        Whether both residuals fell to ``tol``.
    history_ : ndarray
        One row an iteration: total, reconstruction, smoothness, residual_data
        (‖X − VUᵀ − E‖/‖X‖), residual_sign (‖V − H‖/√c). The total need not fall.
    n_iter_ : int
        Iterations done.

    Notes
    -----
    With VᵀV = I, every term of the augmented Lagrangian that holds V is linear in it, and its
    minimiser is the polar factor of C U + H − (Σ + λ L H)/μ: the graph term λ tr(VᵀLH) enters with
    a minus, as whatever is minimised does. The authors' file has a plus there, which pushes
    neighbours apart; that is not offered.

    The multipliers have the size of the data: sparse data are made dense. ``transform`` gives
    each row its non-negative least-squares coefficients on U, without the graph;
    ``fit_transform`` does the same for the training rows, while ``embedding_`` holds V.

    References
    ----------
    J. Huang, F. Nie, H. Huang, C. Ding, "Robust Manifold Nonnegative Matrix Factorization",
    ACM TKDD 8(3), 2014, article 11.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from fnmf.baselines import RMNMF
    >>> X = normalize(load_digits().data[:200])
    >>> model = RMNMF(n_clusters=10, smoothness=1.0, random_state=0).fit(X)
    >>> model.embedding_.shape, model.converged_
    ((200, 10), True)
    """

    _non_negative = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        smoothness: float = 10.0,
        n_neighbors: int = 5,
        graph: Any = "adaptive",
        penalty: float | None = None,
        penalty_growth: float = 1.05,
        labels: str = "kmeans",
        max_iter: int = 1000,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.labels = labels
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, X: Any) -> None:
        """Learn basis, representation and clusters."""
        labels = check_choice("labels", self.labels, ("kmeans", "argmax"))
        smoothness = check_real("smoothness", self.smoothness)
        growth = check_real("penalty_growth", self.penalty_growth, low=1.0)
        penalty = max(10.0, smoothness)
        if self.penalty is not None:
            penalty = check_real("penalty", self.penalty, strict=True)
        tol = check_real("tol", self.tol)
        max_iter = check_integer("max_iter", self.max_iter, low=1)
        X, n_clusters = self._check_fit(X)
        X = dense(X)
        self.graph_ = input_graph(X, self.graph, self.n_neighbors, self.n_jobs)
        seed = as_seed(self.random_state)
        state = State.start(X, laplacian(self.graph_), smoothness, n_clusters, penalty, seed)
        rows: list[tuple[float, ...]] = []
        self.converged_ = False
        for _ in range(max_iter):
            state.iterate(growth)
            rows.append(state.measure())
            if max(rows[-1][3:]) <= tol:
                self.converged_ = True
                break
        if not self.converged_:
            warnings.warn(
                f"RMNMF left constraint residuals of {max(rows[-1][3:]):.1e} > tol={tol:g} after "
                f"{max_iter} iterations; raise max_iter or penalty, or lower smoothness.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.components_, self.embedding_ = state.U.T.copy(), state.V
        self.nonnegative_embedding_ = state.H
        self._n_features_out = n_clusters
        self.history_, self.n_iter_ = table(rows, FIELDS), len(rows)
        if labels == "argmax":
            self.labels_ = in_order_of_first_sample(state.V.argmax(axis=1))
        else:
            self.labels_ = kmeans_on(state.V, n_clusters, seed).labels_

    def _encode(self, X: Any) -> np.ndarray:
        """Non-negative least-squares coefficients of new rows, each solved on its own."""
        X = self._check_rows(X, reset=False)
        U = np.ascontiguousarray(self.components_.T)
        allowed = np.tile(np.arange(U.shape[1]), (X.shape[0], 1))
        return nonnegative_rows(np.asarray(X @ U), U.T @ U, allowed, 1e-10)


@dataclass
class State:
    """All variables of the augmented Lagrangian

    ‖E‖_{2,1} + λ tr(VᵀLH) + (μ/2)‖X − VUᵀ − E + Γ/μ‖² + (μ/2)‖V − H + Σ/μ‖².

    E is not kept: the other variables only see ``clean`` = X − E + Γ/μ.
    """

    X: np.ndarray
    L: Laplacian
    smoothness: float
    U: np.ndarray
    V: np.ndarray
    H: np.ndarray
    clean: np.ndarray
    data_multiplier: np.ndarray
    sign_multiplier: np.ndarray
    penalty: float
    size: float
    # ‖X − VUᵀ‖_{2,1} and ‖X − VUᵀ − E‖ at the end of the last iteration.
    fit: float = 0.0
    gap: float = 0.0

    @classmethod
    def start(
        cls,
        X: np.ndarray,
        L: Laplacian,
        smoothness: float,
        n_clusters: int,
        penalty: float,
        seed: int,
    ) -> "State":
        """Feasible: V is the scaled indicator of a k-means partition."""
        V = scaled_indicator(X, n_clusters, seed)
        state = cls(
            X=X,
            L=L,
            smoothness=smoothness,
            U=X.T @ V,
            V=V,
            H=V.copy(),
            clean=np.empty_like(X),
            data_multiplier=np.zeros_like(X),
            sign_multiplier=np.zeros_like(V),
            penalty=penalty,
            size=float(np.linalg.norm(X)) or 1.0,
        )
        state.update_residuals()
        return state

    def iterate(self, growth: float) -> None:
        self.update_basis()
        self.update_signs()
        self.update_representation()
        self.update_multipliers(growth)

    def update_residuals(self) -> None:
        """Shrink each row of E towards zero by 1/μ."""
        basis = pack_basis(self.U)
        clean_rows(self.X, self.data_multiplier, self.V, basis, self.penalty, self.clean)

    def update_basis(self) -> None:
        """Least squares; V is orthonormal."""
        # Along the rows of the data: faster than cleanᵀ V.
        self.U = (self.V.T @ self.clean).T

    def update_signs(self) -> None:
        """Clip what V asks for at zero."""
        pull = self.sign_multiplier - self.smoothness * (self.L @ self.V)
        self.H = np.maximum(self.V + pull / self.penalty, 0.0)

    def update_representation(self) -> None:
        """Nearest orthonormal matrix to what data, signs and graph ask for."""
        pull = self.sign_multiplier + self.smoothness * (self.L @ self.H)
        projected = project_rows(self.clean, pack_basis(self.U), self.U.shape[1])
        self.V = polar_factor(projected + self.H - pull / self.penalty)

    def update_multipliers(self, growth: float) -> None:
        """Add μ times what the constraints miss, raise μ, and update E in the same pass."""
        self.sign_multiplier += self.penalty * (self.V - self.H)
        before, self.penalty = self.penalty, min(growth * self.penalty, _LARGEST_PENALTY)
        basis = pack_basis(self.U)
        self.fit, self.gap = advance_rows(
            self.X, self.data_multiplier, self.V, basis, before, self.penalty, self.clean
        )

    def measure(self) -> tuple[float, ...]:
        """One row of the history, after an iteration."""
        smooth = self.smoothness * float(np.sum(self.V * (self.L @ self.V)))
        sign = float(np.linalg.norm(self.V - self.H)) / np.sqrt(self.V.shape[1])
        return self.fit + smooth, self.fit, smooth, self.gap / self.size, sign


def scaled_indicator(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Y (YᵀY)^{-1/2} of one k-means run; a column without samples is made orthonormal."""
    k = count_distinct(X, n_clusters)
    model = fit_kmeans(X, k, n_init=1, random_state=seed)
    Y = np.zeros((len(X), n_clusters))
    Y[np.arange(len(X)), model.labels_] = 1.0
    sizes = Y.sum(axis=0)
    V = Y / np.sqrt(np.where(sizes > 0, sizes, 1.0))
    return V if sizes.all() else polar_factor(V)
