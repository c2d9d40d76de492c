"""Weights of features from clusters, for one weighting and the units that the features are in."""

import numpy as np

from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.qvalues import chance_probabilities
from fnmf.relevance.weights import relevance_weights
from fnmf.statistics import Moments


def gates(
    moments: Moments, units: np.ndarray, defaults: Defaults = DEFAULTS
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and prices of a single weighting, both (d,)."""
    together = np.zeros(len(moments.counts), np.intp)
    omega, price = relevance_weights(moments, together, 1, defaults)
    return omega[0] * cap_uncertain_features(moments, units, defaults), price[0]


def cap_uncertain_features(
    moments: Moments, units: np.ndarray, defaults: Defaults = DEFAULTS
) -> np.ndarray:
    """Factors that lower the weights of features which may be noise and have a large scatter, (d,).

    Of thousands of features without meaning some pass a gate by chance. One of them in large units
    would outweigh all others, so those that are not certain count no more than a certain one
    usually does.
    """
    chance = chance_probabilities(moments) * np.count_nonzero(moments.live)
    certain = chance < defaults.uncertain
    if not certain.any():
        return np.ones(len(certain))
    scatter = moments.total * units**2
    usual = np.median(scatter[certain])
    return np.where(certain, 1.0, usual / np.maximum(scatter, usual))


def weights_converged(before: np.ndarray, after: np.ndarray, defaults: Defaults = DEFAULTS) -> bool:
    """Whether weights have changed too little to matter."""
    return bool(np.abs(after - before).sum() <= defaults.weight_tolerance * before.sum())
