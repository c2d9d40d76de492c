"""How features are weighed: the term by which NMF, GNMF and FNMF differ; and how weights look.

A weighting says what the weights do to the data term and how they follow from the sums of a
sweep. The data term is Σ_ij p_ij² times

* ‖θ_j ∘ x_i − U v_i‖² if the weights act on the data (``on_residual`` is false), or
* Σ_k ω_jk (x_ik − u_k·v_i)² if they act on the residual.
"""

from typing import Any, ClassVar, Protocol

import numpy as np

from fnmf.factorization.terms._rules import AnyRule, Rule
from fnmf.factorization.terms._simplex import minimise_in_turn
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Weights this concentrated are suspect,
_FEW = 0.25
# and bad if the features they chose have little energy; both relative to all live features.
_WEAK = 0.25


class Weighting(Protocol):
    """What a solver needs to know of the weights."""

    # Whether the weights act on the residual rather than on the data,
    on_residual: ClassVar[bool]
    # and whether an iteration changes them.
    learned: ClassVar[bool]

    @property
    def prices(self) -> Any:
        """Constants (n, m) added to the residuals that decide the assignment, if there are any."""

    @property
    def price_sums(self) -> np.ndarray:
        """Their sums over the samples, (m,)."""

    def update(self, weights: np.ndarray, energy: np.ndarray, cross: np.ndarray) -> np.ndarray:
        """New weights from P²ᵀ(X∘X) and P²ᵀ(X∘VUᵀ), all m x d."""

    def penalty(self, weights: np.ndarray) -> float:
        """The part of the objective that depends on the weights alone."""

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


class _Free(AnyRule):
    """Leaving a feature out costs nothing."""

    prices: Any = None
    price_sums = np.zeros(0)


class _GivenWeights(_Free):
    """Weights that stay as they are."""

    learned: ClassVar[bool] = False

    def update(self, weights: np.ndarray, energy: np.ndarray, cross: np.ndarray) -> np.ndarray:
        return weights

    def penalty(self, weights: np.ndarray) -> float:
        return 0.0


class FixedWeighting(_GivenWeights):
    """Weights on the data: plain NMF and GNMF."""

    on_residual: ClassVar[bool] = False


class ResidualWeighting(_GivenWeights):
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


class PaperWeighting(_Free):
    """Each row of weights on the simplex, kept apart by λ Σ_{j≠l} ⟨θ_j, θ_l⟩.

    Parameters
    ----------
    diversity : float
        λ.
    live : ndarray of bool, shape (d,)
        Features that are not zero everywhere. The others fit anything at no cost, so all
        weight would run to them; they get none.
    """

    on_residual: ClassVar[bool] = False
    learned: ClassVar[bool] = True

    def __init__(self, diversity: float, live: np.ndarray) -> None:
        self.diversity, self.live = diversity, live

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


def uniform_weights(n_weightings: int, live: np.ndarray) -> np.ndarray:
    """The start: every feature that is not zero everywhere weighs the same."""
    return np.tile(live / max(live.sum(), 1), (n_weightings, 1))


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


def collapsed(mean_weights: np.ndarray, energy: np.ndarray, n_components: int) -> bool:
    """Whether weights have run to a trivial minimum of the article's objective.

    It has two kinds: features that are almost always zero cost nothing, and fewer features
    than components are fitted exactly. So few effective features are bad if they have little
    energy or are fewer than the components.
    """
    live = energy > 0
    effective = float(effective_features(mean_weights))
    if effective >= _FEW * live.sum():
        return False
    weak = float(mean_weights @ energy) < _WEAK * energy[live].mean() * mean_weights.sum()
    return bool(weak or effective < n_components)
