"""Rows whose class is taken as known: labelled ones, and those that stand for new classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fnmf.affinity import graph_votes
from fnmf.labels.known import Known
from fnmf.relevance.results import FoundClusters

# Votes from which a row stands for a cluster that becomes a class of its own.
_CORE = 0.5
# Rows that stand for a new class among the linear opinions, times the labels of a class.
_STAND_INS = 2
# Parts of the labels that are held out in turn, at most; so few of a class that has many labels:
# what a third less of them would say is nearly what all say.
_PARTS, _FEW_PARTS, _MANY = 10, 3, 50


class Seeds(NamedTuple):
    """Rows whose class is taken as known: places, classes, and whether they were labelled."""

    rows: np.ndarray
    codes: np.ndarray
    told: np.ndarray

    def only(self, chosen: np.ndarray) -> Seeds:
        """Some of them, by a mask or by numbers."""
        return Seeds(self.rows[chosen], self.codes[chosen], self.told[chosen])

    def few_of_new(self, seed: int) -> Seeds:
        """Labelled ones, and of new classes about as many as of labelled ones."""
        told = self.told
        each = int(told.sum()) // max(len(np.unique(self.codes[told])), 1)
        keep, rng = told.copy(), np.random.RandomState(seed)
        for code in np.unique(self.codes[~told]):
            own = np.flatnonzero(~told & (self.codes == code))
            keep[rng.permutation(own)[: max(_STAND_INS * each, 10)]] = True
        return self.only(keep)

    def parts(self, n_classes: int, seed: int) -> np.ndarray:
        """Which part each is held out with, every class in all parts if it can, -1 never, (l,)."""
        counts = np.bincount(self.codes, minlength=n_classes)
        usual = np.median(counts[counts > 0])
        parts = int(np.clip(usual, 2, _PARTS if usual < _MANY else _FEW_PARTS))
        rng, part = np.random.RandomState(seed), np.zeros(len(self.codes), np.intp)
        for code in range(n_classes):
            own = np.flatnonzero(self.codes == code)
            part[rng.permutation(own)] = (np.arange(len(own)) + code) % parts
        part[self.told & ~self.spared] = -1
        return part

    @property
    def spared(self) -> np.ndarray:
        """Which labels can be held out, (l,): one is, another of the class is there to learn from.

        None if fewer than half of the labelled classes have two.
        """
        counts = np.bincount(self.codes[self.told], minlength=int(self.codes.max(initial=0)) + 1)
        given = counts[counts > 0]
        some = len(given) > 1 and bool(np.mean(given >= 2) >= 0.5)
        return self.told & (counts[self.codes] >= 2) & some

    def shares(self, n_rows: int, n_classes: int) -> np.ndarray:
        """Share of each class: of new ones their seeds, of others what is left, by labels, (k,).

        One more label is counted for each labelled class (Laplace's rule of succession): few
        labels say little about sizes. Drawn at random, two a class on average, nine sets have
        .714 with it and .682 without; shares that are labelled by class lose nothing.
        """
        new = np.bincount(self.codes[~self.told], minlength=n_classes) / n_rows
        given = np.bincount(self.codes[self.told], minlength=n_classes).astype(np.float64)
        given[given > 0] += 1
        left, total = max(1 - new.sum(), 0.0), given.sum()
        prior = np.maximum(new + (left * given / total if total else 0), 1 / n_rows)
        return prior / prior.sum()


def find_seeds(known: Known, found: FoundClusters, clusters: np.ndarray, n_classes: int) -> Seeds:
    """Labelled rows, and rows at the core of the clusters with the fewest labels: new classes."""
    rows, codes = known.rows, known.codes[known.rows]
    more = n_classes - len(known.classes)
    if more <= 0:
        return Seeds(rows, codes, np.ones(len(rows), bool))
    sizes = np.bincount(clusters, minlength=n_classes)
    labelled = np.bincount(clusters[rows], minlength=n_classes) / np.maximum(sizes, 1)
    core = np.ones(len(clusters), bool)
    if found.affinity.graph is not None:
        # Their neighbours are mostly of the same cluster.
        votes = graph_votes(found.affinity.graph, clusters, n_classes)
        core = votes[np.arange(len(clusters)), clusters] >= _CORE
    core[rows] = False
    for number, cluster in enumerate(np.lexsort((-sizes, labelled))[:more]):
        own = np.flatnonzero(core & (clusters == cluster))
        rows = np.concatenate([rows, own])
        codes = np.concatenate([codes, np.full(len(own), len(known.classes) + number)])
    return Seeds(rows, codes, np.arange(len(rows)) < len(known.rows))
