"""How many clusters: explore a sample once or twice, and score every number on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fnmf._settings import Settings
from fnmf.choosing.picture import draw
from fnmf.choosing.scores import (
    SCORES,
    Numbers,
    levels,
    possible,
    score_numbers,
    score_table,
)
from fnmf.data import View
from fnmf.display import listed
from fnmf.execution import Runner
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.choice import SampleSearch, search_on_sample
from fnmf.relevance.crossfit import beyond_chance, factors
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.prepare import feature_statistics
from fnmf.relevance.refill import refilled_by_search
from fnmf.relevance.structure import structure
from fnmf.relevance.table_columns import CATEGORY, FLAG
from fnmf.relevance.tables import column_association, column_pairs

NUMBERS = range(2, 16)


@dataclass(frozen=True)
class NumberOfClusters:
    """A recommended number of clusters, its alternatives, and why.

    Attributes
    ----------
    n_components : int
        The recommended number, the smallest whose score is within two standard errors of the
        highest; 1 if nothing beyond chance was found.
    interval : tuple of int
        The smallest and largest defensible number: the recommended one, that of the highest score,
        what is between them, and all around that lose no more than twice the standard error of
        that loss.
    also : tuple of int
        Fewer groups that the clusters fall into, if the squared distances between those are at
        least twice those within them: data with clusters within clusters have several right
        answers.
    scores : structured ndarray
        For every number ``k``: the ``score`` and its standard error ``spread``. What it is made
        of: the share of ties ``inside`` clusters on graphs of halves of the features, less most
        of what ``chance`` would keep there, and a little of the ``eigengap``. To look at only:
        how far clusters from two halves of the features agree, ``features_agree``, and from two
        halves of the samples, ``rows_agree``; the size of the ``smallest`` cluster.
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
        """What the score loses if ``k`` is taken instead of the number with the highest one."""
        at = self.scores["k"] == k
        if not at.any():
            raise ValueError(f"k={k} was not scored; scores has {self.scores['k'].tolist()}.")
        return float(self.scores["score"].max() - self.scores["score"][at][0])

    def kept(self) -> dict[str, Any]:
        """What a model keeps of the choice."""
        return {"k_scores": self.scores, "k_interval": self.interval, "k_also": self.also}

    @classmethod
    def recalled(cls, model: Any) -> NumberOfClusters | None:
        """The choice as far as a model keeps it, without clusters; ``None`` if there was none."""
        scores = getattr(model, "k_scores_", None)
        low_high = getattr(model, "k_interval_", None)
        if scores is None or low_high is None:
            return None
        also = tuple(getattr(model, "k_also_", None) or ())
        nobody = np.empty((len(scores), 0), np.int64), np.empty(0, np.int64)
        low, high = low_high
        chosen = getattr(model, "n_components_", getattr(model, "n_clusters_", 1))
        number = int(chosen) if high > 1 else 1
        return cls(number, (low, high), also, scores, None, *nobody)

    def __str__(self) -> str:
        if self.n_components == 1:
            return "1 cluster: nothing beyond chance was found"
        low, high = self.interval
        told = f"{self.n_components} clusters"
        if low < high:
            told += f"; {low} to {high} are defensible"
        if self.also:
            told += f"; {listed(list(map(str, self.also)))} too: clusters within clusters"
        return told

    def to_svg(self) -> str:
        """A picture: scores with their uncertainty, and what splits from number to number."""
        return draw(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.to_svg()


def choose_number(
    view: View,
    settings: Settings,
    numbers: Sequence[int],
    seed: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> NumberOfClusters:
    """The number of clusters of the rows of a view, among ``numbers``."""
    n = view.shape[0]
    wanted = possible(numbers, min(n, defaults.sample_rows), defaults)
    if n <= 2 * defaults.fewest_rows or not wanted:
        nothing = np.empty(0, SCORES)
        empty = np.empty((0, n), np.int64)
        return NumberOfClusters(1, (1, 1), (), nothing, None, empty, np.arange(n))
    statistics = feature_statistics(view, runner, defaults, signed=settings.signed)
    settings = settings.with_signs() if statistics.signed else settings

    def search(k: int) -> SampleSearch:
        found = search_on_sample(statistics, settings, k, seed, runner, defaults)
        used, columns = found.candidates[0].weights > 0, found.columns
        if columns is not None and not np.isin(columns.kinds[used], (FLAG, CATEGORY)).any():
            # By its likelihood a cluster of numbers that is no normal law is several.
            found.candidates[:] = [one for one in found.candidates if one.clusters != "mixture"]
        return found

    first = int(np.clip(n // defaults.samples_per_cluster, min(wanted), max(wanted)))
    tried = search(first)
    if view.incomplete:
        # Cells filled by features that count for nothing would make groups of their own.
        statistics = refilled_by_search(statistics, tried, runner, defaults)
        tried = search(first)
    mixture = [one for one in tried.candidates if one.clusters == "mixture"]
    if mixture:
        # What makes the best of so many clusters may not for as few as there are.
        again = search(score_numbers(tried.context, mixture[0], wanted, runner).best)
        tried.candidates.sort(key=lambda one: one.clusters == "mixture")
        tried = again if again.candidates[0].clusters == "mixture" else tried
    found = score_numbers(tried.context, tried.candidates[0], wanted, runner)
    # Columns of a table that weigh much for many clusters do so for few.
    likeliest = int(found.k[found.highest])
    if tried.columns is None and abs(likeliest - first) > 2:
        tried = search(likeliest + 1)
        found = score_numbers(tried.context, tried.candidates[0], wanted, runner)
    context, candidates, rows = tried.context, tried.candidates, tried.rows
    scores = score_table(context, candidates[0], found, runner)
    real, strength = _structure(context, candidates[0], found, scores, runner)
    # Columns that share nothing do not agree, and yet may each have several modes.
    real = real or (tried.columns is not None and bool(tried.columns.modes.any()))
    if not real:
        return NumberOfClusters(1, (1, 1), (), scores, strength, found.labels, rows)
    low, high = _interval(found)
    also = tuple(k for k in levels(context, candidates[0], found) if not low <= k <= high)
    return NumberOfClusters(found.best, (low, high), also, scores, strength, found.labels, rows)


def _structure(
    context: SearchContext, chosen: Candidate, numbers: Numbers, scores: np.ndarray, runner: Runner
) -> tuple[bool, float | None]:
    """Whether there are clusters at all, and the association that says so, if it was asked."""
    if chosen.clusters == "mixture":
        if numbers.score.max() <= 0:
            # No number of groups is worth its parameters.
            return False, None
        asked = replace(context, n_clusters=numbers.best)
        pairs = tuple(column_pairs(asked, factors(context, chosen), chosen.clusters))
        found = column_association(asked, replace(chosen, pairs=pairs))
        return beyond_chance(found, context.defaults) is not False, found
    # Clusters from halves of the features agree more than those of shuffled data do.
    if scores["features_agree"].max() >= context.defaults.small:
        return True, None
    best = replace(chosen, labels=numbers.labels[numbers.at])
    found = structure(replace(context, n_clusters=numbers.best), best, runner)
    return beyond_chance(found, context.defaults) is not False, found


def _interval(found: Numbers) -> tuple[int, int]:
    """From the best and the highest outward while scores lose no more than can be doubted."""
    k, score = found.k, found.score
    enough = score >= score[found.highest] - 2 * found.doubt
    low, high = found.at, found.highest
    while low > 0 and enough[low - 1]:
        low -= 1
    while high + 1 < len(k) and enough[high + 1]:
        high += 1
    return int(k[low]), int(k[high])
