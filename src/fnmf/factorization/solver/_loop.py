"""The loop: sweeps over the data, small updates between them, and when to stop.

V and P belong to the samples and are updated while their rows are at hand; Θ and U belong to the
features and follow from the sums. The order of the blocks depends on the solver and is the one
that needs the fewest sweeps; the objective falls in any order.
"""

from collections.abc import Sequence

import numpy as np

from fnmf.factorization.solver._basis import gains_of, hessian_times, reconstruction, step_basis
from fnmf.factorization.solver._pull import ExecutionContext
from fnmf.factorization.solver._shared import (
    shared_descent_iteration,
    shared_multiplicative_iteration,
)
from fnmf.factorization.solver._state import (
    HISTORY,
    TERMS,
    Factors,
    Observe,
    Progress,
    Result,
    Snapshot,
    SolverCheckpoint,
    Stopping,
)
from fnmf.factorization.solver._sweeps import Given, Sweeps
from fnmf.factorization.terms import RULES, Objective


def multiplicative_iteration(sweeps: Sweeps, factors: Factors) -> tuple[float, float]:
    """V, U, P, Θ: one sweep for the codes and the basis, one for assignment and weights."""
    targets, grams = sweeps.codes(factors)
    _, smoothness = step_basis(sweeps, factors, targets, grams)
    sums = sweeps.assign(factors)
    weighting = sweeps.objective.weighting
    factors.weights = weighting.update(factors.weights, sums.energy, sums.cross)
    along = float(np.vdot(factors.weights, sums.cross))
    fitted = float(np.vdot(sweeps.hessians(factors), sums.grams))
    residual = reconstruction(weighting, factors, sums.energy, along, fitted)
    return residual + sums.priced, smoothness


def given_iteration(sweeps: Sweeps, factors: Factors) -> tuple[float, float]:
    """P, V, U, for weights that are given: nothing is needed between P and V, so one sweep."""
    found = sweeps.assign_and_step(factors)
    U, smoothness = step_basis(sweeps, factors, found.targets, found.grams)
    return _of_given(sweeps, factors, found, U), smoothness


def last_assignment(sweeps: Sweeps, factors: Factors) -> float:
    """P for the basis and codes that a run has ended with; returns the data term."""
    found = sweeps.assign_and_step(factors, keep=True)
    return _of_given(sweeps, factors, found, factors.U.astype(np.float64))


def _of_given(sweeps: Sweeps, factors: Factors, found: Given, U: np.ndarray) -> float:
    """The data term of a basis, from the sums of the sweep before it."""
    along = float(np.vdot(U, found.targets))
    fitted = float(np.vdot(U, hessian_times(U, found.grams, gains_of(sweeps, factors))))
    residual = reconstruction(sweeps.objective.weighting, factors, found.energy, along, fitted)
    return residual + found.priced


def descent_iteration(sweeps: Sweeps, factors: Factors) -> tuple[float, float]:
    """V, P, Θ, U: all codes first, then everything from the sums of one sweep."""
    sweeps.solve_codes(factors)
    sums = sweeps.assign(factors, crosses=True)
    weighting = sweeps.objective.weighting
    factors.weights = weighting.update(factors.weights, sums.energy, sums.cross)
    targets = np.einsum("jk,jkc->kc", factors.weights, sums.crosses)
    U, smoothness = step_basis(sweeps, factors, targets, sums.grams)
    along = float(np.vdot(U, targets))
    fitted = float(np.vdot(U, hessian_times(U, sums.grams, gains_of(sweeps, factors))))
    residual = reconstruction(weighting, factors, sums.energy, along, fitted)
    return residual + sums.priced, smoothness


# By whether the assignment is shared, and whether samples are updated in turn.
_ITERATIONS = {
    (False, False): multiplicative_iteration,
    (False, True): descent_iteration,
    (True, False): shared_multiplicative_iteration,
    (True, True): shared_descent_iteration,
}


def solve(
    context: ExecutionContext,
    objective: Objective,
    factors: Factors,
    solver: str,
    stopping: Stopping,
    observe: Observe | None = None,
    checkpoint: SolverCheckpoint | None = None,
) -> Result:
    """Run until the objective and the codes have both settled, or ``max_iter`` is reached.

    The factors are updated in place. ``observe`` is called after every iteration and may end
    the run by returning true. With a ``checkpoint`` the run goes on from where it was last.
    """
    rule = RULES[solver]
    objective.kinds.check(rule)
    iterate = _ITERATIONS[objective.shared, rule.in_turn]
    if iterate is multiplicative_iteration and not objective.weighting.learned:
        iterate = given_iteration
    sweeps = Sweeps(context, objective, rule)
    checkpoint = checkpoint or SolverCheckpoint()
    rows: list[tuple[float, float, float, float]] = []
    converged = ended = False
    if (snapshot := checkpoint.last()) is None:
        sweeps.refresh_ties(factors.V)
    else:
        _go_on(snapshot, sweeps, factors)
        rows = snapshot.history.tolist()
        converged, ended = bool(snapshot.converged), bool(snapshot.ended)
    while not ended:
        sweeps.follows = _nearly_settled(rows, stopping)
        context.expect(factors, objective.weighting.on_residual)
        reconstruction, smoothness = iterate(sweeps, factors)
        diversity = objective.weighting.penalty(factors.weights)
        total = reconstruction + diversity + smoothness
        rows.append((total, reconstruction, diversity, smoothness))
        if len(rows) > stopping.min_iter:
            # The objective settles long before the codes do, and clusters may be read off these.
            most = stopping.codes * stopping.tol
            converged = _change(rows, stopping) <= stopping.tol and sweeps.moved() <= most
        if observe is not None:
            terms = dict(zip(TERMS, rows[-1], strict=True))
            converged = observe(Progress(len(rows), terms, factors)) or converged
        ended = converged or len(rows) >= stopping.max_iter
        if ended or checkpoint.due():
            history, flags = np.array(rows, dtype=HISTORY), (converged, ended)
            now = factors.U, factors.V, factors.P, factors.weights, sweeps.pull.kept(), history
            checkpoint.write(Snapshot(*now, *(np.array(flag) for flag in flags)))
    if iterate is given_iteration:
        # Its iterations begin with P, and so the last one ends with that of the state before.
        _, _, diversity, smoothness = rows[-1]
        data = last_assignment(sweeps, factors)
        rows[-1] = (data + diversity + smoothness, data, diversity, smoothness)
    history = np.array(rows, dtype=HISTORY)
    return Result(factors, history, converged, float(history["total"][-1]))


def _change(rows: Sequence[Sequence[float]], stopping: Stopping) -> float:
    """How much the last iteration has changed the objective, relative to its size."""
    before, after = rows[-2][0], rows[-1][0]
    size = max(abs(before), stopping.floor)
    return abs(before - after) / size if size > 0 else 0.0


def _nearly_settled(rows: Sequence[Sequence[float]], stopping: Stopping) -> bool:
    """Whether it may be asked after the next iteration how far the codes have moved."""
    return len(rows) < 2 or _change(rows, stopping) <= stopping.nearly * stopping.tol


def _go_on(snapshot: Snapshot, sweeps: Sweeps, factors: Factors) -> None:
    """Put a run where it was; compiled code must see no array that does not fit."""
    for name in ("U", "V", "P", "weights"):
        own, kept = getattr(factors, name), getattr(snapshot, name)
        if kept.shape != own.shape or kept.dtype != own.dtype:
            raise ValueError(
                f"The checkpoint does not fit: {name} has shape {kept.shape} and type "
                f"{kept.dtype}, {own.shape} and {own.dtype} are needed; begin anew without it."
            )
        of_rows = not isinstance(own, np.ndarray)
        context = sweeps.context
        setattr(factors, name, context.runner.spread(kept, context.view) if of_rows else kept)
    fits = snapshot.history.dtype == HISTORY and len(snapshot.history)
    if not (fits and sweeps.pull.restore(snapshot.pull, factors.V)):
        raise ValueError("The checkpoint does not fit this run; begin anew without it.")
