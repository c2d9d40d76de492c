"""How many clusters a sample has: scores for every number, from what comes back in halves of it.

The clusters for a number k are those of the graph of all weighted features. They are good as far as

* the graphs of random halves of the features, which did not make them, tie them together beyond
  chance (modularity; a cluster that was cut in two without reason costs the ties across);
* the halves of the features, each on its own, find the same clusters;
* halves of the rows find the same clusters.

How much each counts was measured on labelled sets, each left out in turn (docs/choosing.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fnmf.graph import partition, small_graph, spectrum, ties_between
from fnmf.portfolio._explore import Candidate, Task
from fnmf.portfolio._resampling import (
    factors,
    feature_halves,
    features_agree,
    row_halves,
    rows_agree,
)
from fnmf.runners import Runner

# Price of large clusters, 1 in Newman's modularity.
_RESOLUTION = 0.85
# What agreement of halves counts beside modularity.
_PARTS = np.array([1.0, 0.3, 0.2])
# Times that features and rows are halved.
_SPLITS = 3
_STARTS = 2
# Halves must have a few samples for each cluster.
_FEWEST_PER_CLUSTER = 4

SCORES = np.dtype(
    [
        ("k", np.int64),
        ("score", np.float64),
        ("spread", np.float64),
        ("modularity", np.float64),
        ("features_agree", np.float64),
        ("rows_agree", np.float64),
        ("eigengap", np.float64),
        ("smallest", np.int64),
    ]
)


@dataclass(frozen=True)
class Numbers:
    """Scores by number of clusters, those of each split, and the clusters of the sample.

    Attributes
    ----------
    scores : structured ndarray of shape (K,)
        Figures by number.
    trials : ndarray of shape (S, K)
        Score of each number in each split.
    labels : ndarray of shape (K, n)
        Clusters for each number.
    """

    scores: np.ndarray
    trials: np.ndarray
    labels: np.ndarray

    @property
    def best(self) -> int:
        """The number of the highest score."""
        return int(self.scores["k"][self.scores["score"].argmax()])

    @property
    def doubt(self) -> np.ndarray:
        """Standard error of what each number loses against the best, (K,)."""
        lost = self.trials[:, [self.scores["score"].argmax()]] - self.trials
        return lost.std(axis=0, ddof=1) / np.sqrt(len(lost))


def possible(numbers: Sequence[int], n_samples: int) -> list[int]:
    """Numbers of at least two clusters that so many samples can be asked about."""
    most = max(n_samples // _FEWEST_PER_CLUSTER, 2)
    return [k for k in numbers if 2 <= k <= most]


def score_numbers(task: Task, chosen: Candidate, numbers: Sequence[int], runner: Runner) -> Numbers:
    """Scores of all numbers with features weighted as a candidate does."""
    rows = task.table.scaled(factors(task, chosen), chosen.unit)
    graph = small_graph(rows, task.n_neighbors)
    halves = feature_halves(task, chosen, _SPLITS)
    pairs = row_halves(rows, task.n_neighbors, _SPLITS, task.seed)
    values = spectrum(graph, max(numbers) + 1, task.seed)

    def one(k: int) -> tuple[np.ndarray, np.ndarray]:
        labels = partition(graph, k, task.seed, starts=_STARTS).labels
        two_by_two = [halves[i : i + 2] for i in range(0, len(halves), 2)]
        judged = [np.mean([_modularity(g, labels, k) for g in two]) for two in two_by_two]
        across = [features_agree(two, k, task.seed) for two in two_by_two]
        if not halves:
            # Too few features to do without half of them: graphs of half of the rows must do.
            judged = [
                np.mean([_modularity(half.graph, labels[half.rows], k) for half in pair])
                for pair in pairs
            ]
            across = [0.0] * _SPLITS
        again = [rows_agree(pair, k, task.seed) for pair in pairs]
        return labels, np.array([judged, across, again])

    found = list(runner.each(one, [(k,) for k in numbers]))
    labels = np.array([labels for labels, _ in found])
    parts = np.array([figures for _, figures in found])
    trials = (_PARTS @ parts).T
    scores = np.zeros(len(numbers), SCORES)
    scores["k"], scores["score"] = numbers, trials.mean(axis=0)
    # What all numbers gain or lose in a split alike does not matter to the choice.
    own = trials - trials.mean(axis=1, keepdims=True)
    scores["spread"] = own.std(axis=0, ddof=1) / np.sqrt(_SPLITS)
    for name, figures in zip(
        ("modularity", "features_agree", "rows_agree"), parts.mean(axis=2).T, strict=True
    ):
        scores[name] = figures
    for row, k in zip(scores, numbers, strict=True):
        row["eigengap"] = values[k - 1] - values[k] if k < len(values) else 0
    scores["smallest"] = [
        np.bincount(one, minlength=k).min() for one, k in zip(labels, numbers, strict=True)
    ]
    return Numbers(scores, trials, labels)


def _modularity(graph: sp.csr_array, labels: np.ndarray, n_clusters: int) -> float:
    ties = ties_between(graph, labels, n_clusters)
    return float(np.trace(ties) - _RESOLUTION * np.sum(ties.sum(axis=1) ** 2))
