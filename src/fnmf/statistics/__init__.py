"""Sums over rows, moments by cluster, and what clusters look like in the data."""

from fnmf.statistics._clusters import (
    Statistics,
    cluster_statistics,
    notice,
    rows_between,
    standard_error,
    top_indices,
)
from fnmf.statistics._lengths import unit_scales
from fnmf.statistics._passes import (
    CONSTANT,
    DistancesTo,
    Moments,
    cluster_means,
    cluster_moments,
    column_means,
    column_ranges,
    column_squares,
    column_sums,
    indicator,
    mean_square,
    rounded,
    sums_by_cluster,
    sums_of,
    weighted_distances,
)
from fnmf.statistics._uneven import row_squares, weighted_sums_by_cluster

__all__ = [
    "CONSTANT",
    "DistancesTo",
    "Moments",
    "Statistics",
    "cluster_means",
    "cluster_moments",
    "cluster_statistics",
    "column_means",
    "column_ranges",
    "column_squares",
    "column_sums",
    "indicator",
    "mean_square",
    "notice",
    "rounded",
    "row_squares",
    "rows_between",
    "standard_error",
    "sums_by_cluster",
    "sums_of",
    "top_indices",
    "unit_scales",
    "weighted_distances",
    "weighted_sums_by_cluster",
]
