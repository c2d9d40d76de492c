"""Relevance of a column from clusters that were made without it, and clusters of halves of rows.

A column alone, whatever its kind, then never makes the clusters that it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import chdtrc
from sklearn.metrics.cluster import expected_mutual_information

from fnmf.affinity import nearest_rows, partition, small_graph
from fnmf.kmeans import best_kmeans
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.table_columns import CATEGORY, FLAG, has_modes, related_columns
from fnmf.relevance.weights import explained

# Information that differs by less between shuffles does not differ.
_ROUNDING = 1e-9
_EPSILON = float(np.finfo(np.float64).eps)


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


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """Adjusted mutual information of two labellings, bit for bit as scikit-learn has it.

    Its checks of what it is given take ten times as long as the sums.
    """
    n, width = len(one), int(other.max()) + 1
    shared = np.bincount(one * width + other, minlength=width * (int(one.max()) + 1))
    shared = shared.reshape(-1, width)
    shared = shared[shared.any(axis=1)][:, shared.any(axis=0)]
    if 1 in shared.shape:
        return float(shared.size == 1)
    mine, theirs = shared.sum(axis=1), shared.sum(axis=0)
    row, column = np.nonzero(shared)
    both = shared[row, column]
    beyond = -np.log(mine[row] * theirs[column]) + np.log(n) + np.log(n)
    parts = both / n * (np.log(both) - np.log(n)) + both / n * beyond
    found = max(float(np.where(np.abs(parts) < _EPSILON, 0, parts).sum()), 0.0)
    chance = float(expected_mutual_information(shared, n))
    most = (_entropy(mine, n) + _entropy(theirs, n)) / 2
    gained, possible = (
        min(gap, -_EPSILON) if gap < 0 else max(gap, _EPSILON)
        for gap in (found - chance, most - chance)
    )
    return gained / possible


def _entropy(counts: np.ndarray, n: int) -> float:
    return -float(np.sum(counts / n * (np.log(counts) - np.log(n))))


def beyond_chance(found: float | None, defaults: Defaults = DEFAULTS) -> bool | None:
    """Whether an association is more than chance; ``None`` if nothing could be compared."""
    return None if found is None else found > defaults.beyond_chance


def crossfit_relevance(
    table: SampleTable,
    groups: np.ndarray,
    kinds: np.ndarray,
    n_clusters: int,
    seed: int,
    defaults: Defaults = DEFAULTS,
) -> tuple[np.ndarray, bool]:
    """Share of each feature that clusters of other columns explain, 0 if that may be chance, (d,).

    And whether any share is more than chance, all columns and halves that were tried counted.

    The columns are halved at random a few times. k-means clusters the rows by one half, and the
    features of the other half are compared with these clusters; the largest share counts. A second
    round halves the columns that were explained, each weighted by its share, so that all are
    compared with better clusters too. If hardly anything is explained so, clusters of each single
    column are compared with the others. Columns that may measure one thing make no clusters if
    these alone explain them and other columns explain each other.

    Parameters
    ----------
    table : SampleTable
        Standardised rows.
    groups : ndarray of shape (d,)
        The column of each feature; features of a column stay together, and count as one.
    kinds : ndarray of str of shape (d,)
        The kind of each feature.
    n_clusters : int
        Clusters to compare with.
    seed : int
        Of the halves and of k-means.
    """
    names, rng = np.unique(groups[table.scatter > 0]), np.random.RandomState(seed)
    given, roots = (table, groups, n_clusters, rng, defaults), np.sqrt(np.bincount(groups)[groups])
    names = np.setdiff1d(names, _one_thing(roots, table, groups, n_clusters, seed, defaults))
    shares, sure = _explained_by(lambda rows: rows / roots, _halves(names, rng, defaults), *given)
    shares = _levels_alike(shares, groups, kinds, defaults)
    explained = np.unique(groups[shares > 0])
    if len(explained) < 2:
        # Among many useless columns two that belong together are seldom in different halves alone.
        shares, alone = _explained_by(lambda rows: rows / roots, names[:, None], *given)
        sure |= alone
    else:
        halves, by = _halves(explained, rng, defaults), np.sqrt(shares)
        again, _ = _explained_by(lambda rows: rows / roots * by, halves, *given)
        shares = np.maximum(shares, again)
    shares = _levels_alike(shares, groups, kinds, defaults)
    # A column counts with all of its features or not at all.
    kept = np.isin(groups, np.unique(groups[shares > 0]))
    shares = np.where(kept, np.maximum(shares, defaults.least_explained), 0)
    return shares, sure and bool(kept.any())


def _one_thing(
    roots: np.ndarray,
    table: SampleTable,
    groups: np.ndarray,
    n_clusters: int,
    seed: int,
    defaults: Defaults,
) -> np.ndarray:
    """Columns that nothing but columns which correlate with them explains.

    Two that measure one thing explain each other, whatever it is. So do two in which clusters are
    far apart: they stay if together they have several modes, or if no others tell of clusters.
    """
    related = related_columns(table.rows, groups, 1 - defaults.prior)
    names, rng = np.unique(related[table.scatter > 0]), np.random.RandomState(seed)
    if len(names) == len(np.unique(groups[table.scatter > 0])):
        return groups[:0]
    halves, own = _halves(names, rng, defaults), np.sqrt(np.bincount(related)[related])
    given = table, related, n_clusters, rng, defaults
    shares, _ = _explained_by(lambda rows: rows / roots / own, halves, *given)
    told = shares > defaults.prior
    doubtful = replace(defaults, clear=defaults.significant)
    found = [groups[:0]]
    for one in names[np.bincount(related[told], minlength=len(groups))[names] == 0]:
        own = (related == one) & (shares < defaults.small)
        columns = np.unique(groups[own])
        if len(columns) < 2 or len(np.unique(related[told])) < 2:
            continue
        alike = table.rows[:, own] * np.sign(table.rows[:, own].T @ table.rows[:, own][:, 0])
        if not has_modes(alike.sum(axis=1, dtype=np.float64), n_clusters, seed, doubtful):
            found.append(columns)
    return np.concatenate(found)


def _levels_alike(
    shares: np.ndarray, groups: np.ndarray, kinds: np.ndarray, defaults: Defaults
) -> np.ndarray:
    """Shares with one for all flags and categories that count: the mean of these columns, (d,).

    Few levels beside each other differ by much or not at all: weighted more than the others, a
    single column would cut clusters along itself.
    """
    of_column = np.bincount(groups, shares) / np.bincount(groups)
    # What is explained of a category is the mean of its features.
    category, means = kinds == CATEGORY, of_column[groups]
    shares = np.where(category, np.where(means > defaults.least_explained, means, 0), shares)
    counted = (category | (kinds == FLAG)) & (shares > 0)
    if not counted.any():
        return shares
    return np.where(counted, of_column[np.unique(groups[counted])].mean(), shares)


def _halves(
    names: np.ndarray, rng: np.random.RandomState, defaults: Defaults
) -> Iterator[np.ndarray]:
    """Both halves of some columns, for each of several random splits."""
    for _ in range(2 * defaults.splits):
        yield from np.array_split(rng.permutation(names), 2)


def _explained_by(
    scaled: Callable[[np.ndarray], np.ndarray],
    makers: Iterable[np.ndarray],
    table: SampleTable,
    groups: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    defaults: Defaults,
) -> tuple[np.ndarray, bool]:
    """Largest share of each feature that clusters of some columns without it explain, (d,).

    ``makers`` are the columns that make clusters, one set after the other, their rows ``scaled``.
    A single column that makes clusters counts with the most that these explain of another. The
    second value says whether the least likely of all shares is more than the chance of so many.
    """
    shares, rows = np.zeros(table.shape[1]), scaled(table.rows)
    likely, tried = 1.0, 0
    for names in makers:
        made = np.isin(groups, names)
        if not made.any():
            continue
        if table.observed is not None:
            rows = scaled(table.filled_within(made).rows)
        part = np.ascontiguousarray(rows[:, made], np.float64)
        labels = best_kmeans(part, n_clusters, rng, defaults.starts, table.weights)
        found, odds = explained_beyond_chance(table, labels, n_clusters, defaults)
        likely = min(likely, float(odds[~made].min(initial=1)))
        tried += int(np.count_nonzero(~made))
        shares = np.where(made, shares, np.maximum(shares, found))
        if len(names) == 1:
            # What one column tells of another is worth as much in itself.
            told = np.max(found, where=~made, initial=0)
            shares = np.where(made, np.maximum(shares, told), shares)
    return shares, bool(tried and likely * tried < defaults.negligible)


def explained_beyond_chance(
    table: SampleTable, labels: np.ndarray, n_clusters: int, defaults: Defaults
) -> tuple[np.ndarray, np.ndarray]:
    """Explained share of each feature beyond its level of chance, 0 where it is not certain.

    And how likely chance is to explain as much, (d,).
    """
    moments = table.moments(labels, n_clusters)
    found = explained(moments, np.zeros(n_clusters, np.intp), 1)
    share, level, spread = found.share[0], found.level[0], found.spread[0]
    certain = share - level > defaults.clear * spread
    beyond = (share - level) / np.maximum(1 - level, defaults.least_explained)
    shares = np.where(moments.live & certain & (beyond > defaults.least_explained), beyond, 0)
    # Shares of chance are distributed as sums of squares are, of one fewer than there are clusters.
    free = max(int(np.count_nonzero(moments.counts)) - 1, 1)
    units = (share - level) / np.where(spread > 0, spread, np.inf)
    likely = chdtrc(free, np.maximum(free + units * np.sqrt(2 * free), 0))
    return shares, np.where(moments.live, likely, 1)
