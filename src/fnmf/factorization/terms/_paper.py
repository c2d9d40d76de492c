"""The weights of the article: on the simplex, each minimised exactly; and when they collapse."""

import math
from typing import ClassVar

import numpy as np

from fnmf._compile import njit
from fnmf.factorization.terms._weighting import Weighting, effective_features

# Curvatures below this, relative to the largest, count as none.
FLAT = 1e-290
# Weights this concentrated are suspect,
_FEW = 0.25
# and bad if the features they chose have little energy; both relative to all live features.
_WEAK = 0.25


@njit(cache=True, nogil=True)
def _minimise(a, b):  # type: ignore[no-untyped-def]
    """Minimise Σ_k a_k θ_k² + b_k θ_k over θ ≥ 0, Σ θ = 1, exactly; all a_k are at least 0.

    The solution is θ_k = max(0, (η − b_k) / 2a_k). Raising η from slope to slope, the mass Σ θ can
    only grow; the last slope before it passes 1 is the largest that is active. The solution is
    written relative to that slope, so that nothing cancels however small the curvatures a_k are.
    An entry without curvature caps η at its slope and takes the mass that is left; where several
    tie, they share equally.
    """
    n_features = a.size
    theta = np.zeros(n_features)
    # Only differences of slopes count, and a common scale does not: a power of two is exact.
    largest = max(a.max(), b.max() - b.min())
    if largest == 0:
        theta[:] = 1 / n_features
        return theta
    exponent = -math.frexp(largest)[1]
    # In two factors, since the whole power may be too large for a number.
    scale = math.ldexp(1.0, exponent // 2), math.ldexp(1.0, exponent - exponent // 2)
    inverse = np.zeros(n_features)
    cap = np.inf
    for k in range(n_features):
        scaled = a[k] * scale[0] * scale[1]
        if scaled > FLAT:
            inverse[k] = 0.5 / scaled
        else:
            cap = min(cap, b[k])
    if cap < np.inf and _below(cap, b, inverse, scale, theta) <= 1:
        n_flat = 0
        for k in range(n_features):
            n_flat += inverse[k] == 0 and b[k] == cap
        left = (1 - theta.sum()) / n_flat
        for k in range(n_features):
            if inverse[k] == 0 and b[k] == cap:
                theta[k] = left
        return theta / theta.sum()
    last, spread = _last_active(b, inverse, scale)
    rest = max(1 - _below(last, b, inverse, scale, theta), 0.0) / spread
    for k in range(n_features):
        theta[k] = theta[k] + rest * inverse[k] if b[k] <= last else 0.0
    return theta / theta.sum()


@njit(cache=True, nogil=True)
def _last_active(b, inverse, scale):  # type: ignore[no-untyped-def]
    """The largest slope up to which the mass stays below 1, and Σ 1/2a of all slopes up to it.

    Found like a quantile, by splitting what is left at one of its slopes: linear time.
    """
    slopes, spreads = b[inverse > 0], inverse[inverse > 0]
    first, stop = 0, slopes.size
    last = slopes.min()
    mass = spread = 0.0
    while first < stop:
        pivot = _median(slopes[first], slopes[(first + stop) // 2], slopes[stop - 1])
        # Slopes up to the pivot to the front. The mass is a sum of non-negative terms.
        there = mass + (pivot - last) * scale[0] * scale[1] * spread
        wider, split = spread, first
        for k in range(first, stop):
            slope, own = slopes[k], spreads[k]
            if slope <= pivot:
                there += (pivot - slope) * scale[0] * scale[1] * own
                wider += own
                slopes[k], spreads[k] = slopes[split], spreads[split]
                slopes[split], spreads[split] = slope, own
                split += 1
        if there < 1:
            mass, spread, last, first = there, wider, pivot, split
        else:
            # Those at the pivot itself are past the end too; the others are looked at again.
            stop = first
            for k in range(first, split):
                slope, own = slopes[k], spreads[k]
                if slope < pivot:
                    slopes[k], spreads[k] = slopes[stop], spreads[stop]
                    slopes[stop], spreads[stop] = slope, own
                    stop += 1
    return last, spread


@njit(cache=True, nogil=True)
def _median(x, y, z):  # type: ignore[no-untyped-def]
    return max(min(x, y), min(max(x, y), z))


@njit(cache=True, nogil=True)
def _below(level, b, inverse, scale, theta):  # type: ignore[no-untyped-def]
    """Fill theta as if η were ``level``; returns its mass."""
    for k in range(b.size):
        gap = level - b[k]
        theta[k] = gap * scale[0] * scale[1] * inverse[k] if gap > 0 else 0.0
    return theta.sum()


@njit(cache=True, nogil=True)
def minimise_in_turn(weights, energy, cross, live, diversity):  # type: ignore[no-untyped-def]
    """Each row of the weights in turn minimises Σ energy θ² − 2 cross θ + 2λ θ Σ others.

    Only the features listed in ``live`` take part; the others get no weight.
    """
    curvature, slope = np.empty(live.size), np.empty(live.size)
    for j in range(weights.shape[0]):
        for place in range(live.size):
            k = live[place]
            others = 0.0
            for other in range(weights.shape[0]):
                if other != j:
                    others += weights[other, k]
            curvature[place] = energy[j, k]
            # Σ_{j≠l} counts each pair twice, hence 2λ (the article prints λ).
            slope[place] = 2 * diversity * others - 2 * cross[j, k]
        theta = _minimise(curvature, slope)
        weights[j] = 0
        for place in range(live.size):
            weights[j, live[place]] = theta[place]


class PaperWeighting(Weighting):
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
