"""Sums over rows, moments by cluster, and what clusters look like in the data."""

from fnmf.statistics._clusters import (
    Statistics,
    cluster_statistics,
    notice,
    rows_between,
    standard_error,
    top_indices,
)
from fnmf.statistics._moments import CONSTANT, Moments
from fnmf.statistics._passes import (
    DistancesTo,
    cluster_means,
    cluster_moments,
    column_means,
    column_ranges,
    column_squares,
    column_sums,
    indicator,
    mean_square,
    rounded,
    row_squares,
    sums_by_cluster,
    sums_of,
    unit_scales,
    weighted_distances,
)

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
]
