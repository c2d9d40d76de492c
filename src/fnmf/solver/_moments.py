"""Sums over the data that a change of the feature weights needs, one sweep each."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.data import View
from fnmf.runners import Runner, add_up, concatenated
from fnmf.terms import Moments


def column_sums(view: View, runner: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Σ_i z_ik, and how many z_ik are positive."""
    sums, positive = add_up(runner.over(_sums_and_counts, view))
    return sums, positive


def row_lengths(view: View, runner: Runner) -> np.ndarray:
    """‖z_i‖."""
    return np.sqrt(concatenated(runner.over(row_squares, view)))


class ClusterSums(NamedTuple):
    """Sums of values and squares by cluster, (k, d), and of fourth powers over all, (d,)."""

    sums: np.ndarray
    squares: np.ndarray
    fourth: np.ndarray


def cluster_moments(
    view: View, labels: np.ndarray, n_clusters: int, mean: np.ndarray, runner: Runner
) -> Moments:
    """Counts, means and squares by cluster, and fourth moments, all about ``mean``."""
    found = cluster_sums(view, labels, n_clusters, mean, runner)
    counts = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    return Moments.from_sums(counts, mean, *found)


def cluster_sums(
    view: View, labels: np.ndarray, n_clusters: int, mean: np.ndarray, runner: Runner
) -> ClusterSums:
    """What moments are made of: sums about ``mean``, which add."""
    return add_up(runner.over(_ClusterWork(n_clusters, mean), view, labels))


@dataclass(frozen=True)
class _ClusterWork:
    n_clusters: int
    mean: np.ndarray

    def __call__(self, part: View, labels: np.ndarray) -> ClusterSums:
        return sums_by_cluster(_doubled(part), labels, self.n_clusters, self.mean)


def sums_by_cluster(Z: Any, labels: np.ndarray, n_clusters: int, mean: np.ndarray) -> ClusterSums:
    """Sums of rows about ``mean``, in the number type of the rows."""
    members = indicator(labels, n_clusters, Z.dtype)
    if isinstance(Z, np.ndarray):
        gaps = Z - mean
        powers = gaps * gaps
        fourth = np.einsum("ik,ik->k", powers, powers)
        return ClusterSums(members @ gaps, members @ powers, fourth)
    columns, pattern = Z.indices, (Z.indices, Z.indptr)
    gaps = Z.data - mean[columns]
    present, first, second = (
        (members @ sp.csr_array((values, *pattern), Z.shape)).toarray()
        for values in (np.ones_like(gaps), gaps, gaps**2)
    )
    # Entries that are not stored are zeros, and lie ``mean`` below the mean.
    absent = members.sum(axis=1)[:, None] - present
    fourth = np.bincount(columns, gaps**4, Z.shape[1])
    return ClusterSums(
        first - absent * mean,
        second + absent * mean**2,
        fourth + absent.sum(axis=0) * mean**4,
    )


def cluster_means(
    view: View, labels: np.ndarray, n_clusters: int, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """Means of the rows by cluster, (k, d), 0 for those without any, and how many there are."""
    sums = add_up(runner.over(_MeanWork(n_clusters), view, labels))[0]
    counts = np.bincount(labels, minlength=n_clusters)
    return sums / np.maximum(counts, 1)[:, None], counts


@dataclass(frozen=True)
class _MeanWork:
    n_clusters: int

    def __call__(self, part: View, labels: np.ndarray) -> tuple[np.ndarray]:
        Z = _doubled(part)
        sums = indicator(labels, self.n_clusters, Z.dtype) @ Z
        return (sums if isinstance(sums, np.ndarray) else sums.toarray(),)


def weighted_distances(
    view: View, centres: np.ndarray, labels: np.ndarray, weights: np.ndarray, runner: Runner
) -> np.ndarray:
    """Σ_k weights_jk (z_ik − centre_k)² for the centre of each sample's label, n x m."""
    return concatenated(runner.over(_DistanceWork(centres, weights), view, labels))


@dataclass(frozen=True)
class _DistanceWork:
    centres: np.ndarray
    weights: np.ndarray

    def __call__(self, part: View, own: np.ndarray) -> np.ndarray:
        Z, centres, weights = _doubled(part), self.centres, self.weights
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
    return part.row_energy(0, part.shape[0])


def _sums_and_counts(part: View) -> tuple[np.ndarray, np.ndarray]:
    Z = _doubled(part)
    return np.asarray(Z.sum(axis=0)).ravel(), np.asarray((Z > 0).sum(axis=0)).ravel()


def _doubled(part: View) -> Any:
    return part.double(0, part.shape[0])


def indicator(labels: np.ndarray, n_clusters: int, dtype: np.dtype) -> sp.csr_array:
    """Which rows belong to each cluster, (k, n)."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
    parts = np.ones(len(labels), dtype), order, np.concatenate([[0], ends])
    return sp.csr_array(parts, shape=(n_clusters, len(labels)))
