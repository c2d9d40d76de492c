"""Laplacian score, then k-means."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.baselines._lloyd import squared
from fnmf.baselines._matrix import Matrix, is_sparse
from fnmf.baselines._rival import SelectingKMeans


class LaplacianScore(SelectingKMeans):
    """k-means on the features that vary least between neighbours, for their variance.

    With the Laplacian L and the degrees D of a neighbour graph, and f̃ a feature less its mean
    under D, the score is

        f̃ᵀ L f̃ / f̃ᵀ D f̃

    The features with the lowest scores are kept, and clustered by k-means.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Minus the Laplacian score, so that larger is better; −∞ for a constant feature.

    References
    ----------
    X. He, D. Cai, P. Niyogi, "Laplacian Score for Feature Selection", NIPS 18 (2005), 507-514.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from fnmf.baselines import LaplacianScore
    >>> X, y = make_blobs(120, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    >>> X = np.column_stack([X, np.random.default_rng(0).normal(size=(120, 6))])
    >>> model = LaplacianScore(n_clusters=3, n_features_to_select=2, random_state=0).fit(X)
    >>> np.flatnonzero(model.selected_features_)
    array([0, 1])
    """

    def _scores(self, X: Matrix, graph: sp.csr_array, n_clusters: int, wanted: int) -> np.ndarray:
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        total = degrees.sum()
        first, second = degrees @ X, degrees @ squared(X)
        along: Any = graph @ X
        tied = np.asarray((X.multiply(along) if is_sparse(X) else X * along).sum(axis=0)).ravel()
        # f̃ᵀLf̃ = fᵀLf, because L sends constants to 0.
        variances = second - first**2 / max(total, np.finfo(float).tiny)
        rough = second - tied
        flat = variances <= 1e-12 * np.maximum(second, np.finfo(float).tiny)
        return -np.divide(rough, variances, out=np.full(len(rough), np.inf), where=~flat)
