"""Sparse k-means: clusters and feature weights under an ℓ1 budget.

D. M. Witten, R. Tibshirani, "A framework for feature selection in clustering", Journal of the
American Statistical Association 105 (2010). With B_k the between-cluster sum of squares of
feature k it maximises Σ_k w_k B_k over partitions and weights w ≥ 0, ‖w‖₂ ≤ 1, ‖w‖₁ ≤ s.
"""

import numpy as np
from sklearn.cluster import KMeans


class SparseKMeans:
    """Sparse k-means, its budget chosen by the gap statistic on permuted features.

    Parameters
    ----------
    n_clusters : int
        Clusters.
    budgets : sequence of float
        Candidates for s, as shares of √d.
    n_permutations : int
        Permuted copies of the data for the gap statistic.
    random_state : int
        Seed.
    """

    def __init__(
        self,
        n_clusters: int,
        *,
        budgets: tuple[float, ...] = (0.15, 0.3, 0.5, 0.8),
        n_permutations: int = 2,
        random_state: int = 0,
    ) -> None:
        self.n_clusters, self.budgets = n_clusters, budgets
        self.n_permutations, self.random_state = n_permutations, random_state

    def fit(self, X: np.ndarray) -> "SparseKMeans":
        rng = np.random.default_rng(self.random_state)
        X = np.asarray(X, dtype=np.float64)
        X = X - X.mean(axis=0)
        copies = [rng.permuted(X, axis=0) for _ in range(self.n_permutations)]
        best = -np.inf
        for share in self.budgets:
            budget = max(share * np.sqrt(X.shape[1]), 1.0)
            labels, weights, value = self._for_budget(X, budget)
            null = [np.log(max(self._for_budget(copy, budget)[2], 1e-300)) for copy in copies]
            gap = np.log(max(value, 1e-300)) - float(np.mean(null))
            if gap > best:
                best, self.labels_, self.weights_ = gap, labels, weights
        return self

    def _for_budget(self, X: np.ndarray, budget: float) -> tuple[np.ndarray, np.ndarray, float]:
        d = X.shape[1]
        weights = np.full(d, 1 / np.sqrt(d))
        for _ in range(6):
            used = weights > 0
            model = KMeans(self.n_clusters, n_init=5, random_state=self.random_state)
            labels = model.fit_predict(X[:, used] * np.sqrt(weights[used]))
            between = _between(X, labels, self.n_clusters)
            before, weights = weights, _project(between, budget)
            if np.abs(weights - before).sum() <= 1e-3 * np.abs(before).sum():
                break
        return labels, weights, float(weights @ between)


def _between(X: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    sums = np.zeros((n_clusters, X.shape[1]))
    np.add.at(sums, labels, X)
    counts = np.bincount(labels, minlength=n_clusters)
    return np.sum(sums**2 / np.maximum(counts, 1)[:, None], axis=0)


def _project(gains: np.ndarray, budget: float) -> np.ndarray:
    """The soft threshold that keeps to the budget, found by bisection."""

    def weights(threshold: float) -> np.ndarray:
        cut = np.maximum(gains - threshold, 0)
        return cut / max(float(np.linalg.norm(cut)), 1e-300)

    if weights(0.0).sum() <= budget:
        return weights(0.0)
    low, high = 0.0, float(gains.max())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if weights(middle).sum() > budget else (low, middle)
    return weights(low)
