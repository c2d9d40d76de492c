"""Batches: rows measured together, which differ from others in more than their groups.

What is relevant is asked within batches: features are searched in the largest one, and moments are
taken about the means of batches. What separates batches instead is reported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import entropy

from fnmf.execution import Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.prepare import FeatureStatistics, capped_moments, capped_statistics
from fnmf.relevance.weights import relevance
from fnmf.statistics import Moments, column_means


class BatchEffect(NamedTuple):
    """What batches do to features and clusters.

    Attributes
    ----------
    relevance : ndarray of shape (d,)
        Share of each feature's variance that batches explain beyond chance.
    mixing : ndarray of shape (k,)
        Entropy of the batches in each cluster, as a share of that in all rows: 1 if a cluster has
        all batches as often as the data, 0 if it is of one batch alone.
    """

    relevance: np.ndarray
    mixing: np.ndarray


def largest_batch(batch: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Rows of the largest batch, as rows count."""
    return np.flatnonzero(batch == np.bincount(batch, weights).argmax())


def moments_within_batches(
    statistics: FeatureStatistics,
    batch: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    runner: Runner,
) -> Moments:
    """What clusters look like in every feature, about the mean of the batch of each row."""
    d = statistics.view.shape[1]
    counts, fourth = np.zeros(n_clusters), np.zeros(d)
    sums = np.zeros((n_clusters, d))
    squares, cells = sums.copy(), sums.copy()
    complete = True
    for one in range(int(batch.max()) + 1):
        rows = np.flatnonzero(batch == one)
        view = statistics.view.subset(rows)
        own = capped_statistics(view, statistics.typical, statistics.caps)
        found = capped_moments(own, labels[rows], n_clusters, runner)
        each = found.counts[:, None] if found.cells is None else found.cells
        complete &= found.cells is None
        counts += found.counts
        cells += each
        sums += each * found.shifts
        squares += found.within + each * found.shifts**2
        fourth += found.fourth
    mean = column_means(statistics.raw, runner)
    known = None if complete else cells
    return Moments.from_sums(counts, mean, sums, squares, fourth, known)


def batch_effect(
    statistics: FeatureStatistics,
    batch: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> BatchEffect:
    """Which features tell batches apart, and how well these are mixed within clusters."""
    count = int(batch.max()) + 1
    moments = capped_moments(statistics, batch, count, runner)
    shares = np.zeros((n_clusters, count))
    weights = statistics.view.weights
    np.add.at(shares, (labels, batch), 1 if weights is None else weights)
    best = float(entropy(np.bincount(batch, weights)))
    # A cluster without rows is not mixed.
    own = np.asarray([entropy(one) if one.any() else 0.0 for one in shares])
    mixing = np.minimum(own / best, 1) if best > 0 else np.ones(n_clusters)
    return BatchEffect(relevance(moments, defaults), mixing)
