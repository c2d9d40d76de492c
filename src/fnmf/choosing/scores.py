"""How many clusters a sample has: scores for every number, from features that did not make them.

The clusters for a number k are those of the graph of all weighted features. They are good as far as
the graphs of random halves of the features tie them together beyond chance: a cluster that was cut
in two without reason costs the ties across, two that were taken together cost what chance would
have tied anyway. The gap between eigenvalues counts a little, where numbers tie else. How much
each counts was found on labelled sets and planted ones (docs/choosing.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from fnmf.affinity import best_of, partition, small_graph, spectrum, ties_between
from fnmf.execution import Runner
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.crossfit import factors, row_halves
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.mixture import completed_likelihoods
from fnmf.relevance.structure import feature_halves, features_agree, rows_agree
from fnmf.relevance.table_columns import peak_and_valley
from fnmf.relevance.tables import cluster_table

SCORES = np.dtype(
    [
        ("k", np.int64),
        ("score", np.float64),
        ("spread", np.float64),
        ("inside", np.float64),
        ("chance", np.float64),
        ("features_agree", np.float64),
        ("rows_agree", np.float64),
        ("eigengap", np.float64),
        ("smallest", np.int64),
    ]
)


@dataclass(frozen=True)
class Numbers:
    """What is known of each number of clusters.

    Attributes
    ----------
    k : ndarray of shape (K,)
        The numbers.
    inside, chance : ndarray of shape (S, K)
        Share of the ties of each judging graph that stay within a cluster, and what chance alone
        would keep there.
    eigengap : ndarray of shape (K,)
        Between the eigenvalue of each number and the next, of the graph that made the clusters.
    labels : ndarray of shape (K, n)
        Clusters for each number.
    holds : ndarray of bool of shape (K,) or None
        If given, the largest number that holds is the best, whatever the scores are.
    """

    k: np.ndarray
    inside: np.ndarray
    chance: np.ndarray
    eigengap: np.ndarray
    labels: np.ndarray
    defaults: Defaults = DEFAULTS
    holds: np.ndarray | None = None

    @property
    def trials(self) -> np.ndarray:
        """Score of each number on each graph, (S, K)."""
        own = self.defaults
        return self.inside - own.chance_price * self.chance + own.small * self.eigengap

    @property
    def score(self) -> np.ndarray:
        """Mean score of each number, (K,)."""
        return self.trials.mean(axis=0)

    @property
    def highest(self) -> int:
        """Where the score is highest, or the largest number that holds."""
        if self.holds is None or not self.holds.any():
            return int(self.score.argmax())
        return int(np.flatnonzero(self.holds)[-1])

    @property
    def at(self) -> int:
        """Where the best number is: the smallest that may have as high a score as any."""
        if self.holds is not None:
            return self.highest
        doubt = 2 * self.spread[self.highest]
        return int(np.argmax(self.score >= self.score[self.highest] - doubt))

    @property
    def best(self) -> int:
        """The best number."""
        return int(self.k[self.at])

    @property
    def doubt(self) -> np.ndarray:
        """Standard error of what each number loses against the highest score, (K,)."""
        return _standard_error(self.trials[:, [self.highest]] - self.trials)

    @property
    def spread(self) -> np.ndarray:
        """Standard error of each score; what all gain or lose in a graph alike does not matter."""
        return _standard_error(self.trials - self.trials.mean(axis=1, keepdims=True))


def possible(numbers: Sequence[int], n_samples: int, defaults: Defaults = DEFAULTS) -> list[int]:
    """Numbers of at least two clusters that so many samples can be asked about."""
    most = max(n_samples // defaults.fewest_rows, 2)
    return [k for k in numbers if 2 <= k <= most]


def score_numbers(
    context: SearchContext, chosen: Candidate, numbers: Sequence[int], runner: Runner
) -> Numbers:
    """Scores of all numbers, in rising order, with features weighted as a candidate does."""
    defaults = context.defaults
    rows, near = _prepared(context, chosen)
    if chosen.clusters == "mixture":
        return _likeliest(context, chosen, np.array(numbers))
    if context.table.range_units is not None:
        return _found_again(context, chosen, np.array(numbers))
    own = context.table.weights
    graph = small_graph(rows, near, own)
    labels = _clusters(graph, numbers, context, runner)
    everyone = np.arange(rows.shape[0])
    halves = feature_halves(context, chosen, near, defaults.splits)
    judges = [(half, everyone) for half in halves]
    if not judges:
        # Too few features to do without half of them: graphs of half of the rows must do.
        pairs = row_halves(rows, near, defaults.splits, context.seed, defaults, own)
        judges = [(half.graph, half.rows) for pair in pairs for half in pair]
    tied = np.array(
        [
            [_tied(judge, found[who], k) for found, k in zip(labels, numbers, strict=True)]
            for judge, who in judges
        ]
    )
    values = spectrum(graph, max(numbers) + 1, context.seed)
    values = np.append(values, np.zeros(max(numbers) + 1 - len(values)))
    k = np.array(numbers)
    gaps = values[k - 1] - values[k]
    return Numbers(k, tied[:, :, 0], tied[:, :, 1], gaps, labels, defaults)


def _found_again(context: SearchContext, chosen: Candidate, numbers: np.ndarray) -> Numbers:
    """Scores of a table: how well k-means of halves of the rows finds the same clusters again.

    Clusters taken together are found again as well as single ones; a cluster cut in two mostly is
    not, and has no valley where it was cut. So the best is the largest number whose clusters are
    found again, or as nearly as any, and all have a valley between them.
    """
    defaults, rng = context.defaults, np.random.RandomState(context.seed)
    scales = factors(context, chosen)
    rows = context.table.scaled(scales, chosen.unit)
    asked = [replace(context, n_clusters=int(k)) for k in numbers]
    labels = np.array([cluster_table(one, scales, "means") for one in asked])
    inside = np.empty((2 * defaults.splits, len(numbers)))
    for shares in inside:
        half = np.sort(rng.permutation(rows.shape[0])[: rows.shape[0] // 2])
        again = (cluster_table(one, scales, "means", half) for one in asked)
        pairs = zip(labels[:, half], again, strict=True)
        shares[:] = [adjusted_rand_score(*pair) for pair in pairs]
    mean = inside.mean(axis=0)
    steady = mean >= min(1 - defaults.slight, float(mean.max()) - defaults.negligible)
    apart = np.array([_all_apart(rows, found, context) for found in labels])
    nothing = np.zeros_like(inside)
    return Numbers(numbers, inside, nothing, nothing[0], labels, defaults, steady & apart)


def _likeliest(context: SearchContext, chosen: Candidate, numbers: np.ndarray) -> Numbers:
    """Scores of a mixture: what a row gains in completed likelihood over a single group."""
    scales, own = factors(context, chosen), context.table.weights
    asked = [replace(context, n_clusters=int(k)) for k in (1, *numbers)]
    found = [completed_likelihoods(one, scales) for one in asked]
    gained = np.column_stack([one - found[0][0] for one, _ in found[1:]])
    if own is not None:
        gained *= own[:, None] / own.mean()
    nothing, score = np.zeros_like(gained), gained.mean(axis=0)
    labels, most = np.array([one for _, one in found[1:]]), score == score.max()
    return Numbers(numbers, gained, nothing, nothing[0], labels, context.defaults, most)


def _all_apart(rows: np.ndarray, labels: np.ndarray, context: SearchContext) -> bool:
    """Whether fewer rows lie half-way between any two clusters than about either of them."""
    defaults, own = context.defaults, context.table.weights
    centres = {name: rows[labels == name].mean(axis=0) for name in np.unique(labels)}
    for one, other in combinations(centres, 2):
        both = (labels == one) | (labels == other)
        along, mine = rows[both] @ (centres[other] - centres[one]), labels[both] == one
        weights = None if own is None else own[both]
        peak, valley = peak_and_valley(along[mine], along[~mine], along, defaults, weights)
        if valley > peak:
            return False
    return True


def score_table(
    context: SearchContext, chosen: Candidate, found: Numbers, runner: Runner
) -> np.ndarray:
    """The scores beside other figures that are there to look at."""
    rows, near = _prepared(context, chosen)
    defaults = context.defaults
    halves = feature_halves(context, chosen, near, defaults.splits)
    two_by_two = [halves[i : i + 2] for i in range(0, len(halves), 2)]
    own = context.table.weights
    pairs = row_halves(rows, near, defaults.splits, context.seed, defaults, own)

    def agree(k: int) -> tuple[float, float]:
        across = [features_agree(two, k, context.seed, defaults) for two in two_by_two]
        again = [rows_agree(pair, k, context.seed, defaults) for pair in pairs]
        return float(np.mean(across)) if across else 0.0, float(np.mean(again))

    scores = np.zeros(len(found.k), SCORES)
    scores["k"], scores["score"], scores["spread"] = found.k, found.score, found.spread
    agreed = np.array(list(runner.each(agree, [(int(k),) for k in found.k])))
    scores["features_agree"], scores["rows_agree"] = agreed.T
    scores["inside"], scores["chance"] = found.inside.mean(axis=0), found.chance.mean(axis=0)
    scores["eigengap"] = found.eigengap
    for row, labels in zip(scores, found.labels, strict=True):
        row["smallest"] = np.bincount(labels, minlength=row["k"]).min()
    return scores


def levels(context: SearchContext, chosen: Candidate, found: Numbers) -> tuple[int, ...]:
    """Smaller numbers of groups that the best clusters fall into, if they are clusters in clusters.

    Centres are joined by average linkage; where squared distances double, a level ends.
    """
    if found.best < 3:
        return ()
    # Most fits are told the number of clusters, and need not wait for it.
    from scipy.cluster.hierarchy import linkage

    labels = found.labels[found.at]
    rows, _ = _prepared(context, chosen)
    members = np.zeros((found.best, len(labels)), rows.dtype)
    members[labels, np.arange(len(labels))] = 1 / np.bincount(labels)[labels]
    centres = members @ rows if isinstance(rows, np.ndarray) else (rows.T @ members.T).T
    # The last entry joins two groups, the one before leaves two, and so on.
    heights = linkage(centres, "average")[:, 2][::-1]
    jumps = np.flatnonzero(heights[:-1] ** 2 >= 2 * heights[1:] ** 2)
    return tuple(int(at) + 2 for at in jumps)


def _prepared(context: SearchContext, chosen: Candidate) -> tuple[Any, int]:
    """Rows as the candidate weights them, and how many neighbours they get."""
    rows = context.table.scaled(factors(context, chosen), chosen.unit)
    return rows, min(2 * context.n_neighbors, rows.shape[0] - 2)


def _clusters(
    graph: sp.csr_array, numbers: Sequence[int], context: SearchContext, runner: Runner
) -> np.ndarray:
    """Clusters for every number; each is begun also from those of the next larger one."""
    ways = [(k,) for k in numbers]
    seed, defaults = context.seed, context.defaults
    alone = runner.each(lambda k: partition(graph, k, seed, defaults=defaults).labels, ways)
    found = list(alone)
    for i in range(len(numbers) - 2, -1, -1):
        merged = found[i + 1]
        for k in range(numbers[i + 1], numbers[i], -1):
            merged = _merged(graph, merged, k, defaults)
        found[i] = best_of(graph, [found[i], merged], numbers[i], defaults).labels
    return np.array(found)


def _merged(
    graph: sp.csr_array, labels: np.ndarray, n_clusters: int, defaults: Defaults = DEFAULTS
) -> np.ndarray:
    """One cluster less: the two that are tied most beyond chance become one."""
    ties = ties_between(graph, labels, n_clusters)
    gain = ties - defaults.chance_price * np.outer(ties.sum(axis=1), ties.sum(axis=0))
    gain[np.tril_indices(n_clusters)] = -np.inf
    one, other = np.unravel_index(gain.argmax(), gain.shape)
    names = np.arange(n_clusters) - (np.arange(n_clusters) > other)
    names[other] = one
    return names[labels]


def _tied(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> tuple[float, float]:
    ties = ties_between(graph, labels, n_clusters)
    return float(np.trace(ties)), float(np.sum(ties.sum(axis=1) ** 2))


def _standard_error(trials: np.ndarray) -> np.ndarray:
    return trials.std(axis=0, ddof=1) / np.sqrt(len(trials))
