"""Clusters about means, or of a mixture, over all rows.

On a sample weak features cannot be told from noise; over all rows they can. So k-means
over all rows starts from the clusters of the sample, features are weighted by its clusters, and
both are repeated as long as more is explained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fnmf.affinity import nearest_anchors
from fnmf.data import IncompleteView, View
from fnmf.execution import BlockSource, RowArray, Runner, parts_of
from fnmf.relevance.choice import Choice
from fnmf.relevance.crossfit import factors
from fnmf.relevance.mixture import Mixture, sample_mixture
from fnmf.relevance.prepare import FeatureStatistics, PreparedRows, Weights, capped_moments, prepare
from fnmf.relevance.weights import single_weighting, weights_converged
from fnmf.statistics import Moments, cluster_means


@dataclass(frozen=True)
class LloydClusters:
    """Clusters of all rows, their means (k, d), what they were found with and what they explain.

    If they are of a ``mixture``, that tells which of them a row belongs to.
    """

    choice: Choice
    prepared: PreparedRows
    labels: RowArray
    centres: np.ndarray
    moments: Moments
    explained: float
    mixture: Mixture | None = None


def lloyd_all_rows(statistics: FeatureStatistics, choice: Choice, runner: Runner) -> LloydClusters:
    """Clusters of all rows about means that begin as those of the sample."""
    context, known = choice.context, choice.labels
    assert context is not None
    assert known is not None
    if choice.clusters == "mixture":
        return _mixture_all_rows(statistics, choice, runner)
    if choice.columns is not None:
        # Weights of a table come from clusters that each column had no part in.
        return _lloyd(statistics, choice, known, choice.sample, runner)
    counts, defaults = context.duplicate_weights, context.defaults
    # What the sample left out may have been too weak for it, or noise.
    even = Weights(counts[None], np.zeros((1, len(counts))))
    starts = (choice, replace(choice, weights=even))
    tried = [_lloyd(statistics, one, known, choice.sample, runner) for one in starts]
    best = max(tried, key=lambda one: one.explained)
    for _ in range(defaults.refreshes):
        omega, price = single_weighting(best.moments, choice.units, defaults)
        weights = Weights(omega[None], price[None]).shared(counts)
        if weights_converged(best.choice.weights.omega, weights.omega, defaults):
            break
        found = _lloyd(statistics, replace(choice, weights=weights), best.labels, None, runner)
        if found.explained <= best.explained:
            break
        best = found
    return best


def _mixture_all_rows(
    statistics: FeatureStatistics, choice: Choice, runner: Runner
) -> LloydClusters:
    """The likeliest groups of all rows by the mixture of the sample."""
    context, columns = choice.context, choice.columns
    assert context is not None
    assert columns is not None
    scales = factors(context, choice.candidates[0])
    found, used = sample_mixture(context, scales)
    prepared = prepare(statistics, choice.units, choice.weights, choice.unit, runner)
    assert prepared.row_scale is not None
    units = prepared.row_scale * (choice.units / columns.units)[used]
    shift = (columns.mean * columns.units)[used]
    mixture = found.in_units(units, shift).among(used, len(scales))
    labels = likeliest(prepared.view, mixture, runner)
    moments = capped_moments(statistics, labels, context.n_clusters, runner)
    explained = context.explained(moments)
    return LloydClusters(choice, prepared, labels, mixture.centres, moments, explained, mixture)


def likeliest(scaled: View, mixture: Mixture, runner: Runner) -> RowArray:
    """The group of a mixture in which each of some scaled rows is likeliest."""
    return runner.map_rows(partial(_likeliest, mixture), parts_of(scaled), (), (), np.int32)


def _likeliest(mixture: Mixture, part: View) -> np.ndarray:
    n = part.shape[0]
    rows = part.double(0, n)
    if isinstance(part, IncompleteView):
        rows[~part.observed(0, n)] = np.nan
    return mixture.labels(rows)


def nearest_mean(
    weighted: View, centres: np.ndarray, omega: np.ndarray, runner: Runner
) -> RowArray:
    """The nearest of some means of scaled rows, for rows in the weighted features."""
    there = (centres * np.sqrt(omega.max(axis=0)))[:, weighted.kept]
    found = nearest_anchors(weighted, there, 1, runner).indices
    return runner.map_rows(_first, BlockSource(weighted), (found,), (), np.int32)


def mean_coordinates(
    prepared: PreparedRows, weights: Weights, labels: RowArray, n_clusters: int, runner: Runner
) -> RowArray:
    """Rows in the space that the means of the clusters span, (n, at most k).

    Distances to all of the means differ there as they do in all weighted features.
    """
    view, root = prepared.view, np.sqrt(weights.top)
    means, counts = cluster_means(view, labels, n_clusters, runner)
    apart = np.where(counts[:, None] > 0, means - prepared.mean, 0) * root
    along = np.linalg.qr(apart.T)[0] * root[:, None]
    coordinates = partial(_coordinates, along, prepared.mean @ along)
    return runner.map_rows(coordinates, parts_of(view), (), along.shape[1:], view.dtype)


def _coordinates(along: np.ndarray, offset: np.ndarray, part: View) -> np.ndarray:
    return part.double(0, part.shape[0]) @ along - offset


def _first(found: np.ndarray) -> np.ndarray:
    return found[:, 0]


def _n_changed(labels: np.ndarray, before: np.ndarray) -> tuple[np.ndarray]:
    return (np.asarray(np.count_nonzero(labels != before)),)


def _lloyd(
    statistics: FeatureStatistics,
    choice: Choice,
    known: RowArray,
    rows: np.ndarray | None,
    runner: Runner,
) -> LloydClusters:
    """k-means over all rows from the clusters of some or all."""
    context, omega = choice.context, choice.weights.omega
    assert context is not None
    k, defaults = context.n_clusters, context.defaults
    prepared = prepare(statistics, choice.units, choice.weights, choice.unit, runner)
    view = prepared.view
    centres, _ = cluster_means(view if rows is None else view.subset(rows), known, k, runner)
    labels = nearest_mean(prepared.weighted, centres, omega, runner)
    for _ in range(defaults.sweeps):
        means, counts = cluster_means(view, labels, k, runner)
        centres = np.where(counts[:, None] > 0, means, centres)
        before, labels = labels, nearest_mean(prepared.weighted, centres, omega, runner)
        (moved,) = runner.sum_rows(_n_changed, BlockSource(view), labels, before)
        if moved / view.shape[0] < defaults.negligible:
            break
    moments = capped_moments(statistics, labels, k, runner)
    return LloydClusters(choice, prepared, labels, centres, moments, context.explained(moments))
