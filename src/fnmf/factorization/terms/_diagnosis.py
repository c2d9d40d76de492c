"""What learned feature weights look like: how far they spread, overlap, and have collapsed."""

import numpy as np

from fnmf.relevance.defaults import DEFAULTS, Defaults

# Weights this concentrated are suspect,
_FEW = 0.25
# and bad if the features they chose have little energy; both relative to all live features.
_WEAK = 0.25


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
