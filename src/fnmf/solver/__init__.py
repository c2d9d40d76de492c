"""The loop over sweeps, the solve of single rows, and the sums that schemes need between runs."""

from fnmf.solver._encode import RowModel, encode
from fnmf.solver._loop import solve
from fnmf.solver._machine import Machine
from fnmf.solver._moments import cluster_moments, column_sums, row_lengths, weighted_distances
from fnmf.solver._state import HISTORY, Factors, Observe, Progress, Result, Stopping

__all__ = [
    "HISTORY",
    "Factors",
    "Machine",
    "Observe",
    "Progress",
    "Result",
    "RowModel",
    "Stopping",
    "cluster_moments",
    "column_sums",
    "encode",
    "row_lengths",
    "solve",
    "weighted_distances",
]
