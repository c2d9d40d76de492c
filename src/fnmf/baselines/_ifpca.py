"""IF-PCA: influential features by Higher Criticism, principal components, k-means."""

from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtr

from fnmf.baselines._base import as_seed
from fnmf.baselines._matrix import dense
from fnmf.baselines._rival import Rival
from fnmf.kmeans import kmeans_on
from fnmf.validation import check_integer

# Numbers drawn together when the null distribution is simulated.
_DRAWN_AT_ONCE = 2_000_000
_FEWEST_SIMULATIONS = 10_000


class IFPCA(Rival):
    """Influential-features PCA: keep features that are not normal, then PCA, then k-means.

    A feature that separates clusters is a mixture, hence not normal. Each standardised feature
    gets its Kolmogorov-Smirnov distance to the normal distribution, these get p-values π from
    simulation after Efron's empirical-null correction, and with sorted π and q_i = i/(p + 1) the
    threshold is where

        √p (q_i − π_(i)) / √(q_i + √n max(q_i − π_(i), 0))

    is largest (Higher Criticism) for log(p)/p < π_(i) and i ≤ p/2. The first ``n_clusters − 1``
    left singular vectors of what is kept are clustered by k-means. There is nothing to tune.

    Parameters
    ----------
    n_simulations : int, optional
        Draws of the null distribution; by default ten for each feature, at least 10,000.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Kolmogorov-Smirnov distances times √n, standardised over the features; −∞ for a constant
        feature.
    p_values_ : ndarray of shape (n_features,)
        Their p-values.
    selected_features_ : ndarray of shape (n_features,)
        Which features were kept.
    embedding_ : ndarray of shape (n_samples, n_clusters − 1)
        Left singular vectors of the features kept.

    Notes
    -----
    The article truncates large entries of the singular vectors; the authors' program does not,
    and neither does this. Sparse data become dense: features are centred.

    References
    ----------
    J. Jin, W. Wang, "Influential Features PCA for High Dimensional Clustering", Annals of
    Statistics 44(6), 2016, 2323-2359.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.baselines import IFPCA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 60)
    >>> X = rng.normal(size=(120, 200))
    >>> X[:, :10] += 4 * y[:, None]
    >>> model = IFPCA(n_clusters=2, random_state=0).fit(X)
    >>> bool(model.selected_features_[:10].all()), int(model.selected_features_[10:].sum()) < 60
    (True, True)
    """

    _stored_shapes: ClassVar = {"scores_": "d", "p_values_": "d", "selected_features_": "d"}
    scores_: np.ndarray
    p_values_: np.ndarray
    selected_features_: np.ndarray
    embedding_: np.ndarray

    def __init__(
        self, n_clusters: int = 8, *, n_simulations: int | None = None, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.n_simulations = n_simulations
        self.random_state = random_state

    def _learn(self, X: Any) -> None:
        """Select features, embed and cluster."""
        if self.n_simulations is not None:
            check_integer("n_simulations", self.n_simulations, low=1)
        rows, n_clusters = self._check_scaled(X)
        seed = as_seed(self.random_state) % 2**32
        Z, varying = standardised(dense(rows))
        self._select(Z, varying, seed)
        kept = np.ascontiguousarray(Z[:, self.selected_features_[varying]])
        self.embedding_ = left_vectors(kept, max(1, n_clusters - 1))
        self.labels_ = kmeans_on(self.embedding_, n_clusters, seed).labels_

    def _select(self, Z: np.ndarray, varying: np.ndarray, seed: int) -> None:
        n, p = Z.shape
        self.scores_, self.p_values_ = np.full(len(varying), -np.inf), np.ones(len(varying))
        self.selected_features_ = np.zeros(len(varying), dtype=bool)
        if p == 0:
            return
        n_draws = self.n_simulations or max(_FEWEST_SIMULATIONS, 10 * p)
        null = simulated_distances(n, n_draws, seed)
        distances = normal_distances(Z)
        spread = distances.std(ddof=1) if p > 1 else 0.0
        scores = (distances - distances.mean()) / (spread or 1.0)
        # Efron: the bulk of the features tells what null features look like in these data.
        adjusted = scores * null.std(ddof=1) + null.mean() if n_draws > 1 else distances
        p_values = 1.0 - np.searchsorted(np.sort(null), adjusted, side="right") / n_draws
        self.scores_[varying], self.p_values_[varying] = scores, p_values
        self.selected_features_[varying] = p_values <= criticism_threshold(p_values, n)


def standardised(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features that vary, with mean 0 and variance 1; and which these are."""
    centred = X - X.mean(axis=0)
    deviations = np.sqrt(np.einsum("ij,ij->j", centred, centred) / (len(X) - 1))
    varying = deviations > 1e-12 * np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
    return centred[:, varying] / deviations[varying], varying


def normal_distances(Z: np.ndarray) -> np.ndarray:
    """√n times the Kolmogorov-Smirnov distance of each standardised column to the normal one."""
    n = len(Z)
    # Divided by n, not n − 1, the variance is that of the article.
    levels = np.sort(ndtr(Z / np.sqrt(1.0 - 1.0 / n)), axis=0)
    steps = np.arange(n + 1)[:, None] / n
    return np.sqrt(n) * np.maximum(
        np.abs(steps[:-1] - levels).max(axis=0), np.abs(steps[1:] - levels).max(axis=0)
    )


def simulated_distances(n: int, n_draws: int, seed: int) -> np.ndarray:
    """The same for columns of normal numbers."""
    rng = np.random.default_rng(seed)
    at_once = max(1, _DRAWN_AT_ONCE // n)
    found = []
    for start in range(0, n_draws, at_once):
        drawn = rng.standard_normal((n, min(at_once, n_draws - start)))
        found.append(normal_distances(standardised(drawn)[0]))
    return np.concatenate(found)


def criticism_threshold(p_values: np.ndarray, n_samples: int) -> float:
    """The p-value at which the Higher-Criticism functional is largest."""
    p = len(p_values)
    ordered = np.sort(p_values)
    expected = np.arange(1, p + 1) / (p + 1)
    excess = expected - ordered
    values = np.sqrt(p) * excess / np.sqrt(expected + np.sqrt(n_samples) * np.maximum(excess, 0.0))
    first, last = int(np.searchsorted(ordered, np.log(p) / p, side="right")), round(p / 2)
    if first >= last:
        # More than half of the features look influential: all are kept, as in the original.
        return float(ordered[-1])
    allowed = values[first:last]
    return float(ordered[first + np.flatnonzero(allowed == allowed.max())[-1]])


def left_vectors(Z: np.ndarray, n_vectors: int) -> np.ndarray:
    """Leading left singular vectors, from the smaller of the two Gram matrices."""
    n, p = Z.shape
    if p == 0:
        return np.zeros((n, n_vectors))
    wide = p >= n
    gram = Z @ Z.T if wide else Z.T @ Z
    size = len(gram)
    values, vectors = eigh(gram, subset_by_index=[max(size - n_vectors, 0), size - 1])
    if wide:
        return np.ascontiguousarray(vectors[:, ::-1])
    lengths = np.sqrt(np.maximum(values, np.finfo(float).eps * max(values[-1], 1.0)))
    return np.ascontiguousarray(((Z @ vectors) / lengths)[:, ::-1])
