"""Three opinions on the class of a row, and what they say of labels that are held out.

The graph: labels spread along the affinity, each class to the mass it should have. The clusters:
what the labels that reached a cluster say of all of it. The features: logistic regression in units
of the spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fnmf.data import View, drawn
from fnmf.execution import RowArray, Runner, parts_of
from fnmf.labels.linear import Linear, logistic
from fnmf.labels.pool import log_shares, logs
from fnmf.labels.seeds import Seeds
from fnmf.labels.spread import Spread
from fnmf.relevance.prepare import Preparation
from fnmf.relevance.results import FoundClusters
from fnmf.statistics import unit_scales

# Of an opinion so much is that of nobody: about the graph and about a cluster. Five to ten times
# more or less changes the mean of seven sets by less than .001 at 1 a class, 5 % and 10 %.
_DOUBT_GRAPH, _DOUBT_CLUSTER = 1e-4, 0.02
# Entries of labelled rows that the linear opinion is fitted to, at most; rows, at most.
_ENTRIES, _ROWS = 20_000_000, 2000
# Mass below which no label has reached a row.
_REACH = 1e-8
_TINY = 1e-12


@dataclass(frozen=True)
class Surroundings:
    """What the opinions of graph and clusters are formed from.

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
        sums = np.zeros((int(self.clusters.max()) + 1, k))
        np.add.at(sums, self.clusters, graph)
        sums *= prior / np.maximum(sums.sum(axis=0), _TINY)
        doubt = _DOUBT_CLUSTER * max(float(sums.sum(axis=1).mean()), _TINY)
        clusters = _normed(sums + doubt * prior)[self.clusters]
        return logs(graph), logs(clusters), found.sum(axis=1) > _REACH

    def held_out(self, seeds: Seeds, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of the seeds, each without its own label, both (l, k)."""
        part = seeds.parts(len(self.prior), seed)
        graph = np.zeros((len(seeds.rows), len(self.prior)))
        clusters = graph.copy()
        for number in range(int(part.max()) + 1):
            out = part == number
            by_graph, by_clusters, _ = self.opinions(seeds.only(~out))
            graph[out] = by_graph[seeds.rows[out]]
            clusters[out] = by_clusters[seeds.rows[out]]
        return graph, clusters


@dataclass(frozen=True)
class LinearRows:
    """Rows that the linear opinion is read off.

    Attributes
    ----------
    rows : View
        Capped rows in own units, of unit length if that is how the fit sees them.
    units : ndarray of shape (d,)
        One over the spread of the features.
    """

    rows: View
    units: np.ndarray

    @classmethod
    def of(cls, found: FoundClusters, seed: int, runner: Runner) -> LinearRows:
        """Rows of a fit."""
        statistics, unit = found.statistics, found.prepared.row_scale is None
        rows = plain_rows(statistics.view, statistics.caps, unit, runner)
        return cls(rows, _spread_units(rows, seed))

    def fit(
        self, seeds: Seeds, held: np.ndarray, n_classes: int, seed: int
    ) -> tuple[Linear, np.ndarray, np.ndarray]:
        """The opinion, the seeds it was fitted to, and what it says of each without its label.

        ``held`` are the rows of the places that seeds have.
        """
        most = max(min(_ROWS, _ENTRIES // max(len(self.units), 1)), 2 * n_classes)
        chosen = drawn(len(seeds.rows), most, np.random.RandomState(seed))
        some = seeds.only(chosen)
        part = some.parts(n_classes, seed) if seeds.spared.any() else None
        rows = _dense(self.rows, held[some.rows])
        linear, said = logistic(rows, self.units, some.codes, n_classes, part)
        return linear, chosen, said


def plain_rows(view: View, caps: np.ndarray, unit: bool, runner: Runner) -> View:
    """Capped rows in own units, of unit length if that is how the fit sees them."""
    columns = Preparation(caps, np.ones(len(caps)))
    raw = columns.view(view, view.constant(1.0))
    return columns.view(view, unit_scales(raw, runner)[0]) if unit else raw


def said_of(linear: Linear, view: View, runner: Runner) -> RowArray:
    """What a linear opinion says of rows, log probabilities (n, k)."""
    scores = partial(_scores, linear.slopes.astype(view.dtype), linear.level)
    return runner.map_rows(scores, parts_of(view), (), linear.level.shape, np.float64)


def _scores(slopes: np.ndarray, level: np.ndarray, part: View) -> np.ndarray:
    found = [np.asarray(part.matrix(part.block(*span)) @ slopes) for span in part.few()]
    return log_shares(np.concatenate(found) + level)


def _spread_units(plain: View, seed: int) -> np.ndarray:
    """One over the standard deviation of the features in a sample of rows, (d,)."""
    n, d = plain.shape
    rows = drawn(n, max(min(_ROWS, _ENTRIES // max(d, 1)), 1), np.random.RandomState(seed))
    spread = _dense(plain, rows).std(axis=0)
    live = spread > _TINY * max(float(spread.max(initial=0)), _TINY)
    return np.where(live, 1 / np.where(live, spread, 1), 0)


def _dense(view: View, rows: np.ndarray) -> np.ndarray:
    """Some rows as an array in double precision."""
    taken: Any = view.take(rows)
    return np.asarray(taken.toarray() if view.sparse else taken, np.float64)


def _normed(shares: np.ndarray) -> np.ndarray:
    return shares / shares.sum(axis=1, keepdims=True)
