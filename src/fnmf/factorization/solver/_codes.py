"""Codes of all rows for a basis that is known."""

import numpy as np

from fnmf.factorization.solver._pull import ExecutionContext
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.solver._sweeps import Sweeps
from fnmf.factorization.terms import RULES, Objective


def solve_codes(
    context: ExecutionContext,
    objective: Objective,
    factors: Factors,
    solver: str,
    held: np.ndarray | None = None,
    *,
    rounds: int,
    least: float,
) -> None:
    """Solve for V, given all else; ``held`` are codes of the anchors, if there are any.

    Codes at 0 could never leave it: they begin at ``least`` times the largest of their row.
    """
    sweeps, V = Sweeps(context, objective, RULES[solver]), factors.V
    if held is not None:
        kept = np.vstack([held, np.ones(V.shape[1])]).astype(V.dtype)
        if not sweeps.pull.restore(kept, V):
            raise ValueError(f"Codes of shape {held.shape} do not fit those of {len(V)} rows.")
    sweeps.solve_codes(factors, rounds, least)
