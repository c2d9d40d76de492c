"""The loop over sweeps, the solve of single rows, and the sums that schemes need between runs."""

from fnmf.solver._basis import update_basis
from fnmf.solver._codes import solve_codes
from fnmf.solver._encode import Encoded, Projected, RowModel, encode, solve_rows
from fnmf.solver._loop import solve
from fnmf.solver._machine import Machine
from fnmf.solver._moments import (
    DistancesTo,
    cluster_means,
    cluster_moments,
    column_squares,
    column_sums,
    counts_of,
    indicator,
    mean_square,
    row_squares,
    sums_by_cluster,
    weighted_distances,
)
from fnmf.solver._state import (
    HISTORY,
    Factors,
    Journal,
    Observe,
    Progress,
    Result,
    Snapshot,
    Stopping,
    Unwritten,
)

__all__ = [
    "HISTORY",
    "DistancesTo",
    "Encoded",
    "Factors",
    "Journal",
    "Machine",
    "Observe",
    "Progress",
    "Projected",
    "Result",
    "RowModel",
    "Snapshot",
    "Stopping",
    "Unwritten",
    "cluster_means",
    "cluster_moments",
    "column_squares",
    "column_sums",
    "counts_of",
    "encode",
    "indicator",
    "mean_square",
    "row_squares",
    "solve",
    "solve_codes",
    "solve_rows",
    "sums_by_cluster",
    "update_basis",
    "weighted_distances",
]
