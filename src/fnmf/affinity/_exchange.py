"""Clusters change places: one is cut in two, and two others become one.

Moving single samples cannot mend a partition that holds two groups in one cluster and one group in
two: every step on the way would cost. Both at once gain.
"""

from typing import NamedTuple

import numpy as np

from fnmf.affinity._moves import Lists, Partition, improved, resolution, ties_between
from fnmf.kmeans import halved
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Modularity must rise by more than rounding.
_RISE = 1e-9


class _Exchange(NamedTuple):
    """What modularity gains before samples move, which cluster is cut, which two become one."""

    gain: float
    cut: int
    one: int
    other: int


def exchange(
    lists: Lists,
    found: Partition,
    coordinates: np.ndarray,
    n_clusters: int,
    defaults: Defaults = DEFAULTS,
) -> Partition:
    """Exchange while modularity rises.

    Parameters
    ----------
    lists : Lists
        Symmetric similarities.
    found : Partition
        Where to begin.
    coordinates : ndarray of shape (n, e)
        Of the samples; clusters are cut in two along them.
    n_clusters : int
        Clusters, the same number in the end; fewer than three have nothing to exchange.
    """
    for _ in range(defaults.exchanges if n_clusters > 2 else 0):
        rng = np.random.RandomState(0)
        second = halved(coordinates, found.labels, defaults.fewest_rows, rng) == 1
        tries = _promising(lists, found.labels, second, n_clusters, defaults)
        after = (_after(found.labels, second, one) for one in tries)
        moved = (improved(lists, labels, n_clusters, defaults) for labels in after)
        better = next((one for one in moved if one.value > found.value + _RISE), None)
        if better is None:
            break
        found = better
    return found


def _promising(
    lists: Lists, labels: np.ndarray, second: np.ndarray, k: int, defaults: Defaults
) -> list[_Exchange]:
    """For every cluster that can be cut the best two to join; the best few of these."""
    # Halves are numbered 0 … k − 1 and k … 2k − 1.
    ties = ties_between(lists.graph, np.where(second, labels + k, labels), 2 * k)
    volumes = ties.sum(axis=1)
    joined = 2 * (ties - resolution(k, defaults) * np.outer(volumes, volumes))
    whole, between = (one.reshape(2, k, 2, k).sum(axis=(0, 2)) for one in (joined, ties))
    one, other = np.triu_indices(k, 1)
    order = np.argsort(-whole[one, other], kind="stable")
    one, other = one[order], other[order]
    bridges = between[one, other]
    found = []
    for cut in np.unique(labels[second]).tolist():
        fit = (one != cut) & (other != cut) & (bridges >= defaults.merge_ties * ties[cut, cut + k])
        if fit.any():
            best = fit.argmax()
            a, b = int(one[best]), int(other[best])
            found.append(_Exchange(float(whole[a, b] - joined[cut, cut + k]), cut, a, b))
    return sorted(found, reverse=True)[: defaults.exchange_tries]


def _after(labels: np.ndarray, second: np.ndarray, change: _Exchange) -> np.ndarray:
    after = np.where(labels == change.one, change.other, labels)
    after[second & (labels == change.cut)] = change.one
    return after
