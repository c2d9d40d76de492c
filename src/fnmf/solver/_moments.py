"""Sums over the data that a change of the feature weights needs, one sweep each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.backends.csr import sums_of_entries
from fnmf.data import View
from fnmf.runners import Feed, RowArray, Rows, Runner, add_up, parts_of
from fnmf.terms import Moments


def column_sums(view: View, runner: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Σ_i z_ik, and how many z_ik are positive."""
    sums, positive = add_up(runner.over(_sums_and_counts, view))
    return sums, positive


def mean_square(view: View, runner: Runner) -> float:
    """Mean of ‖z_i‖²."""
    (total,) = add_up(runner.over(_all_squares, view))
    return float(total) / view.shape[0]


def counts_of(labels: RowArray, n_clusters: int, view: View, runner: Runner) -> np.ndarray:
    """How many rows each cluster has."""
    return runner.sweep(_CountWork(n_clusters), Feed(view), (labels,))[0]


@dataclass(frozen=True)
class _CountWork:
    fills: ClassVar = ()
    n_clusters: int

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        return rows, (np.bincount(rows[0], minlength=self.n_clusters),)


class ClusterSums(NamedTuple):
    """Sums of values and squares by cluster, (k, d), and of fourth powers over all, (d,)."""

    sums: np.ndarray
    squares: np.ndarray
    fourth: np.ndarray


def cluster_moments(
    view: View, labels: RowArray, n_clusters: int, mean: np.ndarray, runner: Runner
) -> Moments:
    """Counts, means and squares by cluster, and fourth moments, all about ``mean``."""
    work = _ClusterWork(n_clusters, mean)
    counts, *found = add_up(runner.over(work, view, labels))
    return Moments.from_sums(counts, mean, *found)


@dataclass(frozen=True)
class _ClusterWork:
    n_clusters: int
    mean: np.ndarray

    def __call__(self, part: View, labels: np.ndarray) -> tuple[np.ndarray, ...]:
        k = self.n_clusters
        found = (sums_by_cluster(Z, labels[own], k, self.mean) for own, Z in _doubled(part))
        return np.bincount(labels, minlength=k), *add_up(found)


def sums_by_cluster(Z: Any, labels: np.ndarray, n_clusters: int, mean: np.ndarray) -> ClusterSums:
    """Sums of rows about ``mean``, in the number type of the rows."""
    if isinstance(Z, np.ndarray):
        members = indicator(labels, n_clusters, Z.dtype)
        gaps = Z - mean
        powers = gaps * gaps
        fourth = np.einsum("ik,ik->k", powers, powers)
        return ClusterSums(members @ gaps, members @ powers, fourth)
    entries = Z.indptr, Z.indices, Z.data
    (present, first, second), fourth = sums_of_entries(*entries, labels, mean, n_clusters)
    # Entries that are not stored are zeros, and lie ``mean`` below the mean.
    absent = np.bincount(labels, minlength=n_clusters)[:, None] - present
    return ClusterSums(
        first - absent * mean,
        second + absent * mean**2,
        fourth + absent.sum(axis=0) * mean**4,
    )


def cluster_means(
    view: View, labels: RowArray, n_clusters: int, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """Means of the rows by cluster, (k, d), 0 for those without any, and how many there are."""
    sums, counts = add_up(runner.over(_MeanWork(n_clusters), view, labels))
    return sums / np.maximum(counts, 1)[:, None], counts


@dataclass(frozen=True)
class _MeanWork:
    n_clusters: int

    def __call__(self, part: View, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (sums,) = add_up((self._sums(Z, labels[own]),) for own, Z in _doubled(part))
        return sums, np.bincount(labels, minlength=self.n_clusters)

    def _sums(self, Z: Any, labels: np.ndarray) -> np.ndarray:
        sums = indicator(labels, self.n_clusters, Z.dtype) @ Z
        return sums if isinstance(sums, np.ndarray) else sums.toarray()


def weighted_distances(
    view: View,
    centres: np.ndarray,
    labels: RowArray,
    weights: np.ndarray,
    runner: Runner,
    dtype: Any = np.float64,
) -> RowArray:
    """Σ_k weights_jk (z_ik − centre_k)² for the centre of each sample's label, n x m.

    Where there is but one centre nobody asks for labels.
    """
    distances = runner.empty(view, (len(weights),), dtype)
    work = _DistanceWork(DistancesTo(centres, weights))
    runner.sweep(work, parts_of(view), (distances, labels))
    return distances


@dataclass(frozen=True)
class _DistanceWork:
    fills: ClassVar = (0,)
    to: "DistancesTo"

    def __call__(self, block: tuple[View], rows: Rows) -> tuple[Rows, tuple[()]]:
        (part,), (distances, labels) = block, rows
        for own, found in self.to(part, labels):
            distances[own] = found
        return rows, ()


@dataclass(frozen=True)
class DistancesTo:
    """Weighted squares of rows about centres; called with a block, gives a few rows at a time."""

    centres: np.ndarray
    weights: np.ndarray

    def __call__(self, part: View, labels: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        labels = labels if len(self.centres) > 1 else np.zeros(part.shape[0], np.intp)
        return ((own, self._distances(Z, labels[own])) for own, Z in _doubled(part))

    def _distances(self, Z: Any, own: np.ndarray) -> np.ndarray:
        centres, weights = self.centres, self.weights
        if isinstance(Z, np.ndarray):
            Z -= centres[own]
            return np.square(Z, out=Z) @ weights.T
        energy = Z.multiply(Z) @ weights.T
        basis = (weights[:, None, :] * centres).reshape(-1, Z.shape[1])
        cross = (Z @ basis.T).reshape(len(own), len(weights), len(centres))
        level = (centres**2 @ weights.T)[own]
        distances = energy - 2 * np.take_along_axis(cross, own[:, None, None], 2)[:, :, 0] + level
        return np.maximum(distances, 0)


def row_squares(part: View) -> np.ndarray:
    """‖z_i‖² of all rows."""
    return np.concatenate([np.empty(0), *(part.row_energy(*span) for span in part.few())])


def _sums_and_counts(part: View) -> tuple[np.ndarray, np.ndarray]:
    return add_up(
        (np.asarray(Z.sum(axis=0)).ravel(), np.asarray((Z > 0).sum(axis=0)).ravel())
        for _, Z in _doubled(part)
    )


def _all_squares(part: View) -> tuple[np.ndarray]:
    return (np.asarray(row_squares(part).sum()),)


def _doubled(part: View) -> Iterator[tuple[slice, Any]]:
    """Rows of a block in double precision, a few at a time, and which they are."""
    for start, stop in part.few():
        yield slice(start, stop), part.double(start, stop)


def indicator(labels: np.ndarray, n_clusters: int, dtype: np.dtype) -> sp.csr_array:
    """Which rows belong to each cluster, (k, n)."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
    parts = np.ones(len(labels), dtype), order, np.concatenate([[0], ends])
    return sp.csr_array(parts, shape=(n_clusters, len(labels)))
