"""How features are weighed: the term by which NMF, GNMF and FNMF differ; and how weights look.

A weighting says what the weights do to the data term and how they follow from the sums of a
sweep. The data term is Σ_ij p_ij² times

* ‖θ_j ∘ x_i − U v_i‖² if the weights act on the data (``on_residual`` is false), or
* Σ_k ω_jk (x_ik − u_k·v_i)² if they act on the residual.
"""

from typing import Any, ClassVar

import numpy as np

from fnmf.relevance.defaults import DEFAULTS, Defaults


class Weighting:
    """What a solver needs to know of the weights; these stay as they are, and cost nothing."""

    # Whether the weights act on the residual rather than on the data,
    on_residual: ClassVar[bool]
    # and whether an iteration changes them.
    learned: ClassVar[bool] = False
    # Constants (n, m) added to the residuals that decide the assignment, if there are any, and
    # their sums over the samples, (m,).
    prices: Any = None
    price_sums = np.zeros(0)

    def update(self, weights: np.ndarray, energy: np.ndarray, cross: np.ndarray) -> np.ndarray:
        """New weights from P²ᵀ(X∘X) and P²ᵀ(X∘VUᵀ), all m x d."""
        return weights

    def penalty(self, weights: np.ndarray) -> float:
        """The part of the objective that depends on the weights alone."""
        return 0.0


class FixedWeighting(Weighting):
    """Weights on the data: plain NMF and GNMF."""

    on_residual: ClassVar[bool] = False


class ResidualWeighting(Weighting):
    """Weights on the residual, and prices of what each weighting leaves out: a round of relevance.

    Parameters
    ----------
    prices : array of shape (n, m) or None
        Constants added to the residuals of each sample, in the type of the codes.
    price_sums : ndarray of shape (m,) or None
        Their sums over the samples, for prices that are not here.
    """

    on_residual: ClassVar[bool] = True

    def __init__(self, prices: Any = None, price_sums: np.ndarray | None = None) -> None:
        self.prices = prices
        if prices is not None:
            self.price_sums = prices.sum(axis=0) if price_sums is None else price_sums


def effective_features(weights: np.ndarray) -> np.ndarray:
    """(Σθ)² / Σθ² of each row: over how many features it is spread."""
    squares = np.sum(weights**2, axis=-1)
    sums = np.sum(weights, axis=-1) ** 2
    return np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0)


def overlap(weights: np.ndarray) -> np.ndarray:
    """Cosines between the rows: 1 where two weightings coincide, 0 where they share nothing."""
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    unit = weights / np.where(lengths > 0, lengths, 1)
    return np.clip(unit @ unit.T, 0, 1)


def empty_share(
    weights: np.ndarray, energy: np.ndarray, defaults: Defaults = DEFAULTS
) -> np.ndarray:
    """Share of each weighting that lies on nearly empty features."""
    live = energy > 0
    if not live.any():
        return np.zeros(len(weights))
    empty = energy < defaults.negligible * energy[live].mean()
    return weights[:, empty].sum(axis=1) / np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
