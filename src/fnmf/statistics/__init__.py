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
    row_squares,
    sums_by_cluster,
    sums_of,
    weighted_distances,
    weighted_sums_by_cluster,
)
