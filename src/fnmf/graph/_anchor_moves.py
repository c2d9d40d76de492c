"""Clusters of samples that anchors hold together: moved one by one while modularity rises.

The graph S = Z Λ⁻¹ Zᵀ is never made. What ties a sample to a cluster goes through its few anchors,
each of which knows its mass in every cluster. Block after block this goes through all samples; the
masses go with it.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba import njit

from fnmf.data import View
from fnmf.graph._anchors import Nearest, vote
from fnmf.graph._moves import resolution
from fnmf.runners import Feed, RowArray, Rows, Runner

_SWEEPS = 5
# Fewer moves than this share of the samples change nothing.
_STILL = 0.001


class Held(NamedTuple):
    """What moves depend on: mass of each anchor in every cluster, sizes, and moves so far."""

    within: np.ndarray
    sizes: np.ndarray
    moved: np.ndarray


def held_clusters(
    nearest: Nearest, mass: np.ndarray, of_anchors: np.ndarray, view: View, runner: Runner
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
    """
    # As those of scikit-learn's k-means: half the room.
    labels = runner.empty(view, (), np.int32)
    within, sizes = runner.sweep(_VoteWork(of_anchors), Feed(view), (labels, *nearest))
    state = Held(within, sizes, np.zeros(1, np.int64))
    work = _MoveWork(np.where(mass > 0, mass, 1), view.shape[0])
    for _ in range(_SWEEPS):
        before = int(state.moved[0])
        state = runner.walk(work, Feed(view), (labels, *nearest), state)
        if int(state.moved[0]) - before <= _STILL * view.shape[0]:
            break
    return labels


@dataclass(frozen=True)
class _VoteWork:
    """The cluster that most of a sample's anchors are in; rows are labels, anchors and shares."""

    fills: ClassVar = (0,)
    of_anchors: np.ndarray

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[np.ndarray, ...]]:
        labels, *nearest = rows
        labels[:] = vote(Nearest(*nearest), self.of_anchors)
        k = int(self.of_anchors.max()) + 1
        shares = nearest[1].astype(np.float64)
        return rows, _masses(nearest[0], shares, labels, len(self.of_anchors), k)


@dataclass(frozen=True)
class _MoveWork:
    """One time through the samples of a block; rows are labels, anchors and shares."""

    fills: ClassVar = (0,)
    mass: np.ndarray
    n: int

    def __call__(self, block: tuple[()], rows: Rows, state: Held) -> tuple[Rows, Held]:
        labels, anchors, shares = rows
        shares = shares.astype(np.float64)
        _move(anchors, shares, self.mass, labels, *state, self.n, resolution(len(state.sizes)))
        return rows, state


@njit(nogil=True, cache=True)
def _masses(anchors, shares, labels, n_anchors, k):  # type: ignore[no-untyped-def]
    within, count = np.zeros((n_anchors, k)), np.zeros(k)
    for i in range(len(labels)):
        count[labels[i]] += 1
        for e in range(anchors.shape[1]):
            within[anchors[i, e], labels[i]] += shares[i, e]
    return within, count


@njit(nogil=True, cache=True)
def _move(anchors, shares, mass, labels, within, count, moved, n, resolution):  # type: ignore[no-untyped-def]
    """Changes labels and masses; every sample has degree 1, since rows of Z sum to 1."""
    held, k = anchors.shape[1], len(count)
    tied = np.zeros(k)
    for i in range(len(labels)):
        own = labels[i]
        if count[own] == 1:
            continue
        tied[:] = 0
        itself = 0.0
        for e in range(held):
            share = shares[i, e] / mass[anchors[i, e]]
            itself += share * shares[i, e]
            for a in range(k):
                tied[a] += share * within[anchors[i, e], a]
        best, most = own, tied[own] - itself - resolution * (count[own] - 1) / n
        for a in range(k):
            gain = tied[a] - resolution * count[a] / n
            if a != own and gain > most + 1e-12:
                best, most = a, gain
        if best != own:
            labels[i] = best
            count[own] -= 1
            count[best] += 1
            for e in range(held):
                within[anchors[i, e], own] -= shares[i, e]
                within[anchors[i, e], best] += shares[i, e]
            moved[0] += 1
