"""Sparse k-means: clusters and feature weights under a bound on the weights' sum."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from fnmf.baselines._base import as_seed
from fnmf.baselines._lloyd import lloyd, means, nearest_centres
from fnmf.baselines._matrix import Matrix, is_sparse
from fnmf.baselines._rival import CentreRival, columns, distinct_kmeans
from fnmf.validation import check_integer, check_real

_N_BOUNDS = 10
_LLOYD_STEPS = 50
_SMALLEST = np.finfo(float).tiny


class SparseKMeans(CentreRival):
    """Sparse k-means: features that do not tell clusters apart get the weight 0.

    With B_j the sum of squares of feature j between clusters, clusters and weights maximise

        Σ_j w_j B_j      subject to w ≥ 0, ‖w‖₂ ≤ 1, ‖w‖₁ ≤ s

    by turns: k-means on features times √w, then w by soft thresholding. Without a ``bound`` s,
    ten between 1.2 and 0.9 √d are tried, and the one with the largest gap statistic is kept: the
    logarithm of the objective less its mean over copies of the data in which every feature is
    shuffled by itself.

    Parameters
    ----------
    bound : float, optional
        s, at least 1; √d leaves all features in. By default the gap statistic chooses.
    n_permutations : int, default=5
        Shuffled copies for the gap statistic.
    max_iter : int, default=15
        Turns of weights and clusters.
    tol : float, default=1e-4
        Relative change of the weights that ends them.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        w.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    bound_ : float
        s.
    bounds_, gaps_, gap_errors_ : ndarray
        Bounds tried, their gap statistics and the standard deviations of these; empty when the
        bound was given.
    objective_ : float
        Σ_j w_j B_j.
    n_iter_ : int
        Turns.

    Notes
    -----
    Features are used as they come. Divide them by their standard deviations first if their units
    differ.

    References
    ----------
    D. M. Witten, R. Tibshirani, "A Framework for Feature Selection in Clustering", Journal of
    the American Statistical Association 105, 2010, 713-726.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import SparseKMeans
    >>> X, y = make_blobs(120, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    >>> X = np.column_stack([X, np.random.default_rng(0).normal(size=(120, 20))])
    >>> model = SparseKMeans(n_clusters=3, random_state=0).fit(X)
    >>> np.sort(np.argsort(-model.feature_importances_)[:2])
    array([0, 1])
    """

    _stored_shapes: ClassVar = {"cluster_centers_": "kd"}
    feature_importances_: np.ndarray
    cluster_centers_: np.ndarray
    bound_: float
    bounds_: np.ndarray
    gaps_: np.ndarray
    gap_errors_: np.ndarray
    objective_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        bound: float | None = None,
        n_permutations: int = 5,
        max_iter: int = 15,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.bound = bound
        self.n_permutations = n_permutations
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, X: Any) -> None:
        """Learn weights and clusters."""
        if self.bound is not None:
            check_real("bound", self.bound, low=1.0)
        n_copies = check_integer("n_permutations", self.n_permutations, low=1)
        check_integer("max_iter", self.max_iter, low=1)
        check_real("tol", self.tol)
        rows, n_clusters = self._check_scaled(X)
        seed = as_seed(self.random_state)
        start = _Start(rows, n_clusters, seed)
        self.bounds_ = self.gaps_ = self.gap_errors_ = np.empty(0)
        if self.bound is not None:
            self.bound_ = float(self.bound)
        else:
            self._choose_bound(rows, start, n_copies, seed)
        found = start.turns(self.bound_, self.max_iter, self.tol)
        self.labels_, self.feature_importances_, objective, self.n_iter_ = found
        self.objective_ = objective / self._scale**2
        self.cluster_centers_ = means(rows, self.labels_, start.n_clusters)[0] / self._scale

    def _assigned(self, rows: Matrix) -> np.ndarray:
        """The nearest centre of each new row under the weights."""
        centres, weights = self.cluster_centers_ * self._scale, self.feature_importances_
        return nearest_centres(rows, centres, weights[None])

    def _choose_bound(self, rows: Matrix, start: "_Start", n_copies: int, seed: int) -> None:
        d = rows.shape[1]
        high = max(0.9 * np.sqrt(d), 1.0)
        self.bounds_ = np.unique(np.geomspace(min(1.2, high), high, _N_BOUNDS))
        generator = np.random.default_rng(seed)
        own = self._objectives(start)
        null = np.array(
            [
                self._objectives(_Start(shuffled(rows, generator), start.n_clusters, seed))
                for _ in range(n_copies)
            ]
        )
        self.gaps_, self.gap_errors_ = own - null.mean(axis=0), null.std(axis=0)
        self.bound_ = float(self.bounds_[np.argmax(self.gaps_)])

    def _objectives(self, start: "_Start") -> np.ndarray:
        """Logarithms of the objective, bound by bound."""
        found = [start.turns(bound, self.max_iter, self.tol)[2] for bound in self.bounds_]
        return np.log(np.maximum(found, _SMALLEST))


class _Start:
    """Data with the clusters of plain k-means, from which every bound starts."""

    def __init__(self, X: Matrix, n_clusters: int, seed: int) -> None:
        self.X = X
        model = distinct_kmeans(X, n_clusters, seed)
        self.labels, self.n_clusters = model.labels_, len(model.cluster_centers_)
        self.mean = np.asarray(X.mean(axis=0)).ravel()
        self.between = self._between(self.labels)

    def turns(
        self, bound: float, max_iter: int, tol: float
    ) -> tuple[np.ndarray, np.ndarray, float, int]:
        """Labels, weights, objective and number of turns."""
        labels, between = self.labels, self.between
        weights = np.full(len(between), 1.0 / np.sqrt(len(between)))
        n_turns = 0
        for n_turns in range(1, max_iter + 1):  # noqa: B007
            before, weights = weights, bounded_weights(between, bound)
            if np.abs(weights - before).sum() <= tol * before.sum():
                break
            used = np.flatnonzero(weights)
            part = columns(self.X, weights > 0)
            centres = means(part, labels, self.n_clusters)[0]
            labels, _ = lloyd(part, centres, weights[None, used], _LLOYD_STEPS)
            between = self._between(labels)
        return labels, weights, float(weights @ between), n_turns

    def _between(self, labels: np.ndarray) -> np.ndarray:
        centres, sizes = means(self.X, labels, self.n_clusters)
        return sizes @ (centres - self.mean) ** 2


def bounded_weights(gains: np.ndarray, bound: float) -> np.ndarray:
    """The maximiser of w·gains over w ≥ 0, ‖w‖₂ ≤ 1, ‖w‖₁ ≤ bound: a soft threshold."""

    def cut(threshold: float) -> np.ndarray:
        kept = np.maximum(gains - threshold, 0.0)
        return kept / max(float(np.linalg.norm(kept)), _SMALLEST)

    top = float(gains.max())
    if top <= 0:
        return np.full(len(gains), 1.0 / np.sqrt(len(gains)))
    gains = gains / top
    if cut(0.0).sum() <= bound:
        return cut(0.0)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if cut(middle).sum() > bound:
            low = middle
        else:
            high = middle
    return cut(high) if cut(high).any() else cut(low)


def shuffled(X: Matrix, generator: np.random.Generator) -> Matrix:
    """Every feature in an order of its own."""
    if not is_sparse(X):
        return generator.permuted(np.asarray(X), axis=0)
    by_column = sp.csc_array(X)
    n = X.shape[0]
    for begin, end in zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True):
        by_column.indices[begin:end] = generator.choice(n, end - begin, replace=False)
    # Built anew: the indices of a column are no longer in order.
    parts = (by_column.data, by_column.indices, by_column.indptr)
    return sp.csr_array(sp.csc_array(parts, shape=X.shape))
