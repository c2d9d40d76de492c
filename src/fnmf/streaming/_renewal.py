"""A new model from the reservoir, with the numbers of the old one where it found the same."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from fnmf._fitted import Fitted, present
from fnmf._settings import Settings
from fnmf.affinity import completed, improve, partition
from fnmf.data import Scaling, View, as_counts, dense_if_missing
from fnmf.execution import Runner, add_up, concatenated
from fnmf.factorization import Observer, Problem
from fnmf.labels.guidance import Guidance
from fnmf.labels.scheme import GuidedScheme
from fnmf.relevance.scheme import SCHEMES, best_start
from fnmf.statistics import column_means
from fnmf.streaming._memory import Memory
from fnmf.streaming._reading import Reading, Sums
from fnmf.streaming._reservoir import Reservoir

# Modularity that new clusters must gain over those that are known,
_BETTER = 0.01
# which are looked for with many starts: few rows have many partitions that are nearly as good.
_STARTS = 32
# Share of the rows that are ordinary; those further from all centres are strange.
_ORDINARY = 0.95


class Before(NamedTuple):
    """The model and the sums so far, and whether they rest on as many rows as there are now."""

    fitted: Fitted
    memory: Memory
    settled: bool


def renewed(
    reservoir: Reservoir,
    settings: Settings,
    seed: int,
    weight: float,
    before: Before | None,
    guidance: Guidance | None,
    runner: Runner,
) -> tuple[Fitted, Memory]:
    """Choose, fit and sum up on the reservoir, which stands for rows of this total ``weight``.

    Clusters of a model ``before`` that is settled stay unless new ones are clearly better; else
    the better ones are taken. Labels of some rows decide what the clusters are, if there are any.
    """
    # The reservoir goes on to change.
    view = completed(dense_if_missing(reservoir.rows.copy()), runner)
    view.weighing(as_counts(reservoir.sample_weight))
    if before is not None and before.settled and settings.row_norm == "auto":
        # Chosen when there were as many rows: the codes of a stream keep their units.
        unit = before.fitted.row_scale is None
        settings = replace(settings, row_norm="unit" if unit else "none")
    problem = Problem(settings, view, seed, Observer(), sure=False, guidance=guidance)
    fitted = best_start(problem, [seed], runner, GuidedScheme)
    if guidance is None:
        fitted = _searched(fitted, settings, seed)
    if before is not None and guidance is None:
        found = SCHEMES["relevance"].predict(before.fitted, settings, view, runner)
        fitted = _numbered_as(fitted, found, before.fitted, settings.clusters)
        fitted = _going_on(fitted, found, settings, _BETTER if before.settled else 0.0)
    n, d = view.shape
    caps, labels = present(fitted.caps), present(fitted.labels)
    capped = view.scaled(Scaling(np.ones(n), caps, np.ones(d)))
    about = column_means(capped, runner)
    k = settings.clusters
    reading = Reading(fitted, about, np.zeros((k, d)), np.ones(k, bool))
    sums = add_up(runner.over(reading, view, labels))
    distances = _distances(fitted, sums, about, view, runner)
    limit, strange = _limit(distances, before, view, runner)
    memory = Memory(sums._replace(strange=strange), about, limit)
    return fitted, memory.decayed(weight / view.total)


def _distances(
    fitted: Fitted, sums: Sums, about: np.ndarray, view: View, runner: Runner
) -> np.ndarray:
    """Squared distances to the nearest centre, as a model sees them."""
    return concatenated(runner.over(Reading(fitted, about, *sums.centres).distances, view))


def _limit(
    distances: np.ndarray, before: Before | None, view: View, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """Where rows begin to be strange, and how many of the sample are so beyond expectation.

    In the middle of a change the sample is of two kinds; ordinary is what most rows are.
    """
    nobody, own = np.zeros(1), view.weights
    if before is None:
        return _most(distances, own), nobody
    fitted, memory, _ = before
    ordinary = _distances(fitted, memory.sums, memory.about, view, runner) <= memory.limit[0]
    each = np.ones(len(distances)) if own is None else own
    if 2 * each[ordinary].sum() < view.total:
        return _most(distances[~ordinary], None if own is None else own[~ordinary]), nobody
    limit = _most(distances[ordinary], None if own is None else own[ordinary])
    expected = (1 - _ORDINARY) * view.total
    return limit, np.maximum(each[distances > limit].sum() - expected, nobody)


def _most(distances: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The distance that the ordinary share of rows is within, (1,)."""
    if weights is None:
        return np.quantile(distances, [_ORDINARY])
    order = np.argsort(distances, kind="stable")
    below = np.cumsum(weights[order])
    return distances[order[[np.searchsorted(below, _ORDINARY * below[-1])]]]


def _deciding(fitted: Fitted) -> sp.csr_array | None:
    """The graph whose clusters these are; ``None`` if they lie about means or are of the codes."""
    return fitted.graph if fitted.kmeans is None and fitted.centres is None else None


def _searched(fitted: Fitted, settings: Settings, seed: int) -> Fitted:
    """The best clusters of many starts on the graph of the fit."""
    if (graph := _deciding(fitted)) is None or settings.clusters < 2:
        return fitted
    known = [present(fitted.labels)]
    best = partition(graph, settings.clusters, seed, starts=_STARTS, others=known)
    return replace(fitted, labels=best.labels)


def _going_on(fitted: Fitted, found: np.ndarray, settings: Settings, gain: float) -> Fitted:
    """The clusters of before, unless those of now are better on the new graph by some ``gain``."""
    if (graph := _deciding(fitted)) is None:
        return fitted
    known, new = (
        improve(graph, labels, settings.clusters) for labels in (found, present(fitted.labels))
    )
    return replace(fitted, labels=known.labels) if new.value < known.value + gain else fitted


def _numbered_as(fitted: Fitted, found: np.ndarray, before: Fitted, n_clusters: int) -> Fitted:
    """The same model with clusters and components in the order of those they agree with most.

    ``found`` are the clusters of its rows by the model before.
    """
    labels = present(fitted.labels)
    shared = np.zeros((n_clusters, n_clusters))
    np.add.at(shared, (labels, found), 1)
    number = linear_sum_assignment(-shared)[1]
    was = np.argsort(number)
    alike = _directions(fitted) @ _directions(before).T
    order = np.argsort(linear_sum_assignment(-alike)[1])
    kmeans = fitted.kmeans
    if kmeans is not None:
        kmeans.cluster_centers_ = kmeans.cluster_centers_[was][:, order]
        kmeans.labels_ = number[kmeans.labels_].astype(kmeans.labels_.dtype)
    return replace(
        fitted,
        labels=number[labels],
        components=np.ascontiguousarray(fitted.components[order]),
        embedding=np.ascontiguousarray(fitted.embedding[:, order]),
        kmeans=kmeans,
        centres=None if fitted.centres is None else fitted.centres[was],
        precisions=None if fitted.precisions is None else fitted.precisions[was],
        intercepts=None if fitted.intercepts is None else fitted.intercepts[was],
        cell_offsets=None if fitted.cell_offsets is None else fitted.cell_offsets[was],
    )


def _directions(fitted: Fitted) -> np.ndarray:
    """Components in the units of the data, at unit length."""
    rows = fitted.components.astype(np.float64) / present(fitted.units)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)
