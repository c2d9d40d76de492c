"""Sums over the data that a change of the feature weights needs, one sweep each."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from fnmf.data import IncompleteView, View
from fnmf.execution import BlockSource, RowArray, Runner, add_up, parts_of
from fnmf.kernels.csr import sums_of_entries
from fnmf.kernels.rescale import ClusterSums, Rescaled, row_distances, rows_of
from fnmf.kernels.rescale import cluster_sums as dense_sums
from fnmf.kernels.rescale import column_sums as dense_columns

# A feature whose scatter is below this share of its energy is constant up to rounding.
CONSTANT = 1e-8


@dataclass(frozen=True)
class Moments:
    """What a refresh knows of the data, all in the units of the last round.

    Attributes
    ----------
    counts : ndarray of shape (c,)
        Samples of each cluster.
    shifts, within : ndarray of shape (c, d)
        Cluster means about the mean, and squares about the cluster means.
    total, kurtosis : ndarray of shape (d,)
        Squares about the mean, and excess kurtosis, at least 0.
    live : ndarray of bool, shape (d,)
        Features that vary.
    cells : ndarray of shape (c, d) or None
        Observed cells of each cluster and feature; ``None`` if no cell is missing.
    """

    counts: np.ndarray
    shifts: np.ndarray
    within: np.ndarray
    total: np.ndarray
    kurtosis: np.ndarray
    live: np.ndarray
    cells: np.ndarray | None = None

    @classmethod
    def from_sums(
        cls,
        counts: np.ndarray,
        mean: np.ndarray,
        sums: np.ndarray,
        squares: np.ndarray,
        fourth: np.ndarray,
        cells: np.ndarray | None = None,
    ) -> Self:
        """From sums of first and second powers by cluster and of fourth ones, about ``mean``."""
        each = counts[:, None] if cells is None else cells
        n = counts.sum() if cells is None else cells.sum(axis=0)
        shifts = sums / np.where(each > 0, each, 1)
        within = np.maximum(squares - each * shifts**2, 0)
        total = squares.sum(axis=0)
        live = total > CONSTANT * (total + n * mean**2)
        excess = n * fourth / np.where(live, total, 1) ** 2 - 3
        kurtosis = np.where(live, np.maximum(excess, 0), 0)
        return cls(counts, shifts, within, total, kurtosis, live, cells)

    @property
    def fourth(self) -> np.ndarray:
        """Fourth powers about the mean, as far as kurtosis keeps them, (d,)."""
        n = self.counts.sum() if self.cells is None else np.maximum(self.cells.sum(axis=0), 1)
        return (self.kurtosis + 3) * self.total**2 / n

    @property
    def between(self) -> np.ndarray:
        """Squares of the cluster means about the mean, (c, d)."""
        return (self.counts[:, None] if self.cells is None else self.cells) * self.shifts**2


def indicator(
    labels: np.ndarray, n_clusters: int, dtype: np.dtype, weights: np.ndarray | None = None
) -> sp.csr_array:
    """Which rows belong to each cluster, and as how many they count, (k, n)."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
    each = np.ones(len(labels), dtype) if weights is None else weights[order].astype(dtype)
    parts = each, order, np.concatenate([[0], ends])
    return sp.csr_array(parts, shape=(n_clusters, len(labels)))


def column_sums(view: View, runner: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Σ_i z_ik, and how many z_ik are positive."""
    sums, positive = add_up(runner.over(_sums_and_counts, view))
    return sums, positive


def column_ranges(view: View, runner: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each feature."""
    lows, highs = zip(*runner.over(_extremes, view), strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _extremes(part: View) -> tuple[np.ndarray, np.ndarray]:
    rows = part.rows(0, part.shape[0])
    if part.sparse:
        return rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
    return rows.min(axis=0), rows.max(axis=0)


def column_means(view: View, runner: Runner) -> np.ndarray:
    """Mean of z_ik over the samples, or over those in which feature k is not missing."""
    if not view.incomplete:
        return column_sums(view, runner)[0] / view.total
    sums, cells = add_up(runner.over(sums_and_cells, view))
    return sums / np.where(cells > 0, cells, 1)


def mean_square(view: View, runner: Runner) -> float:
    """Mean of ‖z_i‖²."""
    (total,) = add_up(runner.over(_all_squares, view))
    return float(total) / view.total


def cluster_moments(
    view: View, labels: RowArray, n_clusters: int, mean: np.ndarray, runner: Runner
) -> Moments:
    """Counts, means and squares by cluster, and fourth moments, all about ``mean``."""
    work = partial(_sums_about, n_clusters, mean)
    if view.incomplete:
        counts, cells, sums, squares, fourth = add_up(runner.over(work, view, labels))
        return Moments.from_sums(counts, mean, sums, squares, fourth, cells)
    counts, *found = add_up(runner.over(work, view, labels))
    return Moments.from_sums(counts, mean, *found)


def _sums_about(k: int, mean: np.ndarray, part: View, labels: np.ndarray) -> tuple[np.ndarray, ...]:
    if isinstance(part, IncompleteView):
        return observed_sums(part, labels, k, mean)
    if part.weights is not None:
        rows = part.double(0, part.shape[0])
        weighted = weighted_sums_by_cluster(rows, labels, k, mean, part.weights)
        return np.bincount(labels, part.weights, k), *weighted
    rows = part.double(0, part.shape[0]) if part.sparse else rows_of(part)
    return np.bincount(labels, minlength=k), *sums_by_cluster(rows, labels, k, mean)


def sums_by_cluster(
    rows: Any, labels: np.ndarray, n_clusters: int, mean: np.ndarray
) -> ClusterSums:
    """Sums of rows about ``mean``: dense ones, as ``rows_of`` gives them, or CSR in doubles."""
    if isinstance(rows, Rescaled):
        return ClusterSums(*dense_sums(rows, labels, mean, n_clusters))
    entries = rows.indptr, rows.indices, rows.data
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
    if view.incomplete:
        found = cluster_moments(view, labels, n_clusters, np.zeros(view.shape[1]), runner)
        return _known_means(found, column_means(view, runner)), found.counts
    sums, counts = add_up(runner.over(partial(_sums_and_sizes, n_clusters), view, labels))
    return sums / np.where(counts > 0, counts, 1)[:, None], counts


def _known_means(found: Moments, mean: np.ndarray) -> np.ndarray:
    """Means of clusters from sums about 0; that of all where a cluster has no cell."""
    assert found.cells is not None
    return np.where(found.cells > 0, found.shifts, mean)


def _sums_and_sizes(k: int, part: View, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    counts, zero = np.bincount(labels, part.weights, k), np.zeros(part.shape[1])
    if part.weights is not None:
        rows = part.double(0, part.shape[0])
        return weighted_sums_by_cluster(rows, labels, k, zero, part.weights).sums, counts
    if not part.sparse:
        return sums_by_cluster(rows_of(part), labels, k, zero).sums, counts
    rows = part.double(0, part.shape[0])
    return (indicator(labels, k, rows.dtype) @ rows).toarray(), counts


def weighted_distances(
    view: View, centre: np.ndarray, weights: np.ndarray, runner: Runner, dtype: Any = np.float64
) -> RowArray:
    """Σ_k weights_jk (z_ik − centre_k)² for each sample, n x m."""
    to_centre = partial(DistancesTo(centre[None], weights), labels=np.empty(0, np.int64))
    return runner.map_rows(to_centre, parts_of(view), (), (len(weights),), dtype)


@dataclass(frozen=True)
class DistancesTo:
    """Weighted squares of the rows of a block about the centres of their labels, or one, (n, m)."""

    centres: np.ndarray
    weights: np.ndarray

    def __call__(self, part: View, labels: np.ndarray) -> np.ndarray:
        centres, weights = self.centres, self.weights
        if not part.sparse:
            return row_distances(rows_of(part), centres, labels, weights)
        Z = part.double(0, part.shape[0])
        own = labels if len(centres) > 1 else np.zeros(part.shape[0], np.intp)
        energy = Z.multiply(Z) @ weights.T
        basis = (weights[:, None, :] * centres).reshape(-1, Z.shape[1])
        cross = (Z @ basis.T).reshape(len(own), len(weights), len(centres))
        level = (centres**2 @ weights.T)[own]
        distances = energy - 2 * np.take_along_axis(cross, own[:, None, None], 2)[:, :, 0] + level
        return np.maximum(distances, 0)


def column_squares(part: View) -> np.ndarray:
    """Σ_i z_ik² over all rows."""
    if part.sparse:
        values, indices, _ = part.block(0, part.shape[0])
        return np.bincount(indices, values.astype(np.float64) ** 2, part.shape[1])
    return dense_columns(rows_of(part))[1]


def _sums_and_counts(part: View) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(part, IncompleteView):
        rows = np.nan_to_num(part.with_gaps(0, part.shape[0]).astype(np.float64))
        return _down(part.weights, rows), _down(part.weights, rows > 0)
    if part.weights is not None:
        Z = part.double(0, part.shape[0])
        return part.weights @ Z, part.weights @ (Z > 0)
    if not part.sparse:
        values, _, positive = dense_columns(rows_of(part))
        return values, positive
    Z = part.double(0, part.shape[0])
    return np.asarray(Z.sum(axis=0)).ravel(), np.asarray((Z > 0).sum(axis=0)).ravel()


def _down(weights: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    """Sums of columns, rows as they count."""
    return values.sum(axis=0) if weights is None else weights @ values


def _all_squares(part: View) -> tuple[np.ndarray]:
    if part.weights is not None:
        return (np.asarray(part.weights @ row_squares(part)),)
    return (np.asarray(column_squares(part).sum()),)


def rounded(values: np.ndarray) -> np.ndarray:
    """To the digits that do not depend on how the data are stored, and so on the order of sums.

    Where rows repeat themselves, as documents do, the last digit decides which of several
    neighbours at one distance is taken.
    """
    rough = np.frexp(values)
    return np.ldexp(np.round(rough[0] * 2.0**24) / 2.0**24, rough[1])


def sums_of(rows: RowArray, view: View, runner: Runner, *, squared: bool = False) -> np.ndarray:
    """Sums of the columns over all rows as they count, or of their squares."""
    given = (rows,) if view.weights is None else (rows, view.weights)
    return runner.sum_rows(partial(_sums, squared), BlockSource(view), *given)[0]


def _sums(squared: bool, rows: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray]:
    own = rows.astype(np.float64)
    return (_down(weights, own * own if squared else own),)


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
