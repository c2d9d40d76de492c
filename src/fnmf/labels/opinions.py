"""Four opinions on the class of every row, and what they say of labels that are held out.

The graph: labels spread along the affinity, each class to the mass it should have. The clusters:
what the labels that reached a cluster say of all of it. The features: linear, in weighted units and
in units of the spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fnmf.data import View
from fnmf.execution import Runner
from fnmf.labels.linear import Linear, linear_classes
from fnmf.labels.pool import log_shares, logs
from fnmf.labels.spread import Spread

# Of an opinion so much is that of nobody: about the graph and about a cluster.
_DOUBT_GRAPH, _DOUBT_CLUSTER = 1e-4, 0.02
# Parts of the labels that are held out in turn, at most.
_PARTS = 10
# Entries of labelled rows that the linear opinions are fitted to, at most; rows, at most.
_ENTRIES, _ROWS = 20_000_000, 4000
# Mass below which no label has reached a row.
_REACH = 1e-8
_TINY = 1e-12


class Seeds(NamedTuple):
    """Rows whose class is taken as known: numbers, classes, and whether they were labelled."""

    rows: np.ndarray
    codes: np.ndarray
    told: np.ndarray

    def only(self, mask: np.ndarray) -> Seeds:
        """Some of them."""
        return Seeds(self.rows[mask], self.codes[mask], self.told[mask])


@dataclass(frozen=True)
class Surroundings:
    """What opinions are formed from.

    Attributes
    ----------
    spread : Spread
        Carries labels along the affinity.
    clusters : ndarray of shape (n,)
        Clusters found without labels.
    prior : ndarray of shape (k,)
        Share of each class.
    """

    spread: Spread
    clusters: np.ndarray
    prior: np.ndarray

    def opinions(self, seeds: Seeds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log probabilities by graph and by clusters, both (n, k), and which rows are reached."""
        k, prior = len(self.prior), self.prior
        values = np.eye(k)[seeds.codes]
        found = self.spread(seeds.rows, values)
        free = np.ones(len(found), bool)
        free[seeds.rows] = False
        mass = found[free].sum(axis=0) if free.any() else found.sum(axis=0)
        scaled = found * (prior / np.maximum(mass, _TINY))
        usual = scaled[free].sum() / max(free.sum(), 1)
        graph = _normed(scaled + _DOUBT_GRAPH * max(usual, _TINY) * prior)
        graph[seeds.rows] = _normed(values + _DOUBT_GRAPH)
        # Spread labels and given ones, by cluster.
        votes = scaled.copy()
        votes[seeds.rows] = values
        sums = np.zeros((int(self.clusters.max()) + 1, k))
        np.add.at(sums, self.clusters, votes)
        sums /= np.maximum(np.bincount(self.clusters), 1)[:, None]
        sums *= prior / np.maximum(sums.sum(axis=0), _TINY)
        doubt = _DOUBT_CLUSTER * max(float(sums.sum(axis=1).mean()), _TINY)
        clusters = _normed(sums + doubt * prior)[self.clusters]
        return logs(graph), logs(clusters), found.sum(axis=1) > _REACH

    def held_out(self, seeds: Seeds, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of the seeds, each without its own label, both (l, k)."""
        part = parts_of(seeds, len(self.prior), seed)
        graph = np.zeros((len(seeds.rows), len(self.prior)))
        clusters = graph.copy()
        for number in range(int(part.max()) + 1):
            out = part == number
            by_graph, by_clusters, _ = self.opinions(seeds.only(~out))
            graph[out] = by_graph[seeds.rows[out]]
            clusters[out] = by_clusters[seeds.rows[out]]
        return graph, clusters


def parts_of(seeds: Seeds, n_classes: int, seed: int) -> np.ndarray:
    """Which part each seed is held out with; every class is in all parts if it can, (l,)."""
    counts = np.bincount(seeds.codes, minlength=n_classes)
    parts = int(np.clip(np.median(counts[counts > 0]), 2, _PARTS))
    rng, part = np.random.RandomState(seed), np.zeros(len(seeds.codes), np.intp)
    for code in range(n_classes):
        own = np.flatnonzero(seeds.codes == code)
        part[rng.permutation(own)] = (np.arange(len(own)) + code) % parts
    return part


def can_hold_out(codes: np.ndarray, n_classes: int) -> bool:
    """Whether at least half of the classes have two labels: one to hold out, one to learn from."""
    counts = np.bincount(codes, minlength=n_classes)
    return bool(np.mean(counts[counts > 0] >= 2) >= 0.5) and int(np.sum(counts > 0)) > 1


def linear_opinions(
    view: View, top: np.ndarray, seeds: Seeds, n_classes: int, seed: int
) -> tuple[Linear, Linear, np.ndarray]:
    """In weighted units and in those of the spread, and which seeds they were fitted to."""
    most = max(min(_ROWS, _ENTRIES // max(view.shape[1], 1)), 2 * n_classes)
    chosen = np.arange(len(seeds.rows))
    if len(chosen) > most:
        chosen = np.sort(np.random.RandomState(seed).permutation(chosen)[:most])
    rows: Any = view.take(seeds.rows[chosen])
    rows = np.asarray(rows.toarray() if view.sparse else rows, np.float64)
    values = np.eye(n_classes)[seeds.codes[chosen]]
    spread = rows.std(axis=0)
    live = spread > _TINY * max(float(spread.max(initial=0)), _TINY)
    even = np.where(live, 1 / np.where(live, spread, 1), 0)
    weighted = linear_classes(rows, np.sqrt(top), values)
    return weighted, linear_classes(rows, even, values), chosen


def said_of(linear: Linear, view: View, runner: Runner) -> np.ndarray:
    """What a linear opinion says of rows, log probabilities (n, k)."""
    parts = view.few()

    def scores(start: int, stop: int) -> np.ndarray:
        return np.asarray(view.matrix(view.block(start, stop)) @ linear.slopes) + linear.level

    return log_shares(np.concatenate(list(runner.each(scores, parts))))


def _normed(shares: np.ndarray) -> np.ndarray:
    return shares / shares.sum(axis=1, keepdims=True)
