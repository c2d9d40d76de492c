"""Four opinions on the class of every row, and what they say of labels that are held out.

The graph: labels spread along the affinity, each class to the mass it should have. The clusters:
what the labels that reached a cluster say of all of it. The features: by least squares in weighted
units, by logistic regression in units of the spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fnmf.data import View, drawn
from fnmf.execution import Runner
from fnmf.labels.linear import Linear, least_squares, logistic
from fnmf.labels.pool import log_shares, logs
from fnmf.labels.spread import Spread
from fnmf.relevance.prepare import Preparation
from fnmf.statistics import unit_scales

# Of an opinion so much is that of nobody: about the graph and about a cluster.
_DOUBT_GRAPH, _DOUBT_CLUSTER = 1e-4, 0.02
# Parts of the labels that are held out in turn, at most.
_PARTS, _FEW_PARTS = 10, 5
# Entries of labelled rows that the linear opinions are fitted to, at most; rows, at most.
_ENTRIES, _ROWS = 20_000_000, 2000
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
        sums = np.zeros((int(self.clusters.max()) + 1, k))
        np.add.at(sums, self.clusters, graph)
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


def parts_of(seeds: Seeds, n_classes: int, seed: int, most: int = _PARTS) -> np.ndarray:
    """Which part each seed is held out with; every class is in all parts if it can, (l,)."""
    counts = np.bincount(seeds.codes, minlength=n_classes)
    parts = int(np.clip(np.median(counts[counts > 0]), 2, most))
    rng, part = np.random.RandomState(seed), np.zeros(len(seeds.codes), np.intp)
    for code in range(n_classes):
        own = np.flatnonzero(seeds.codes == code)
        part[rng.permutation(own)] = (np.arange(len(own)) + code) % parts
    return part


def can_hold_out(codes: np.ndarray, n_classes: int) -> bool:
    """Whether at least half of the classes have two labels: one to hold out, one to learn from."""
    counts = np.bincount(codes, minlength=n_classes)
    return int(np.sum(counts > 0)) > 1 and bool(np.mean(counts[counts > 0] >= 2) >= 0.5)


@dataclass(frozen=True)
class LinearRows:
    """Rows that linear opinions are read off, as the fit has prepared them and without weights.

    Attributes
    ----------
    weighted, plain : View
        Scaled by the length of their weighted features; by that of all of them, in own units.
    roots, even : ndarray of shape (d,)
        Roots of the weights, and one over the spread of the plain rows.
    """

    weighted: View
    plain: View
    roots: np.ndarray
    even: np.ndarray

    def fit(self, seeds: Seeds, n_classes: int, seed: int) -> tuple[tuple[Linear, Linear], Seeds]:
        """The two opinions, and the seeds they were fitted to."""
        d = self.weighted.shape[1]
        most = max(min(_ROWS, _ENTRIES // max(d, 1)), 2 * n_classes)
        chosen = np.arange(len(seeds.rows))
        if len(chosen) > most:
            chosen = np.sort(np.random.RandomState(seed).permutation(chosen)[:most])
        some = Seeds(seeds.rows[chosen], seeds.codes[chosen], seeds.told[chosen])
        values = np.eye(n_classes)[some.codes]
        first = least_squares(dense(self.weighted, some.rows), self.roots, values)
        part = parts_of(some, n_classes, seed, _FEW_PARTS)
        plain = dense(self.plain, some.rows)
        return (first, logistic(plain, self.even, some.codes, n_classes, part)), some

    def say(self, linear: tuple[Linear, Linear], runner: Runner) -> list[np.ndarray]:
        """Log probabilities of all rows by both, (n, k)."""
        return [
            said_of(one, view, runner)
            for one, view in zip(linear, (self.weighted, self.plain), strict=True)
        ]

    def subset(self, rows: np.ndarray) -> LinearRows:
        """Some of the rows."""
        return replace(self, weighted=self.weighted.subset(rows), plain=self.plain.subset(rows))


def plain_rows(view: View, caps: np.ndarray, unit: bool, runner: Runner) -> View:
    """Capped rows in own units, of unit length if that is how the fit sees them."""
    columns = Preparation(caps, np.ones(len(caps)))
    raw = columns.view(view, view.constant(1.0))
    return columns.view(view, unit_scales(raw, runner)[0]) if unit else raw


def spread_units(plain: View, seed: int) -> np.ndarray:
    """One over the standard deviation of the features in a sample of rows, (d,)."""
    d = plain.shape[1]
    most = max(min(_ROWS, _ENTRIES // max(d, 1)), 1)
    rows = drawn(plain.shape[0], most, np.random.RandomState(seed))
    spread = dense(plain, rows).std(axis=0)
    live = spread > _TINY * max(float(spread.max(initial=0)), _TINY)
    return np.where(live, 1 / np.where(live, spread, 1), 0)


def dense(view: View, rows: np.ndarray) -> np.ndarray:
    """Some rows as an array in double precision."""
    taken: Any = view.take(rows)
    return np.asarray(taken.toarray() if view.sparse else taken, np.float64)


def said_of(linear: Linear, view: View, runner: Runner) -> np.ndarray:
    """What a linear opinion says of rows, log probabilities (n, k)."""
    parts = view.few()

    def scores(start: int, stop: int) -> np.ndarray:
        return np.asarray(view.matrix(view.block(start, stop)) @ linear.slopes) + linear.level

    return log_shares(np.concatenate(list(runner.each(scores, parts))))


def _normed(shares: np.ndarray) -> np.ndarray:
    return shares / shares.sum(axis=1, keepdims=True)
