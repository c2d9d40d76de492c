"""The loop: sweeps over the data, small updates between them, and when to stop.

V and P belong to the samples and are updated while their rows are at hand; Θ and U belong to the
features and follow from the sums. The order of the blocks depends on the solver and is the one
that needs the fewest sweeps; the objective falls in any order.
"""

import numpy as np

from fnmf.solver._machine import Machine
from fnmf.solver._own import descent_iteration, multiplicative_iteration
from fnmf.solver._shared import shared_descent_iteration, shared_multiplicative_iteration
from fnmf.solver._state import HISTORY, TERMS, Factors, Observe, Progress, Result, Stopping
from fnmf.solver._sweeps import Sweeps
from fnmf.terms import RULES, Objective

# By whether the assignment is shared, and whether samples are updated in turn.
_ITERATIONS = {
    (False, False): multiplicative_iteration,
    (False, True): descent_iteration,
    (True, False): shared_multiplicative_iteration,
    (True, True): shared_descent_iteration,
}


def solve(
    machine: Machine,
    objective: Objective,
    factors: Factors,
    solver: str,
    stopping: Stopping,
    observe: Observe | None = None,
) -> Result:
    """Run until the objective and the codes have both settled, or ``max_iter`` is reached.

    The factors are updated in place. ``observe`` is called after every iteration and may end
    the run by returning true.
    """
    rule = RULES[solver]
    objective.kinds.check(rule)
    iterate = _ITERATIONS[objective.shared, rule.in_turn]
    sweeps = Sweeps(machine, objective, rule)
    rows: list[tuple[float, float, float, float]] = []
    converged = stopped = False
    sweeps.refresh_ties(factors.V)
    before = np.empty_like(factors.V)
    while len(rows) < stopping.max_iter and not (converged or stopped):
        np.copyto(before, factors.V)
        reconstruction, smoothness = iterate(sweeps, factors)
        diversity = objective.weighting.penalty(factors.weights)
        total = reconstruction + diversity + smoothness
        rows.append((total, reconstruction, diversity, smoothness))
        if len(rows) > stopping.min_iter:
            size = max(abs(rows[-2][0]), stopping.floor)
            change = abs(rows[-2][0] - total) / size if size > 0 else 0.0
            converged = _settled(change, before, factors.V, stopping)
        if observe is not None:
            terms = dict(zip(TERMS, rows[-1], strict=True))
            stopped = observe(Progress(len(rows), terms, factors))
    history = np.array(rows, dtype=HISTORY)
    return Result(factors, history, converged or stopped, float(history["total"][-1]))


def _settled(change: float, before: np.ndarray, after: np.ndarray, stopping: Stopping) -> bool:
    if change > stopping.tol:
        return False
    # The objective settles long before the codes do, and clusters may be read off the codes.
    most = stopping.codes * stopping.tol
    return bool(np.linalg.norm(after - before) <= most * np.linalg.norm(after))
