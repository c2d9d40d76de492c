"""Clusters of halves of the rows, and how far two labellings agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import nearest_rows, partition, small_graph
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Information that differs by less between shuffles does not differ.
_ROUNDING = 1e-9


class Half(NamedTuple):
    """One half of the rows: which, their graph, and its rows nearest to each of the other half."""

    rows: np.ndarray
    graph: sp.csr_array
    nearest: np.ndarray


def factors(context: SearchContext, chosen: Candidate) -> np.ndarray:
    """What a candidate multiplies features with before distances are taken, (d,)."""
    return context.table.units(chosen.columns) * np.sqrt(chosen.weights * context.duplicate_weights)


def row_halves(
    rows: Any,
    n_neighbors: int,
    splits: int,
    seed: int,
    defaults: Defaults = DEFAULTS,
    weights: np.ndarray | None = None,
) -> list[tuple[Half, Half]]:
    """Pairs of halves of prepared rows, each with its own graph; rows count as their weights."""
    rng = np.random.RandomState(seed)
    pairs = []
    for _ in range(splits):
        order = rng.permutation(rows.shape[0])
        one, other = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        halves = [
            Half(
                mine,
                small_graph(rows[mine], n_neighbors, None if weights is None else weights[mine]),
                nearest_rows(rows[theirs], rows[mine], defaults.nearest_rows),
            )
            for mine, theirs in ((one, other), (other, one))
        ]
        pairs.append((halves[0], halves[1]))
    return pairs


def cluster_recovery(
    pairs: Sequence[tuple[Half, Half]],
    labels: np.ndarray,
    rivals: Sequence[np.ndarray],
    n_clusters: int,
    cluster: Callable[[Half, np.ndarray], np.ndarray],
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Jaccard index of each cluster with the most similar one of other clusterings, (k,).

    These are those of halves of the rows, and the ``rivals`` of all rows. The least over all of
    them: what comes back only now and then does not come back. ``cluster`` gives labels to a half,
    whose labels so far it is told.
    """
    each = np.ones(len(labels)) if weights is None else weights
    compared = [(labels, other, each) for other in rivals]
    for half in (half for pair in pairs for half in pair):
        mine = labels[half.rows]
        compared.append((mine, cluster(half, mine), each[half.rows]))
    least = np.ones(n_clusters)
    for mine, other, own in compared:
        shared = np.zeros((n_clusters, n_clusters))
        np.add.at(shared, (mine, other), own)
        sizes = shared.sum(axis=1)
        either = sizes[:, None] + shared.sum(axis=0) - shared
        found = (shared / np.where(either > 0, either, 1)).max(axis=1)
        # A half without any sample of a cluster says nothing about it.
        least = np.where(sizes > 0, np.minimum(least, found), least)
    return np.where(np.bincount(labels, minlength=n_clusters) > 0, least, 0.0)


def quick_partition(
    graph: sp.csr_array,
    n_clusters: int,
    seed: int,
    defaults: Defaults,
    others: Sequence[np.ndarray] = (),
) -> np.ndarray:
    """Labels of a partition that serves to compare others."""
    return partition(graph, n_clusters, seed, starts=1, others=others, defaults=defaults).labels


def association(
    one: np.ndarray,
    other: np.ndarray,
    n_clusters: int,
    weights: np.ndarray | None = None,
    defaults: Defaults = DEFAULTS,
) -> float:
    """How much two labellings agree: mutual information in standard deviations from chance.

    Rows that stand for several are as many samples, up to those of an exact graph. Chance is what
    shuffling the samples makes of it. A chi-square would be simpler, and take two tiny clusters
    that happen to meet for more than they are.
    """
    if weights is not None:
        shrunk = min(1.0, defaults.exact_rows / float(weights.sum()))
        times = np.maximum(np.rint(shrunk * weights), 1).astype(np.intp)
        one, other = np.repeat(one, times), np.repeat(other, times)
    rng = np.random.RandomState(0)
    shuffles = (rng.permutation(other) for _ in range(defaults.shuffles))
    chance = [_information(one, shuffled, n_clusters) for shuffled in shuffles]
    spread = float(np.std(chance, ddof=1))
    if spread <= _ROUNDING:
        return 0.0
    return (_information(one, other, n_clusters) - float(np.mean(chance))) / spread


def _information(one: np.ndarray, other: np.ndarray, n_clusters: int) -> float:
    """Mutual information of two labellings in nats, up to what their sizes alone decide."""
    counts = np.bincount(one * n_clusters + other, minlength=n_clusters**2)
    counts = counts[counts > 0]
    return float(counts @ np.log(counts)) / len(one)


def beyond_chance(found: float | None, defaults: Defaults = DEFAULTS) -> bool | None:
    """Whether an association is more than chance; ``None`` if nothing could be compared."""
    return None if found is None else found > defaults.beyond_chance
