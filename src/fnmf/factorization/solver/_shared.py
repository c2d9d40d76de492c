"""Iterations in which all samples share one assignment."""

import numpy as np

from fnmf.factorization.solver._basis import gains_of, hessian_times, reconstruction, step_basis
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.solver._sweeps import Sweeps, Together
from fnmf.factorization.terms import Weighting


def shared_multiplicative_iteration(sweeps: Sweeps, factors: Factors) -> tuple[float, float]:
    """V, Θ, P, U: with one assignment for all samples a single sweep gives all sums."""
    sums = sweeps.shared(factors)
    weighting = sweeps.objective.weighting
    energy = _squares(factors)[:, None] * sums.column_energy
    factors.weights = weighting.update(factors.weights, energy, sums.cross)
    if factors.P.shape[1] > 1:
        _assign(factors, sums, weighting)
    squares = _squares(factors)
    grams = squares[:, None, None] * sums.codes_gram
    targets = sweeps.effective_weights(factors)[:, None] * sums.codes_cross
    U, smoothness = step_basis(sweeps, factors, targets, grams)
    if sweeps.objective.robust:
        return sums.loss, smoothness
    energy = squares[:, None] * sums.column_energy
    along = float(np.vdot(U, targets))
    fitted = float(np.vdot(U, hessian_times(U, grams, gains_of(sweeps, factors))))
    residual = reconstruction(weighting, factors, energy, along, fitted)
    if weighting.prices is not None:
        residual += float(squares @ weighting.price_sums)
    return residual, smoothness


def shared_descent_iteration(sweeps: Sweeps, factors: Factors) -> tuple[float, float]:
    """The same after all codes were solved; the sweep then leaves them as they are."""
    sweeps.solve_codes(factors)
    return shared_multiplicative_iteration(sweeps, factors)


def _squares(factors: Factors) -> np.ndarray:
    """p_j² of the assignment that all samples share."""
    return factors.P[0].astype(np.float64) ** 2


def _assign(factors: Factors, sums: Together, weighting: Weighting) -> None:
    """p_j from the residuals summed over all samples, as the article prints it."""
    weights = factors.weights
    U = factors.U.astype(np.float64)
    along = np.sum(U * sums.codes_cross, axis=1)
    fitted = np.sum(U * (U @ sums.codes_gram), axis=1)
    if weighting.on_residual:
        energy = weights @ sums.column_energy
        q = energy - 2 * weights @ along + weights @ fitted
    else:
        energy = weights**2 @ sums.column_energy
        q = energy - 2 * weights @ along + fitted.sum()
    # The terms cancel: below this level the difference is rounding.
    q = np.maximum(q, 4 * np.finfo(np.float64).eps * energy)
    if weighting.prices is not None:
        q += weighting.price_sums
    share = q.min() / q if q.min() > 0 else (q == 0).astype(np.float64)
    factors.P = (share / share.sum())[None].astype(factors.P.dtype)
