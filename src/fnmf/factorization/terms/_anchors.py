"""Samples that are held together without lists of neighbours: by the anchors they share."""

from typing import Any

import numpy as np

from fnmf.factorization.terms._objective import Ties


class AnchorTies(Ties):
    """Samples held together by the anchors they share: S = Z Λ⁻¹ Zᵀ.

    Rows of Z sum to 1, and so do those of S: all degrees are 1. The pull of a sample follows from
    the codes of its anchors, Λ⁻¹ Zᵀ V, so that nothing need be kept for all samples.

    Parameters
    ----------
    indices, shares : array of shape (n, k)
        Anchors of each sample, and its weights to them.
    mass : ndarray
        Λ, the sum of the weights to each anchor.
    strength : float
        β.
    """

    degree = np.empty(0)

    def __init__(self, indices: Any, shares: Any, mass: np.ndarray, strength: float) -> None:
        self.indices, self.shares, self.strength = indices, shares, strength
        self.mass = np.where(mass > 0, mass, 1)

    def codes(self, sums: np.ndarray) -> np.ndarray:
        """Codes of the anchors, means of the samples they hold, from Zᵀ V."""
        return sums / self.mass[:, None]

    def roughness(self, squares: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """v_aᵀ L v_a for each component, from Σ_i v_i² and the codes of the anchors."""
        return np.maximum(squares - self.mass @ codes**2, 0.0)
