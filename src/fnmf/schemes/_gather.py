"""Clusters about means, over all rows.

On a sample weak features cannot be told from noise; over all rows they can. So the clusters of
the sample are gathered again about their means, features are weighed by these clusters, and both
are repeated as long as more is explained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fnmf.data import View
from fnmf.graph import nearest_anchors
from fnmf.portfolio import Task, gates, settled
from fnmf.runners import Feed, RowArray, Rows, Runner
from fnmf.schemes._choice import Choice
from fnmf.schemes._stages import Measured, Prepared, Weights, look, prepare
from fnmf.solver import cluster_means
from fnmf.terms import Moments

_ROUNDS = 3
_PASSES = 10
# Fewer moves than this share of the rows change nothing.
_STILL = 0.001


@dataclass(frozen=True)
class Gathered:
    """Clusters of all rows, their means (k, d), what they were found with and what they explain."""

    choice: Choice
    prepared: Prepared
    labels: RowArray
    centres: np.ndarray
    moments: Moments
    explained: float


def gather(measured: Measured, choice: Choice, runner: Runner) -> Gathered:
    """Clusters of all rows about means that begin as those of the sample."""
    task, known = choice.task, choice.labels
    assert task is not None
    assert known is not None
    d = len(task.votes)
    # What the sample left out may have been too weak for it, or noise.
    even = _shared(np.ones(d), np.zeros(d), task)
    starts = (choice, replace(choice, weights=even))
    tried = [_gathered(measured, one, known, choice.sample, runner) for one in starts]
    best = max(tried, key=lambda one: one.explained)
    for _ in range(_ROUNDS):
        weights = _shared(*gates(best.moments, choice.units), task)
        if settled(best.choice.weights.omega, weights.omega):
            break
        found = _gathered(measured, replace(choice, weights=weights), best.labels, None, runner)
        if found.explained <= best.explained:
            break
        best = found
    return best


def nearest_mean(
    weighted: View, centres: np.ndarray, omega: np.ndarray, runner: Runner
) -> RowArray:
    """The nearest of some means of scaled rows, for rows in the weighted features."""
    there = (centres * np.sqrt(omega.max(axis=0)))[:, weighted.kept]
    found = nearest_anchors(weighted, there, 1, runner).indices
    labels = runner.empty(weighted, (), np.int32)
    runner.sweep(_FirstWork(), Feed(weighted), (labels, found))
    return labels


@dataclass(frozen=True)
class _FirstWork:
    """The first of several; rows are the place for it and they."""

    fills: ClassVar = (0,)

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[()]]:
        labels, found = rows
        labels[:] = found[:, 0]
        return rows, ()


@dataclass(frozen=True)
class _OtherWork:
    """How many labels are others than before."""

    fills: ClassVar = ()

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        return rows, (np.asarray(np.count_nonzero(rows[0] != rows[1])),)


def _gathered(
    measured: Measured, choice: Choice, known: RowArray, rows: np.ndarray | None, runner: Runner
) -> Gathered:
    """k-means over all rows from the clusters of some or all."""
    task, omega = choice.task, choice.weights.omega
    assert task is not None
    k = task.n_clusters
    prepared = prepare(measured, choice.units, choice.weights, choice.unit, runner)
    view = prepared.view
    centres, _ = cluster_means(view if rows is None else view.subset(rows), known, k, runner)
    labels = nearest_mean(prepared.weighted, centres, omega, runner)
    for _ in range(_PASSES):
        means, counts = cluster_means(view, labels, k, runner)
        centres = np.where(counts[:, None] > 0, means, centres)
        before, labels = labels, nearest_mean(prepared.weighted, centres, omega, runner)
        (moved,) = runner.sweep(_OtherWork(), Feed(view), (labels, before))
        if moved / view.shape[0] < _STILL:
            break
    moments = look(measured, labels, k, runner)
    return Gathered(choice, prepared, labels, centres, moments, task.explained(moments))


def _shared(omega: np.ndarray, price: np.ndarray, task: Task) -> Weights:
    """A single weighting in which copies of a feature share one vote."""
    return Weights((omega * task.votes)[None], (price * task.votes)[None])
