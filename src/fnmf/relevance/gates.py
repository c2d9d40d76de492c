"""Weights of features from clusters, for one weighting and the units that the features are in."""

import numpy as np

from fnmf.relevance.qvalues import chance_probabilities
from fnmf.relevance.weights import relevance_weights
from fnmf.statistics import Moments

# Weights that change by less than this share have settled.
_SETTLED = 0.01
# Chance that any of the features without meaning counts as certain.
_CERTAIN = 0.05


def gates(moments: Moments, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and prices of a single weighting, both (d,)."""
    together = np.zeros(len(moments.counts), np.intp)
    omega, price = relevance_weights(moments, together, 1)
    return omega[0] * cap_uncertain_features(moments, units), price[0]


def cap_uncertain_features(moments: Moments, units: np.ndarray) -> np.ndarray:
    """Factors of the weights that keep features which may be noise from being loud, (d,).

    Of thousands of features without meaning some pass a gate by chance. One of them in large units
    would outweigh all others, so those that are not certain count no more than a certain one
    usually does.
    """
    chance = chance_probabilities(moments) * np.count_nonzero(moments.live)
    certain = chance < _CERTAIN
    if not certain.any():
        return np.ones(len(certain))
    scatter = moments.total * units**2
    usual = np.median(scatter[certain])
    return np.where(certain, 1.0, usual / np.maximum(scatter, usual))


def weights_converged(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether weights have changed too little to matter."""
    return bool(np.abs(after - before).sum() <= _SETTLED * before.sum())
