"""The loop: sweeps over the data, small updates between them, and when to stop.

V and P belong to the samples and are updated while their rows are at hand; Θ and U belong to the
features and follow from the sums. The order of the blocks depends on the solver and is the one
that needs the fewest sweeps; the objective falls in any order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fnmf.engine.sweeps import SharedSums, Sweeps
from fnmf.model.basis import hessian_times, update_basis
from fnmf.model.weighting import Weighting

TERMS = ("total", "reconstruction", "diversity", "smoothness")
HISTORY = np.dtype([(term, np.float64) for term in TERMS])


@dataclass
class Factors:
    """The unknowns. With shared assignment P has a single row."""

    U: np.ndarray
    V: np.ndarray
    P: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Options:
    """What is minimised, and how."""

    weighting: Weighting
    shared: bool
    smoothness: float = 0.0
    robust: bool = False
    solver: str = "mu"
    normalize: bool = False
    max_iter: int = 300
    min_iter: int = 1
    tol: float = 1e-4
    floor: float = 0.0
    prices: np.ndarray | None = None

    # normalize: the graph term is β Σ_a ‖u_a‖² v_aᵀ L v_a, which no rescaling of a component
    # changes, so the objective falls although the columns of U are set to unit length.
    # floor: a smaller objective counts as this one when changes are compared with it, so that a
    # nearly exact fit settles too.
    # prices: constants of shape (n, m) added to the residuals that decide the assignment.


class Progress(NamedTuple):
    """What an observer sees after each iteration."""

    iteration: int
    terms: dict[str, float]
    factors: Factors


@dataclass
class Result:
    """Where a run ended."""

    factors: Factors
    history: np.ndarray
    converged: bool
    objective: float

    @property
    def n_iter(self) -> int:
        return len(self.history)


def solve(
    sweeps: Sweeps,
    factors: Factors,
    options: Options,
    observe: Callable[[Progress], bool] | None = None,
) -> Result:
    """Run until the objective and the codes have both settled, or ``max_iter`` is reached.

    ``observe`` is called after every iteration and may end the run by returning true.
    """
    rows: list[tuple[float, float, float, float]] = []
    converged = stopped = False
    sweeps.refresh_graph(factors.V)
    before = np.empty_like(factors.V)
    while len(rows) < options.max_iter and not (converged or stopped):
        np.copyto(before, factors.V)
        rows.append(_iterate(sweeps, factors, options))
        if len(rows) > options.min_iter:
            size = max(abs(rows[-2][0]), options.floor)
            change = abs(rows[-2][0] - rows[-1][0]) / size if size > 0 else 0.0
            converged = _settled(change, before, factors.V, options.tol)
        if observe is not None:
            terms = dict(zip(TERMS, rows[-1], strict=True))
            stopped = observe(Progress(len(rows), terms, factors))
    history = np.array(rows, dtype=HISTORY)
    return Result(factors, history, converged or stopped, float(history["total"][-1]))


def _settled(change: float, before: np.ndarray, after: np.ndarray, tol: float) -> bool:
    if change > tol:
        return False
    # The objective settles long before the codes do, and the clusters are read off the codes.
    return bool(np.linalg.norm(after - before) <= _CODES_SLACK * tol * np.linalg.norm(after))


# Codes may still move this many times the relative change allowed to the objective.
_CODES_SLACK = 10.0


def _iterate(
    sweeps: Sweeps, factors: Factors, options: Options
) -> tuple[float, float, float, float]:
    """Every block once; returns the terms of the objective afterwards."""
    if options.shared:
        reconstruction, smoothness = _shared_iteration(sweeps, factors, options)
    elif options.solver == "hals":
        reconstruction, smoothness = _descent_iteration(sweeps, factors, options)
    else:
        reconstruction, smoothness = _multiplicative_iteration(sweeps, factors, options)
    diversity = options.weighting.penalty(factors.weights)
    return reconstruction + diversity + smoothness, reconstruction, diversity, smoothness


def _multiplicative_iteration(
    sweeps: Sweeps, factors: Factors, options: Options
) -> tuple[float, float]:
    """V, U, P, Θ: one sweep for the codes and the basis, one for assignment and weights."""
    targets, grams = sweeps.codes(factors, options)
    _, smoothness = _step_basis(sweeps, factors, targets, grams, options)
    sums = sweeps.assign(factors, options)
    factors.weights = options.weighting.update(factors.weights, sums.energy, sums.cross)
    along = float(np.vdot(factors.weights, sums.cross))
    fitted = float(np.vdot(sweeps.hessians(factors, options), sums.grams))
    return _reconstruction(factors, sums.energy, along, fitted, options), smoothness


def _descent_iteration(sweeps: Sweeps, factors: Factors, options: Options) -> tuple[float, float]:
    """V, P, Θ, U: all codes first, then everything from the sums of one sweep."""
    sweeps.solve_codes(factors, options)
    sums = sweeps.assign(factors, options, crosses=True)
    factors.weights = options.weighting.update(factors.weights, sums.energy, sums.cross)
    targets = np.einsum("jk,jkc->kc", factors.weights, sums.crosses)
    U, smoothness = _step_basis(sweeps, factors, targets, sums.grams, options)
    along = float(np.vdot(U, targets))
    fitted = float(np.vdot(U, hessian_times(U, sums.grams, _gains(factors, options))))
    return _reconstruction(factors, sums.energy, along, fitted, options), smoothness


def _shared_iteration(sweeps: Sweeps, factors: Factors, options: Options) -> tuple[float, float]:
    """V, Θ, P, U: with one assignment for all samples a single sweep gives all sums."""
    if options.solver == "hals":
        sweeps.solve_codes(factors, options)
    sums = sweeps.shared(factors, options)
    energy = _squares(factors)[:, None] * sums.column_energy
    factors.weights = options.weighting.update(factors.weights, energy, sums.cross)
    if factors.P.shape[1] > 1:
        _assign_shared(factors, sums, options)
    squares = _squares(factors)
    grams = squares[:, None, None] * sums.codes_gram
    targets = sweeps.effective_weights(factors)[:, None] * sums.codes_cross
    U, smoothness = _step_basis(sweeps, factors, targets, grams, options)
    if options.robust:
        return sums.loss, smoothness
    energy = squares[:, None] * sums.column_energy
    along = float(np.vdot(U, targets))
    fitted = float(np.vdot(U, hessian_times(U, grams, _gains(factors, options))))
    return _reconstruction(factors, energy, along, fitted, options), smoothness


def _squares(factors: Factors) -> np.ndarray:
    """p_j² of the assignment that all samples share."""
    return factors.P[0].astype(np.float64) ** 2


def _step_basis(
    sweeps: Sweeps, factors: Factors, targets: np.ndarray, grams: np.ndarray, options: Options
) -> tuple[np.ndarray, float]:
    """Update U and rescale; returns U before the rescaling, and the graph term after it."""
    gains = _gains(factors, options)
    roughness = options.smoothness * sweeps.refresh_graph(factors.V)
    step = _with_graph(grams, gains, roughness) if options.normalize else (grams, gains)
    U = update_basis(factors.U, targets, *step, options.solver)
    factors.U = U.astype(factors.V.dtype)
    if options.normalize:
        norms = _norms(U, gains)
        factors.U = (U / norms).astype(factors.V.dtype)
        roughness = roughness * norms**2
        sweeps.rescale(factors.V, norms)
    return U, float(roughness.sum())


def _gains(factors: Factors, options: Options) -> np.ndarray | None:
    """How much the Gram matrix of each weighting counts for each feature; ``None``: fully."""
    return factors.weights if options.weighting.on_residual else None


def _with_graph(
    grams: np.ndarray, gains: np.ndarray | None, roughness: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """The scale-free graph term is quadratic in U too: it counts like one more weighting."""
    grams = np.concatenate([grams, np.diag(roughness)[None]])
    if gains is not None:
        gains = np.concatenate([gains, gains.max(axis=0, keepdims=True)])
    return grams, gains


def _norms(U: np.ndarray, gains: np.ndarray | None) -> np.ndarray:
    """Lengths of the columns of U, in the units of the most used features."""
    weights = 1.0 if gains is None else gains.max(axis=0)[:, None]
    norms = np.sqrt(np.sum(weights * U * U, axis=0))
    return np.where(norms > 0, norms, 1.0)


def _assign_shared(factors: Factors, sums: SharedSums, options: Options) -> None:
    """p_j from the residuals summed over all samples, as the article prints it."""
    weights = factors.weights
    U = factors.U.astype(np.float64)
    along = np.sum(U * sums.codes_cross, axis=1)
    fitted = np.sum(U * (U @ sums.codes_gram), axis=1)
    if options.weighting.on_residual:
        energy = weights @ sums.column_energy
        q = energy - 2 * weights @ along + weights @ fitted
    else:
        energy = weights**2 @ sums.column_energy
        q = energy - 2 * weights @ along + fitted.sum()
    # The terms cancel: below this level the difference is rounding.
    q = np.maximum(q, 4 * np.finfo(np.float64).eps * energy)
    if options.prices is not None:
        q += options.prices.sum(axis=0)
    share = q.min() / q if q.min() > 0 else (q == 0).astype(np.float64)
    factors.P = (share / share.sum())[None].astype(factors.P.dtype)


def _reconstruction(
    factors: Factors, energy: np.ndarray, along: float, fitted: float, options: Options
) -> float:
    """Σ_ij p_ij² ‖…‖² from the sums alone: no pass over the data.

    ``along`` is Σ_i ⟨y_i, U v_i⟩ with y_i the weighted sample, ``fitted`` Σ_i ‖U v_i‖².
    """
    weights = factors.weights
    target_weights = weights if options.weighting.on_residual else weights * weights
    residual = max(float(np.vdot(target_weights, energy)) - 2 * along + fitted, 0.0)
    if options.prices is None:
        return residual
    return residual + float(np.sum(factors.P.astype(np.float64) ** 2 * options.prices))
