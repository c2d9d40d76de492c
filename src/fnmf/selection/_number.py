"""How many clusters: explore a sample once or twice, and score every number on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fnmf._settings import Settings
from fnmf.data import View
from fnmf.portfolio import (
    SCORES,
    Candidate,
    Numbers,
    Task,
    beyond_chance,
    halves_agree,
    possible,
    score_numbers,
    structure,
)
from fnmf.runners import Runner
from fnmf.schemes import explored, measure
from fnmf.selection._picture import draw

NUMBERS = range(2, 16)
# Clusters to explore with before anything is known, and samples that each should have.
_FIRST, _SAMPLES_EACH = 8, 15
# Weights found for one number serve others that are so near.
_NEAR = 2
_FEWEST = 10


@dataclass(frozen=True)
class NumberOfClusters:
    """A recommended number of clusters, its alternatives, and why.

    Attributes
    ----------
    n_components : int
        The recommended number; 1 if nothing beyond chance was found.
    interval : tuple of int
        The smallest and largest defensible number: around the recommended one, all that lose no
        more against it than the standard error of that loss.
    also : tuple of int
        Further numbers that stand out from their neighbours and score nearly as well: data with
        clusters within clusters have several right answers.
    scores : structured ndarray
        For every number ``k``: the ``score`` and its standard error ``spread``; the
        ``modularity`` on halves of the features; how far clusters from two halves of the
        features agree, ``features_agree``, and from two halves of the samples, ``rows_agree``;
        the ``eigengap`` of the graph, and the size of the ``smallest`` cluster, both to look at
        only.
    structure : float or None
        Where halves of the features in use agree too little: association of the clusters that
        halves of all features find on their own, in standard deviations.
    labels : ndarray of shape (n_numbers, n_sampled)
        Clusters of the sampled rows for every number.
    rows : ndarray of shape (n_sampled,)
        Which rows were sampled.
    """

    n_components: int
    interval: tuple[int, int]
    also: tuple[int, ...]
    scores: np.ndarray
    structure: float | None
    labels: np.ndarray
    rows: np.ndarray

    def price(self, k: int) -> float:
        """What the score loses if ``k`` is taken instead of the best number."""
        at = self.scores["k"] == k
        if not at.any():
            raise ValueError(f"k={k} was not scored; scores has {self.scores['k'].tolist()}.")
        return float(self.scores["score"].max() - self.scores["score"][at][0])

    def __str__(self) -> str:
        if self.n_components == 1:
            return "1 cluster: nothing beyond chance was found"
        low, high = self.interval
        told = f"{self.n_components} clusters"
        if low < high:
            told += f"; {low} to {high} are defensible"
        if self.also:
            told += f"; {', '.join(map(str, self.also))} stand out too: clusters within clusters"
        return told

    def to_svg(self) -> str:
        """A picture: scores with their uncertainty, and what splits from number to number."""
        return draw(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.to_svg()


def choose_number(
    view: View, settings: Settings, numbers: Sequence[int], seed: int, runner: Runner
) -> NumberOfClusters:
    """The number of clusters of the rows of a view, among ``numbers``."""
    n = view.shape[0]
    wanted = possible(numbers, min(n, 1000))
    if n < _FEWEST or not wanted:
        nothing = np.empty(0, SCORES)
        empty = np.empty((0, n), np.int64)
        return NumberOfClusters(1, (1, 1), (), nothing, None, empty, np.arange(n))
    measured = measure(view, runner)
    first = int(np.clip(min(_FIRST, n // _SAMPLES_EACH), min(wanted), max(wanted)))
    task, candidates, rows = explored(measured, settings, first, seed, runner)
    found = score_numbers(task, candidates[0], wanted, runner)
    if abs(found.best - first) > _NEAR:
        # Features that tell so many clusters apart may be others than those found at first.
        task, candidates, rows = explored(measured, settings, found.best, seed, runner)
        found = score_numbers(task, candidates[0], wanted, runner)
    real, strength = _structure(task, candidates[0], found, runner)
    best = found.best if real else 1
    interval = _interval(found) if best > 1 else (1, 1)
    also = _also(found, interval) if best > 1 else ()
    return NumberOfClusters(best, interval, also, found.scores, strength, found.labels, rows)


def _structure(
    task: Task, chosen: Candidate, numbers: Numbers, runner: Runner
) -> tuple[bool, float | None]:
    """Whether there are clusters at all, and the association that says so, if it was asked."""
    if halves_agree(float(numbers.scores["features_agree"].max())):
        return True, None
    at = numbers.scores["score"].argmax()
    best = replace(chosen, labels=numbers.labels[at])
    found = structure(replace(task, n_clusters=numbers.best), best, runner)
    return beyond_chance(found) is not False, found


def _interval(found: Numbers) -> tuple[int, int]:
    """From the best outward as long as scores stay within its uncertainty."""
    k, score = found.scores["k"], found.scores["score"]
    best = int(score.argmax())
    enough = score >= score[best] - found.doubt
    low = high = best
    while low > 0 and enough[low - 1]:
        low -= 1
    while high + 1 < len(k) and enough[high + 1]:
        high += 1
    return int(k[low]), int(k[high])


def _also(found: Numbers, interval: tuple[int, int]) -> tuple[int, ...]:
    """Peaks outside of the interval within twice the uncertainty of the best."""
    k, score = found.scores["k"], found.scores["score"]
    best = int(score.argmax())
    padded = np.concatenate([[-np.inf], score, [-np.inf]])
    peak = (score > padded[:-2]) & (score > padded[2:])
    near = score >= score[best] - 2 * found.doubt
    outside = (k < interval[0]) | (k > interval[1])
    return tuple(int(number) for number in k[peak & near & outside])
