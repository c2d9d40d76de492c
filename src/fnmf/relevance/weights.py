"""Feature weights from clusters: how much of a feature the clusters explain, against chance.

A weighting uses feature k with weight ω_k in [0, 1] and pays π_k for what it leaves out. The
weight is the gate γ that minimises γ E + φ(γ) T: E is the feature's scatter within the clusters
of the weighting, T its scatter about the mean, φ the convex price of describing it by its mean.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import gamma

from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.statistics import CONSTANT, Moments

_TINY = 1e-12


@dataclass(frozen=True)
class Explained:
    """Scatter of the features inside each group of clusters, and the law of chance for it.

    Attributes
    ----------
    size : ndarray of shape (m, 1), or (m, d) where cells are missing
        Samples of each group.
    within, total : ndarray of shape (m, d)
        Scatter about the cluster means and about the mean.
    level, spread : ndarray of the shape of ``size``, and (m, d)
        Mean and standard deviation, if samples were shuffled, of the between-cluster scatter
        in units of size times variance.
    """

    size: np.ndarray
    within: np.ndarray
    total: np.ndarray
    level: np.ndarray
    spread: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Explained share of the scatter."""
        return (self.total - self.within) / np.where(self.total > 0, self.total, 1)


def explained(moments: Moments, groups: np.ndarray, n_groups: int) -> Explained:
    """Gather clusters in groups.

    Under the null hypothesis the between-cluster scatter of a standardised feature is a
    quadratic form of a projection in randomly ordered values: its mean is the trace, its
    variance depends on the trace and, through the kurtosis, on the leverages 1/n_a. Where cells
    are missing, every feature has samples of its own.
    """
    cells = moments.counts[:, None] if moments.cells is None else moments.cells
    n, d = np.maximum(cells.sum(axis=0), 1), len(moments.total)
    size, level = np.zeros((n_groups, cells.shape[1])), np.zeros((n_groups, cells.shape[1]))
    within, total, spread = (
        np.zeros((n_groups, d)),
        np.zeros((n_groups, d)),
        np.zeros((n_groups, d)),
    )
    for j in range(n_groups):
        members = groups == j
        counts = cells[members]
        size[j] = counts.sum(axis=0)
        filled, share = np.count_nonzero(counts, axis=0), size[j] / n
        within[j] = moments.within[members].sum(axis=0)
        total[j] = within[j] + moments.between[members].sum(axis=0)
        # The quadratic form Σ_a n_a mean_a² of centred values: its trace, the trace of its
        # square, and the squares of its diagonal.
        trace = filled - share
        square = filled - 2 * share + share**2
        own = 1 / np.where(counts > 0, counts, 1) - (2 - share) / n
        diagonal = np.sum(counts * own**2, axis=0) + (n - size[j]) * (share / n) ** 2
        # A multiple of the identity would not notice the order of the values.
        even = trace**2 / n
        variance = 2 * (square - even) + moments.kurtosis * np.maximum(diagonal - even, 0)
        level[j] = trace / np.maximum(size[j], 1)
        spread[j] = np.sqrt(np.maximum(variance, 0)) / np.maximum(size[j], 1)
    return Explained(size, within, total, level, spread)


def relevance(moments: Moments, defaults: Defaults = DEFAULTS) -> np.ndarray:
    """Share of each feature that the clusters explain beyond chance, between 0 and 1."""
    found = explained(moments, np.zeros(len(moments.counts), np.intp), 1)
    chance = (found.level + defaults.significant * found.spread)[0]
    beyond = (found.share[0] - chance) / np.maximum(1 - chance, _TINY)
    return np.where(moments.live & (chance < 1), np.clip(beyond, 0, 1), 0)


def gate(share: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The γ in [0, 1] that minimises γ (1 − share) + drop_price(γ, low, high): a ramp."""
    return np.clip((share - low) / np.maximum(high - low, _TINY), 0, 1)


def drop_price(gamma: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """φ, the price of using only γ of a feature, in units of its scatter; convex, φ(1) = 0."""
    price = (1 - low) * (1 - gamma) - (high - low) * (1 - gamma**2) / 2
    return np.maximum(price, 0)


def relevance_weights(
    moments: Moments, groups: np.ndarray, n_groups: int, defaults: Defaults = DEFAULTS
) -> tuple[np.ndarray, np.ndarray]:
    """Weights ω and prices π, both (m, d), of clusters gathered in groups.

    To be used by a weighting, a feature must be explained better than by chance, and no less than
    a quarter as well as by the weighting that explains it best; from a half it counts fully.
    """
    found = explained(moments, groups, n_groups)
    n = moments.counts.sum() if moments.cells is None else np.maximum(moments.cells.sum(axis=0), 1)
    unit = found.size * np.where(moments.live, moments.total, 1) / n + _TINY
    between = (found.total - found.within) / unit
    # A feature that is constant in each cluster must still be compared with chance.
    within = np.maximum(found.within / unit, CONSTANT)
    share = between / (between + within)
    rival = defaults.minor * between.max(axis=0)
    least = min(defaults.least_explained, defaults.minor * _among_best(between, moments))
    begins = found.level + defaults.clear * found.spread
    full = found.level + 2 * defaults.clear * found.spread
    low = np.maximum(np.maximum(begins, rival), least)
    high = np.maximum(np.maximum(full, 2 * rival), 2 * least)
    low, high = (bound / np.maximum(bound + within, _TINY) for bound in (low, high))
    gamma = np.where(moments.live & (found.size > 0), gate(share, low, high), 0)
    if np.count_nonzero(gamma.max(axis=0)) < 2:
        gamma[:, _best_features(moments, found)] = 1
    # What no weighting uses costs all of them the same, and would only blur the choice.
    return gamma, np.where(gamma.max(axis=0) > 0, drop_price(gamma, low, high), 0)


def _among_best(between: np.ndarray, moments: Moments) -> float:
    """What the last of the best features has, as many as there are clusters."""
    best = np.sort(np.where(moments.live, between.max(axis=0), 0))[::-1]
    return float(best[: len(moments.counts)][-1])


def _best_features(moments: Moments, found: Explained) -> np.ndarray:
    """Where nothing stands out, the few that come nearest: a later round can still recover."""
    score = (found.share - found.level) / np.maximum(found.spread, _TINY)
    score = np.where(moments.live, score.max(axis=0), -np.inf)
    return np.argsort(-score, kind="stable")[: max(2, len(moments.counts))]


def profiles(moments: Moments) -> np.ndarray:
    """Explained share of each feature in each cluster alone, (c, d)."""
    between = moments.between
    return between / np.maximum(between + moments.within, _TINY)


def single_weighting(
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
    certain = chance < defaults.slight
    if not certain.any():
        return np.ones(len(certain))
    scatter = moments.total * units**2
    usual = np.median(scatter[certain])
    return np.where(certain, 1.0, usual / np.maximum(scatter, usual))


def weight_shares(omega: np.ndarray) -> np.ndarray:
    """Weights that sum to 1; a weighting that uses no feature has no preference among them."""
    live = omega.max(axis=0) > 0
    sums = omega.sum(axis=1, keepdims=True)
    return np.where(sums > 0, omega / np.where(sums > 0, sums, 1), live / max(live.sum(), 1))


def all_relevant(
    found: Moments, single: np.ndarray, several: np.ndarray, defaults: Defaults
) -> bool:
    """Whether each of several weightings rests on features about as relevant as a single one's."""
    explained = relevance(found, defaults)
    needed = 0.5 * float(weight_shares(single)[0] @ explained)
    enough = weight_shares(several) @ explained >= needed
    return bool(np.all(several.sum(axis=1) > 0) and np.all(enough))


def weights_converged(before: np.ndarray, after: np.ndarray, defaults: Defaults = DEFAULTS) -> bool:
    """Whether weights have changed too little to matter."""
    return bool(np.abs(after - before).sum() <= defaults.negligible * before.sum())


def chance_probabilities(moments: Moments) -> np.ndarray:
    """Probability that shuffled samples explain each feature as well, (d,).

    Mean and variance of the explained share under shuffling are known exactly; a gamma law with
    these two has the right tail, which is skewed if there are few clusters.
    """
    found = explained(moments, np.zeros(len(moments.counts), np.intp), 1)
    mean, spread = found.level[0], np.maximum(found.spread[0], _TINY)
    if not (mean > 0).any():
        return np.ones(len(moments.total))
    mean = np.maximum(mean, _TINY)
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
