"""What the clusters look like in the data, from two passes over its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import MappedCSR
from fnmf.relevance.defaults import DEFAULTS
from fnmf.validation import divided, unit_of

_CELLS_AT_ONCE = 1 << 22


def notice(n_features: int) -> float:
    """Standard deviations to stand out: the largest of many normal numbers is no news."""
    return max(DEFAULTS.significant, math.sqrt(2 * math.log(max(n_features, 1))))


def standard_error(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Of the difference of two means of so many cells, in standard deviations of a feature."""
    return np.sqrt(1 / np.maximum(here, 1) + 1 / np.maximum(there, 1))


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
        Mean of each feature outside each cluster; its own mean if there is only one.
    spread : ndarray of shape (n_features,)
        Standard deviation of each feature.
    energy : ndarray of shape (n_features,)
        Mean square of each feature; of data in extreme units up to a common factor.
    explained : ndarray of shape (n_features,)
        Share of each feature's variance that lies between the clusters, 0 to 1.
    chance : ndarray of shape (n_features,)
        The share that clusters of these sizes would hardly exceed if samples were shuffled:
        mean and three standard deviations, or √(2 log d) of them if there are many features.
    missing : ndarray of shape (n_clusters, n_features)
        Number of missing cells of each feature in each cluster.
    """

    names: np.ndarray
    codes: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    rest: np.ndarray
    spread: np.ndarray
    energy: np.ndarray
    explained: np.ndarray
    chance: np.ndarray
    missing: np.ndarray

    @property
    def cells(self) -> np.ndarray:
        """Number of observed cells of each feature in each cluster."""
        return self.sizes[:, None] - self.missing

    @property
    def effect(self) -> np.ndarray:
        """Difference between cluster and rest, in standard deviations of the feature."""
        scale = np.where(self.spread > 0, self.spread, 1.0)
        return (self.means - self.rest) / scale


def cluster_statistics(X: Any, labels: Any) -> Statistics:
    """Statistics of every cluster; ``X`` is read twice in blocks of rows and never copied.

    Parameters
    ----------
    X : array, sparse matrix or MappedCSR of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,)
        Cluster of each sample.

    Returns
    -------
    Statistics

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.statistics import cluster_statistics
    >>> cluster_statistics(np.array([[1.0], [3.0], [8.0]]), ["a", "a", "b"]).means.tolist()
    [[2.0], [8.0]]
    """
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    n_samples, n_features = X.shape
    if len(codes) != n_samples:
        raise ValueError(f"X has {n_samples} samples, and there are {len(codes)} labels.")
    sums = np.zeros((len(names), n_features))
    squares, missing = np.zeros(n_features), np.zeros((len(names), n_features))
    unit = unit_of(X)
    for start, stop, block in _blocks(X, unit):
        members = sp.csr_array(
            (np.ones(stop - start), codes[start:stop], np.arange(stop - start + 1)),
            shape=(stop - start, len(names)),
        )
        if isinstance(block, np.ndarray):
            gaps = np.isnan(block)
            if gaps.any():
                missing += members.T @ gaps
                block[gaps] = 0
            squares += np.einsum("ik,ik->k", block, block)
        else:
            squares += np.asarray(block.multiply(block).sum(axis=0)).ravel()
        part: Any = members.T @ block
        sums += part if isinstance(part, np.ndarray) else part.toarray()
    sizes = np.bincount(codes, minlength=len(names))
    total = sums.sum(axis=0)
    # Samples in which a feature is not missing.
    cells = sizes[:, None] - missing
    known = np.maximum(cells.sum(axis=0), 1)
    overall, others = total / known, cells.sum(axis=0) - cells
    # Where a cluster has no value it is like all others.
    means = np.where(cells > 0, sums / np.maximum(cells, 1), overall)
    rest = np.where(others > 0, (total - sums) / np.maximum(others, 1), overall)
    # A single cluster has no rest to differ from.
    rest = rest if len(names) > 1 else means
    scatter = np.maximum(squares - known * overall**2, 0)
    # Below rounding error a feature is constant.
    scatter[scatter <= 1e-12 * squares] = 0
    between = np.sum(cells * (means - overall) ** 2, axis=0)
    explained = np.divide(between, scatter, out=np.zeros(n_features), where=scatter > 0)
    fourth = _fourth_moment(_blocks(X, unit), overall)
    kurtosis = known * fourth / np.where(scatter > 0, scatter, np.inf) ** 2 - 3
    return Statistics(
        names,
        codes,
        sizes,
        means * unit,
        rest * unit,
        np.sqrt(scatter / known) * unit,
        squares / known,
        np.clip(explained, 0, 1),
        _chance(sizes, np.maximum(kurtosis, 0)),
        missing,
    )


def top_indices(values: np.ndarray, count: int) -> list[int]:
    """Positions of the largest values, largest first; the earlier of equal ones first."""
    count = min(count, len(values))
    if count < len(values):
        border = np.partition(values, -count)[-count] if count else np.inf
        candidates = np.flatnonzero(values >= border)
    else:
        candidates = np.arange(len(values))
    return candidates[np.argsort(-values[candidates], kind="stable")][:count].tolist()


def _chance(sizes: np.ndarray, kurtosis: np.ndarray) -> np.ndarray:
    """What the explained share of shuffled samples hardly exceeds.

    The between-cluster scatter is a quadratic form of a projection of rank k − 1 in values of
    random order; heavy tails widen it by what lies on the form's diagonal.
    """
    n, rank = int(sizes.sum()), len(sizes) - 1
    diagonal = float(np.sum(sizes * (1 / sizes - 1 / n) ** 2))
    even = rank**2 / n
    variance = 2 * max(rank - even, 0.0) + kurtosis * max(diagonal - even, 0.0)
    return np.minimum((rank + notice(len(kurtosis)) * np.sqrt(variance)) / n, 1.0)


def _fourth_moment(blocks: Iterator[tuple[int, int, Any]], mean: np.ndarray) -> np.ndarray:
    """Sum over the samples of the fourth power of each feature's distance from its mean."""
    total = np.zeros(len(mean))
    for start, stop, block in blocks:
        if isinstance(block, np.ndarray):
            # Powers by products: the power function takes twenty times as long.
            block -= mean
            block *= block
            block[np.isnan(block)] = 0
            total += np.einsum("ik,ik->k", block, block)
            continue
        centre = mean[block.indices]
        extra = (block.data - centre) ** 4 - centre**4
        total += np.bincount(block.indices, extra, minlength=len(mean)) + (stop - start) * mean**4
    return total


def _blocks(X: Any, unit: float) -> Iterator[tuple[int, int, Any]]:
    """Start, stop and rows of each block over a unit, dense or CSR, in double precision."""
    n_samples, n_features = X.shape
    step = max(1, _CELLS_AT_ONCE // max(1, n_features))
    for start in range(0, n_samples, step):
        stop = min(start + step, n_samples)
        yield start, stop, divided(rows_between(X, start, stop), unit)


def rows_between(X: Any, start: int, stop: int) -> Any:
    """Some rows of the data in double precision, dense or CSR as they are."""
    if isinstance(X, MappedCSR):
        return X.rows(start, stop).astype(np.float64)
    if sp.issparse(X):
        matrix: Any = X
        return sp.csr_array(matrix[start:stop]).astype(np.float64)
    return np.array(X[start:stop], dtype=np.float64)
