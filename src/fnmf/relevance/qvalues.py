"""Which features the clusters explain beyond chance, at a stated rate of false discoveries."""

import numpy as np
from scipy.stats import gamma

from fnmf.relevance.weights import explained
from fnmf.statistics import Moments

_TINY = 1e-12


def chance_probabilities(moments: Moments) -> np.ndarray:
    """Probability that shuffled samples explain each feature as well, (d,).

    Mean and variance of the explained share under shuffling are known exactly; a gamma law with
    these two has the right tail, which is skewed if there are few clusters.
    """
    found = explained(moments, np.zeros(len(moments.counts), np.intp), 1)
    mean, spread = found.level[0], np.maximum(found.spread[0], _TINY)
    if mean <= 0:
        return np.ones(len(moments.total))
    tail = gamma.sf(found.share[0], (mean / spread) ** 2, scale=spread**2 / mean)
    return np.where(moments.live, tail, 1.0)


def qvalues(moments: Moments, structure: bool | None) -> np.ndarray:
    """Smallest rate of false discoveries at which a feature is called relevant, (d,).

    By Benjamini and Hochberg. Clusters that are no more than chance were made of the features
    they are tested on: if ``structure`` is false, nothing is called relevant.
    """
    if structure is False:
        return np.ones(len(moments.total))
    return adjusted(chance_probabilities(moments))


def adjusted(probabilities: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's q-values of independent or positively dependent tests."""
    d = len(probabilities)
    order = np.argsort(probabilities, kind="stable")
    steps = probabilities[order] * d / np.arange(1, d + 1)
    found = np.empty(d)
    found[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1)
    return found
