"""What relevance decides between rounds."""

from collections.abc import Mapping

import numpy as np

from fnmf._seeding import fit_kmeans
from fnmf.terms import Loss, Moments, profiles, relevance

# Several weightings must rest on features at least this relevant, relative to a single one's.
_AS_RELEVANT = 0.5


def best_loss(quality: Mapping[Loss, float]) -> Loss:
    """The loss of the best quality among those that gain enough over the first, the plain one."""
    plain = next(iter(quality.values()))
    enough = [loss for loss in quality if quality[loss] >= plain + loss.gain]
    return max(enough, key=lambda loss: quality[loss])


def group_clusters(moments: Moments, m: int, seed: int) -> np.ndarray:
    """Which weighting each cluster starts in: clusters of like profiles share one."""
    c = len(moments.counts)
    if m == 1:
        return np.zeros(c, np.intp)
    if m >= c:
        return np.arange(c)
    shapes = profiles(moments)
    distinct = len(np.unique(shapes, axis=0))
    return fit_kmeans(shapes, min(m, distinct), n_init=10, random_state=seed).labels_


def all_relevant(found: Moments, single: np.ndarray, several: np.ndarray) -> bool:
    """Whether each of several weightings rests on features about as relevant as a single one's."""
    explained = relevance(found)
    needed = _AS_RELEVANT * float(weight_shares(single)[0] @ explained)
    enough = weight_shares(several) @ explained >= needed
    return bool(np.all(several.sum(axis=1) > 0) and np.all(enough))


def weight_shares(omega: np.ndarray) -> np.ndarray:
    """Weights that sum to 1; a weighting that uses no feature has no preference among them."""
    live = omega.max(axis=0) > 0
    sums = omega.sum(axis=1, keepdims=True)
    return np.where(sums > 0, omega / np.where(sums > 0, sums, 1), live / max(live.sum(), 1))
