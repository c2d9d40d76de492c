"""Sums over rows that do not all count once, or lack cells."""

from typing import Any

import numpy as np

from fnmf.data import IncompleteView, View
from fnmf.kernels.passes import ClusterSums, row_distances, rows_of
from fnmf.statistics._passes import indicator


def sums_and_cells(part: IncompleteView) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the observed cells of each feature, and how many there are."""
    _, cells, sums, _, _ = observed_sums(
        part, np.zeros(part.shape[0], np.int64), 1, np.zeros(part.shape[1])
    )
    return sums[0], cells[0]


def observed_sums(
    part: IncompleteView, labels: np.ndarray, n_clusters: int, mean: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Samples by cluster; observed cells, sums and squares about ``mean``; fourth powers."""
    size = n_clusters, part.shape[1]
    cells, sums, squares, fourth = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size[1])
    for start, stop in part.few():
        own = None if part.weights is None else part.weights[start:stop]
        members = indicator(labels[start:stop], n_clusters, np.dtype(np.float64), own)
        gaps = part.with_gaps(start, stop).astype(np.float64) - mean
        observed = ~np.isnan(gaps)
        gaps = np.where(observed, gaps, 0)
        cells += members @ observed
        sums += members @ gaps
        np.square(gaps, out=gaps)
        squares += members @ gaps
        if own is None:
            fourth += np.einsum("ik,ik->k", gaps, gaps)
        else:
            fourth += own @ gaps**2
    return np.bincount(labels, part.weights, n_clusters), cells, sums, squares, fourth


def weighted_sums_by_cluster(
    rows: Any, labels: np.ndarray, n_clusters: int, mean: np.ndarray, weights: np.ndarray
) -> ClusterSums:
    """Sums about ``mean`` of rows that do not all count once, dense or CSR in doubles."""
    members = indicator(labels, n_clusters, np.dtype(np.float64), weights)
    if isinstance(rows, np.ndarray):
        gaps = rows - mean
        squares = gaps**2
        return ClusterSums(members @ gaps, members @ squares, weights @ squares**2)
    present = rows.copy()
    present.data[:] = 1
    gaps = rows.copy()
    gaps.data -= mean[rows.indices]
    squares = gaps.power(2)
    counts = np.bincount(labels, weights, n_clusters)
    absent = counts[:, None] - (members @ present).toarray()
    return ClusterSums(
        (members @ gaps).toarray() - absent * mean,
        (members @ squares).toarray() + absent * mean**2,
        weights @ squares.power(2) + absent.sum(axis=0) * mean**4,
    )


def row_squares(part: View) -> np.ndarray:
    """‖z_i‖² of all rows."""
    n, d = part.shape
    if part.sparse:
        values, _, pointers = part.block(0, n)
        sums = np.concatenate([[0.0], np.cumsum(values.astype(np.float64) ** 2)])
        return np.diff(sums[pointers - pointers[0]])
    centre, ones = np.zeros((1, d)), np.ones((1, d))
    return row_distances(rows_of(part), centre, np.empty(0, np.int64), ones)[:, 0]
