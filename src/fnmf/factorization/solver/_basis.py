"""The step of the basis U from the sums of a sweep, and the data term from the same sums."""

import numpy as np

from fnmf.factorization.solver._state import Factors
from fnmf.factorization.solver._sweeps import Sweeps
from fnmf.factorization.terms import Weighting
from fnmf.kernels.rows import descend_rows

# Rounds over the columns of U are cheap beside the sweep that gave their sums.
_ROUNDS = 4


def step_basis(
    sweeps: Sweeps, factors: Factors, targets: np.ndarray, grams: np.ndarray
) -> tuple[np.ndarray, float]:
    """Update U and rescale; returns U before the rescaling, and the term of the ties after it."""
    unit = sweeps.objective.unit
    gains = gains_of(sweeps, factors)
    roughness = sweeps.refresh_ties(factors.V)
    step = _with_ties(grams, gains, roughness) if unit else (grams, gains)
    if factors.layers is None:
        U = update_basis(factors.U, targets, *step, sweeps.rule.name, factors.fixed)
    else:
        U = update_layers(factors.layers, targets, *step, sweeps.rule.name)
    factors.U = U.astype(factors.V.dtype)
    if unit:
        norms = _norms(U, gains)
        factors.U = (U / norms).astype(factors.V.dtype)
        roughness = roughness * norms**2
        sweeps.rescale(factors.V, norms)
        if factors.layers is not None:
            factors.layers[-1] = factors.layers[-1] / norms
    return U, float(roughness.sum())


def gains_of(sweeps: Sweeps, factors: Factors) -> np.ndarray | None:
    """How much the Gram matrix of each weighting counts for each feature; ``None``: fully."""
    return factors.weights if sweeps.objective.weighting.on_residual else None


def _with_ties(
    grams: np.ndarray, gains: np.ndarray | None, roughness: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """The scale-free term of the ties is quadratic in U too: it counts like one more weighting."""
    grams = np.concatenate([grams, np.diag(roughness)[None]])
    if gains is not None:
        gains = np.concatenate([gains, gains.max(axis=0, keepdims=True)])
    return grams, gains


def _norms(U: np.ndarray, gains: np.ndarray | None) -> np.ndarray:
    """Lengths of the columns of U, in the units of the most used features."""
    weights = 1.0 if gains is None else gains.max(axis=0)[:, None]
    norms = np.sqrt(np.sum(weights * U * U, axis=0))
    return np.where(norms > 0, norms, 1.0)


def update_basis(
    U: np.ndarray,
    cross: np.ndarray,
    grams: np.ndarray,
    gains: np.ndarray | None,
    solver: str,
    fixed: np.ndarray | None = None,
) -> np.ndarray:
    """One step for min_{U≥0} Σ_k u_kᵀ M_k u_k − 2 u_k·c_k, with M_k = Σ_j gains_jk grams_j.

    Parameters
    ----------
    U : ndarray of shape (d, c)
        The basis before the step.
    cross : ndarray of shape (d, c)
        c_k in its rows.
    grams : ndarray of shape (m, c, c)
        Vᵀ diag(p_j²) V.
    gains : ndarray of shape (m, d) or None
        How much each Gram matrix counts for each feature; ``None`` means 1 throughout.
    solver : {"mu", "mu-fast", "hals"}
        Multiplicative with square root, without, or exact over each column in turn.
    fixed : ndarray of bool, shape (c,), or None
        Columns that stay as they are.

    Returns
    -------
    ndarray of shape (d, c)
        The basis after the step, in double precision.
    """
    U = U.astype(np.float64, order="C")
    if fixed is not None:
        # What fixed columns explain is taken off; the others are a problem of their own.
        free, found = ~fixed, U.copy()
        if solver == "hals":
            pulled = hessian_times(np.where(fixed, U, 0.0), grams, gains)
            own = U[:, free], (cross - pulled)[:, free], grams[:, free][:, :, free]
            found[:, free] = update_basis(*own, gains, solver)
        else:
            found[:, free] = update_basis(U, cross, grams, gains, solver)[:, free]
        return found
    if solver == "hals":
        if gains is None:
            grams, gains = grams.sum(axis=0, keepdims=True), np.ones((1, 1))
        descend_rows(U, cross, gains.T, grams, _ROUNDS)
        return U
    below = hessian_times(U, grams, gains)
    return _multiply(U, np.ascontiguousarray(cross), below, solver == "mu")


def update_layers(
    layers: list[np.ndarray],
    cross: np.ndarray,
    grams: np.ndarray,
    gains: np.ndarray | None,
    solver: str,
) -> np.ndarray:
    """The same step for each layer in turn of a basis U = U₁ U₂ …; returns U after all of them.

    What is minimised is quadratic in each layer, and no entry of its matrix is negative, so that
    the multiplicative step lowers it: U_l ∘ (AᵀCBᵀ) / (AᵀHBᵀ), with A and B the products of the
    layers before and behind, C and H the rows c_k and M_k u_k. The sums of a sweep are enough.
    """
    for number, layer in enumerate(layers):
        before, behind = layers[:number], layers[number + 1 :]
        below = hessian_times(product(layers), grams, gains)
        above, below = (_between(before, rows, behind) for rows in (cross, below))
        layers[number] = _multiply(layer.copy(), above, below, solver == "mu")
    return product(layers)


def product(layers: list[np.ndarray]) -> np.ndarray:
    """U₁ U₂ … in double precision."""
    found = layers[-1].astype(np.float64)
    for layer in layers[-2::-1]:
        found = layer.astype(np.float64) @ found
    return np.ascontiguousarray(found)


def _between(before: list[np.ndarray], rows: np.ndarray, behind: list[np.ndarray]) -> np.ndarray:
    """Aᵀ rows Bᵀ."""
    for layer in before:
        rows = layer.T @ rows
    if behind:
        rows = rows @ product(behind).T
    return np.ascontiguousarray(rows)


def _multiply(U: np.ndarray, above: np.ndarray, below: np.ndarray, root: bool) -> np.ndarray:
    """U ∘ above / below, or with the root of the ratio; U is overwritten."""
    floor = np.finfo(np.float64).tiny * max(above.max(), 1.0)
    # Where both are lost the entry becomes zero; where codes are so small that their squares are
    # lost it stays as it is.
    ratio = (above != 0).astype(np.float64)
    np.divide(above, below, out=ratio, where=below > floor)
    U *= np.sqrt(ratio, out=ratio) if root else ratio
    return U


def hessian_times(U: np.ndarray, grams: np.ndarray, gains: np.ndarray | None) -> np.ndarray:
    """Rows M_k u_k, without ever forming an M_k."""
    if gains is None:
        return U @ grams.sum(axis=0)
    return np.einsum("jk,jkc->kc", gains, U @ grams)


def reconstruction(
    weighting: Weighting, factors: Factors, energy: np.ndarray, along: float, fitted: float
) -> float:
    """Σ_ij p_ij² ‖…‖², without the prices.

    ``along`` is Σ_i ⟨y_i, U v_i⟩ with y_i the weighted sample, ``fitted`` Σ_i ‖U v_i‖².
    """
    weights = factors.weights
    target_weights = weights if weighting.on_residual else weights * weights
    return max(float(np.vdot(target_weights, energy)) - 2 * along + fitted, 0.0)
