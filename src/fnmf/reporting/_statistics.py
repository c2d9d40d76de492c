"""What the clusters look like in the data, from one pass over its rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.engine.mapped import MappedCSR

_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Statistics:
    """Means of the features in each cluster and overall.

    Attributes
    ----------
    names : ndarray of shape (n_clusters,)
        The labels of the clusters.
    codes : ndarray of shape (n_samples,)
        Position in ``names`` of each sample's cluster.
    sizes : ndarray of shape (n_clusters,)
        Number of samples.
    means : ndarray of shape (n_clusters, n_features)
        Mean of each feature in each cluster.
    rest : ndarray of shape (n_clusters, n_features)
        Mean of each feature outside each cluster.
    spread : ndarray of shape (n_features,)
        Standard deviation of each feature.
    energy : ndarray of shape (n_features,)
        Mean square of each feature.
    explained : ndarray of shape (n_features,)
        Share of each feature's variance that lies between the clusters, 0 to 1.
    """

    names: np.ndarray
    codes: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    rest: np.ndarray
    spread: np.ndarray
    energy: np.ndarray
    explained: np.ndarray

    @property
    def effect(self) -> np.ndarray:
        """Difference between cluster and rest, in standard deviations of the feature."""
        scale = np.where(self.spread > 0, self.spread, 1.0)
        return (self.means - self.rest) / scale


def cluster_statistics(X: Any, labels: Any) -> Statistics:
    """Statistics of every cluster; ``X`` is read in blocks of rows and never copied."""
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    n_samples, n_features = X.shape
    if len(codes) != n_samples:
        raise ValueError(f"X has {n_samples} samples, and there are {len(codes)} labels.")
    sums = np.zeros((len(names), n_features))
    squares = np.zeros(n_features)
    step = max(1, _CELLS_AT_ONCE // max(1, n_features))
    for start in range(0, n_samples, step):
        stop = min(start + step, n_samples)
        block: Any = _rows(X, start, stop)
        members = sp.csr_array(
            (np.ones(stop - start), codes[start:stop], np.arange(stop - start + 1)),
            shape=(stop - start, len(names)),
        )
        part: Any = members.T @ block
        sums += part if isinstance(part, np.ndarray) else part.toarray()
        square = block * block if isinstance(block, np.ndarray) else block.multiply(block)
        squares += np.asarray(square.sum(axis=0)).ravel()
    sizes = np.bincount(codes, minlength=len(names))
    total = sums.sum(axis=0)
    means = sums / sizes[:, None]
    others = np.maximum(n_samples - sizes, 1)[:, None]
    overall = total / n_samples
    scatter = np.maximum(squares - n_samples * overall**2, 0)
    # Below rounding error a feature is constant.
    scatter[scatter <= 1e-12 * squares] = 0
    between = sizes @ (means - overall) ** 2
    explained = np.divide(between, scatter, out=np.zeros(n_features), where=scatter > 0)
    return Statistics(
        names,
        codes,
        sizes,
        means,
        (total - sums) / others,
        np.sqrt(scatter / n_samples),
        squares / n_samples,
        np.clip(explained, 0, 1),
    )


def _rows(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, MappedCSR):
        return X.rows(start, stop).astype(np.float64)
    if sp.issparse(X):
        matrix: Any = X
        return sp.csr_array(matrix[start:stop]).astype(np.float64)
    return np.asarray(X[start:stop], dtype=np.float64)
