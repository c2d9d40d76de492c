"""Sums over the data that a change of the feature weights needs, one sweep each."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.data import View
from fnmf.runners import Runner, add_up, concatenated
from fnmf.terms import Moments


def column_sums(view: View, runner: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Σ_i z_ik, and how many z_ik are positive."""

    def task(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        Z = view.double(start, stop)
        return np.asarray(Z.sum(axis=0)).ravel(), np.asarray((Z > 0).sum(axis=0)).ravel()

    sums, positive = add_up(runner.each(task, view.blocks()))
    return sums, positive


def row_lengths(view: View, runner: Runner) -> np.ndarray:
    """‖z_i‖."""
    return np.sqrt(concatenated(runner.each(view.row_energy, view.blocks())))


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

    def task(start: int, stop: int) -> ClusterSums:
        members = _indicator(labels[start:stop], n_clusters)
        Z = view.double(start, stop)
        if isinstance(Z, np.ndarray):
            Z -= mean
            powers = Z * Z
            fourth = np.einsum("ik,ik->k", powers, powers)
            return ClusterSums(members @ Z, members @ powers, fourth)
        columns, counts = Z.indices, members.sum(axis=1)[:, None]
        Z.data -= mean[columns]
        squares = sp.csr_array((Z.data**2, columns, Z.indptr), Z.shape)
        present = sp.csr_array((np.ones_like(Z.data), columns, Z.indptr), Z.shape)
        # Entries that are not stored are zeros, and lie ``mean`` below the mean.
        absent = counts - (members @ present).toarray()
        fourth = np.bincount(columns, Z.data**4, Z.shape[1])
        return ClusterSums(
            (members @ Z).toarray() - absent * mean,
            (members @ squares).toarray() + absent * mean**2,
            fourth + absent.sum(axis=0) * mean**4,
        )

    return add_up(runner.each(task, view.blocks()))


def weighted_distances(
    view: View, centres: np.ndarray, labels: np.ndarray, weights: np.ndarray, runner: Runner
) -> np.ndarray:
    """Σ_k weights_jk (z_ik − centre_k)² for the centre of each sample's label, n x m."""

    def task(start: int, stop: int) -> np.ndarray:
        Z, own = view.double(start, stop), labels[start:stop]
        if isinstance(Z, np.ndarray):
            Z -= centres[own]
            return np.square(Z, out=Z) @ weights.T
        energy = Z.multiply(Z) @ weights.T
        basis = (weights[:, None, :] * centres).reshape(-1, Z.shape[1])
        cross = (Z @ basis.T).reshape(len(own), len(weights), len(centres))
        level = (centres**2 @ weights.T)[own]
        distances = energy - 2 * np.take_along_axis(cross, own[:, None, None], 2)[:, :, 0] + level
        return np.maximum(distances, 0)

    return concatenated(runner.each(task, view.blocks()))


def _indicator(labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    rows = np.arange(len(labels))
    return sp.csr_array((np.ones(len(labels)), (labels, rows)), shape=(n_clusters, len(labels)))
