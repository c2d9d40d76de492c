"""How features are weighed: the term by which NMF, GNMF and FNMF differ.

A weighting says what the weights do to the data term and how they follow from the sums of a
sweep. The data term is Σ_ij p_ij² times

* ‖θ_j ∘ x_i − U v_i‖² if the weights act on the data (``on_residual`` is false), or
* Σ_k ω_jk (x_ik − u_k·v_i)² if they act on the residual.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fnmf.terms._rules import Rule
from fnmf.terms._simplex import minimise_in_turn


class Weighting(Protocol):
    """What a solver needs to know of the weights."""

    @property
    def on_residual(self) -> bool:
        """Whether the weights act on the residual rather than on the data."""

    @property
    def learned(self) -> bool:
        """Whether an iteration changes them."""

    @property
    def prices(self) -> np.ndarray | None:
        """Constants (n, m) added to the residuals that decide the assignment."""

    def update(self, weights: np.ndarray, energy: np.ndarray, cross: np.ndarray) -> np.ndarray:
        """New weights from P²ᵀ(X∘X) and P²ᵀ(X∘VUᵀ), all m x d."""

    def penalty(self, weights: np.ndarray) -> float:
        """The part of the objective that depends on the weights alone."""

    def misfit(self, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


class _GivenWeights:
    """Weights that stay as they are."""

    @property
    def learned(self) -> bool:
        return False

    def update(self, weights: np.ndarray, energy: np.ndarray, cross: np.ndarray) -> np.ndarray:
        return weights

    def penalty(self, weights: np.ndarray) -> float:
        return 0.0

    def misfit(self, rule: Rule) -> str | None:
        return None


@dataclass(frozen=True)
class FixedWeighting(_GivenWeights):
    """Weights on the data: plain NMF and GNMF."""

    @property
    def on_residual(self) -> bool:
        return False

    @property
    def prices(self) -> np.ndarray | None:
        return None


@dataclass(frozen=True)
class ResidualWeighting(_GivenWeights):
    """Weights on the residual, and prices of what each weighting leaves out: a round of relevance.

    Parameters
    ----------
    prices : ndarray of shape (n, m) or None
        Constants added to the residuals of each sample.
    """

    prices: np.ndarray | None = None

    @property
    def on_residual(self) -> bool:
        return True


@dataclass(frozen=True)
class PaperWeighting:
    """Each row of weights on the simplex, kept apart by λ Σ_{j≠l} ⟨θ_j, θ_l⟩.

    Parameters
    ----------
    diversity : float
        λ.
    live : ndarray of bool, shape (d,)
        Features that are not zero everywhere. The others fit anything at no cost, so all
        weight would run to them; they get none.
    """

    diversity: float
    live: np.ndarray

    @property
    def on_residual(self) -> bool:
        return False

    @property
    def learned(self) -> bool:
        return True

    @property
    def prices(self) -> np.ndarray | None:
        return None

    def update(self, weights: np.ndarray, energy: np.ndarray, cross: np.ndarray) -> np.ndarray:
        live = np.flatnonzero(self.live)
        if len(live) == 0:
            return weights
        weights = weights.copy()
        sums = np.ascontiguousarray(energy), np.ascontiguousarray(cross)
        minimise_in_turn(weights, *sums, live, self.diversity)
        return weights

    def penalty(self, weights: np.ndarray) -> float:
        total = weights.sum(axis=0)
        return self.diversity * float(total @ total - np.vdot(weights, weights))

    def misfit(self, rule: Rule) -> str | None:
        return None


def uniform_weights(n_weightings: int, live: np.ndarray) -> np.ndarray:
    """The start: every feature that is not zero everywhere weighs the same."""
    return np.tile(live / max(live.sum(), 1), (n_weightings, 1))
