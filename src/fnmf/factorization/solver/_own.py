"""Iterations in which every sample has an assignment of its own."""

import numpy as np

from fnmf.factorization.solver._basis import gains_of, hessian_times, reconstruction, step_basis
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.solver._sweeps import Given, Sweeps


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
