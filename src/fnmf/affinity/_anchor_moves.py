"""Clusters of samples that anchors hold together: moved one by one while modularity rises.

The graph S = Z Λ⁻¹ Zᵀ is never made. What ties a sample to a cluster goes through its few anchors,
each of which knows its mass in every cluster. Within a block a sample sees the moves before it;
blocks do not see each other, and what they have changed is added up after each time through all.
Should that lower the modularity, it is undone, and the last one.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fnmf._compile import njit
from fnmf.affinity._anchors import Nearest, counted, vote
from fnmf.affinity._moves import resolution
from fnmf.data import View
from fnmf.execution import BlockSource, RowArray, Rows, Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults


class Held(NamedTuple):
    """What moves depend on, or how they change it: masses of anchors in every cluster, sizes.

    And how many samples have moved.
    """

    within: np.ndarray
    sizes: np.ndarray
    moved: np.ndarray


def cluster_by_anchors(
    nearest: Nearest,
    mass: np.ndarray,
    of_anchors: np.ndarray,
    view: View,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> RowArray:
    """Labels of the samples from those of their anchors, moved to where these tie them most.

    Parameters
    ----------
    nearest : Nearest
        Anchors of the samples.
    mass : ndarray of shape (a,)
        Sum of the weights to each anchor.
    of_anchors : ndarray of shape (a,)
        Clusters of the anchors.
    view : View
        The samples.
    runner : Runner
        Who works through the blocks.
    defaults : Defaults
        Resolution and number of sweeps.
    """
    # As those of scikit-learn's k-means: half the room.
    labels = runner.empty(view, (), np.int32)
    rows = (labels, *nearest, *counted(view))
    within, sizes = runner.sweep(_VoteWork(of_anchors), BlockSource(view), rows)
    mass, n = np.where(mass > 0, mass, 1), view.total
    price = resolution(len(sizes), defaults)
    value = _modularity(within, sizes, mass, n, price)
    for _ in range(defaults.sweeps):
        before, work = labels.copy(), _MoveWork(mass, within, sizes, n, price)
        change = runner.sweep(work, BlockSource(view), rows)
        within, sizes = within + change.within, sizes + change.sizes
        last, value = value, _modularity(within, sizes, mass, n, price)
        if value < last:
            # Blocks that all do the same go too far together.
            return before
        if change.moved[0] <= defaults.negligible * view.shape[0]:
            break
    return labels


def _modularity(
    within: np.ndarray, sizes: np.ndarray, mass: np.ndarray, n: float, resolution: float
) -> float:
    """Ties within clusters beyond what their sizes would give; degrees are what samples count."""
    tied = float(np.sum(within**2 / mass[:, None])) / n
    return tied - resolution * float(np.sum((sizes / n) ** 2))


@dataclass(frozen=True)
class _VoteWork:
    """The cluster of most of a sample's anchors; rows are labels, anchors, shares, counts."""

    fills: ClassVar = (0,)
    of_anchors: np.ndarray

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[np.ndarray, ...]]:
        labels, anchors, shares, *weights = rows
        labels[:] = vote(Nearest(anchors, shares), self.of_anchors)
        sizes = len(self.of_anchors), int(self.of_anchors.max()) + 1
        shares = shares.astype(np.float64)
        return rows, _masses(anchors, shares, _each(weights), labels, *sizes)


@dataclass(frozen=True)
class _MoveWork:
    """One time through the samples of a block; rows are labels, anchors, shares, counts."""

    fills: ClassVar = (0,)
    mass: np.ndarray
    within: np.ndarray
    sizes: np.ndarray
    n: float
    resolution: float

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, Held]:
        labels, anchors, shares, *weights = rows
        now = Held(self.within.copy(), self.sizes.copy(), np.zeros(1))
        given = anchors, shares.astype(np.float64), _each(weights)
        _move(*given, self.mass, labels, *now, float(self.n), self.resolution)
        change = Held(now.within - self.within, now.sizes - self.sizes, now.moved)
        return rows, change


def _each(weights: list[np.ndarray]) -> np.ndarray:
    """What samples count; an empty array if all count once."""
    return weights[0] if weights else np.empty(0)


@njit(nogil=True, cache=True)
def _masses(anchors, shares, weights, labels, n_anchors, k):  # type: ignore[no-untyped-def]
    within, count = np.zeros((n_anchors, k)), np.zeros(k)
    for i in range(len(labels)):
        own = weights[i] if len(weights) else 1.0
        count[labels[i]] += own
        for e in range(anchors.shape[1]):
            within[anchors[i, e], labels[i]] += own * shares[i, e]
    return within, count


@njit(nogil=True, cache=True)
def _move(anchors, shares, weights, mass, labels, within, count, moved, n, resolution):  # type: ignore[no-untyped-def]
    """Changes labels and masses; a sample has the degree it counts, since rows of Z sum to 1."""
    held, k = anchors.shape[1], len(count)
    tied, here = np.zeros(k), np.bincount(labels, minlength=k)
    for i in range(len(labels)):
        own = labels[i]
        # Other blocks move theirs meanwhile: who keeps one of each cluster leaves none empty.
        if here[own] == 1:
            continue
        tied[:] = 0
        size = weights[i] if len(weights) else 1.0
        itself = 0.0
        for e in range(held):
            share = shares[i, e] / mass[anchors[i, e]]
            itself += share * size * shares[i, e]
            for a in range(k):
                tied[a] += share * within[anchors[i, e], a]
        best, most = own, tied[own] - itself - resolution * (count[own] - size) / n
        for a in range(k):
            gain = tied[a] - resolution * count[a] / n
            if a != own and gain > most + 1e-12:
                best, most = a, gain
        if best != own:
            labels[i] = best
            here[own] -= 1
            here[best] += 1
            count[own] -= size
            count[best] += size
            for e in range(held):
                within[anchors[i, e], own] -= size * shares[i, e]
                within[anchors[i, e], best] += size * shares[i, e]
            moved[0] += 1
