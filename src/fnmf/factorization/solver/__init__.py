"""The loop over sweeps, and the solve of single rows."""

from fnmf.factorization.solver._basis import product, update_basis, update_layers
from fnmf.factorization.solver._codes import solve_codes
from fnmf.factorization.solver._encode import (
    Projected,
    RowModel,
    encode,
    exact_codes,
    solve_rows,
)
from fnmf.factorization.solver._loop import solve
from fnmf.factorization.solver._pull import (
    ExecutionContext,
    anchor_codes,
    ties_along,
    ties_of_rows,
)
from fnmf.factorization.solver._state import (
    HISTORY,
    Factors,
    Observe,
    Progress,
    Result,
    Snapshot,
    SolverCheckpoint,
    Stopping,
)
