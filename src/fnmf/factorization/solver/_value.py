"""The value of the data term from the sums alone: no pass over the data."""

import numpy as np

from fnmf.factorization.solver._state import Factors
from fnmf.factorization.terms import Weighting


def reconstruction(
    weighting: Weighting, factors: Factors, energy: np.ndarray, along: float, fitted: float
) -> float:
    """Σ_ij p_ij² ‖…‖², without the prices.

    ``along`` is Σ_i ⟨y_i, U v_i⟩ with y_i the weighted sample, ``fitted`` Σ_i ‖U v_i‖².
    """
    weights = factors.weights
    target_weights = weights if weighting.on_residual else weights * weights
    return max(float(np.vdot(target_weights, energy)) - 2 * along + fitted, 0.0)
