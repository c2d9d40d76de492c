"""Relevance of a column from clusters that were made without it.

A column alone, whatever its kind, then never makes the clusters that it is judged by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fnmf.kmeans import best_kmeans, principal_kmeans
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.weights import explained


def crossfit_relevance(
    table: SampleTable,
    groups: np.ndarray,
    n_clusters: int,
    seed: int,
    defaults: Defaults = DEFAULTS,
) -> np.ndarray:
    """Share of each feature that clusters of other columns explain, 0 if that may be chance, (d,).

    The columns are halved at random a few times. k-means clusters the rows by one half, and the
    features of the other half are compared with these clusters; the largest share counts. A second
    round halves the columns that were explained, each weighted by its share, so that all are
    compared with better clusters too. If hardly anything is explained so, clusters of each single
    column are compared with the others.

    Parameters
    ----------
    table : SampleTable
        Standardised rows.
    groups : ndarray of shape (d,)
        The column of each feature; features of a column stay together, and count as one.
    n_clusters : int
        Clusters to compare with.
    seed : int
        Of the halves and of k-means.
    """
    names, rng = np.unique(groups[table.scatter > 0]), np.random.RandomState(seed)
    rows = table.rows / np.sqrt(np.bincount(groups)[groups])
    given = table, groups, n_clusters, rng, defaults
    shares = _explained_by(rows, _halves(names, rng, defaults), *given)
    explained = np.unique(groups[shares > 0])
    if len(explained) < 2:
        # Among many useless columns two that belong together are seldom in different halves alone.
        shares = _explained_by(rows, names[:, None], *given)
    else:
        halves = _halves(explained, rng, defaults)
        shares = np.maximum(shares, _explained_by(rows * np.sqrt(shares), halves, *given))
    # All features of a column count alike: with what is explained of them in the mean.
    shares = (np.bincount(groups, shares) / np.bincount(groups))[groups]
    return np.where(shares > defaults.least_explained, shares, 0)


def _halves(
    names: np.ndarray, rng: np.random.RandomState, defaults: Defaults
) -> Iterator[np.ndarray]:
    """Both halves of some columns, for each of several random splits."""
    for _ in range(2 * defaults.splits):
        yield from np.array_split(rng.permutation(names), 2)


def _explained_by(
    rows: np.ndarray,
    makers: Iterable[np.ndarray],
    table: SampleTable,
    groups: np.ndarray,
    n_clusters: int,
    rng: np.random.RandomState,
    defaults: Defaults,
) -> np.ndarray:
    """Largest share of each feature that clusters of some columns without it explain, (d,).

    ``makers`` are the columns of ``rows`` that make clusters, one set after the other.
    A single column that makes clusters counts with the most that these explain of another.
    """
    shares = np.zeros(table.shape[1])
    for names in makers:
        made = np.isin(groups, names)
        if not made.any():
            continue
        part = np.ascontiguousarray(rows[:, made], np.float64)
        labels = best_kmeans(part, n_clusters, rng, defaults.starts, table.weights)
        found = _beyond_chance(table, labels, n_clusters, defaults)
        shares = np.where(made, shares, np.maximum(shares, found))
        if len(names) == 1:
            # What one column tells of another is worth as much in itself.
            told = np.max(found, where=~made, initial=0)
            shares = np.where(made, np.maximum(shares, told), shares)
    return shares


def unexplained_flags(
    table: SampleTable, n_clusters: int, seed: int, defaults: Defaults = DEFAULTS
) -> np.ndarray:
    """Which flags among many other features say nothing about clusters of these, (d,) bool.

    Rows that agree in a flag are near each other whatever it means. Where flags are the rule, as
    in black and white images, they are features like any other.
    """
    nothing = np.zeros(table.shape[1], bool)
    if table.sparse:
        return nothing
    high = table.rows.max(axis=0)
    share = table.mean / np.where(high > 0, high, 1)
    flags = (np.minimum(share, 1 - share) > defaults.slight) & (
        (table.rows == 0) | (table.rows == high)
    ).all(axis=0)
    others = (table.scatter > 0) & ~flags
    if not flags.any() or np.count_nonzero(flags) > np.count_nonzero(others):
        return nothing
    rows = (table.rows[:, others] - table.mean[others]) / table.spread[others]
    labels = principal_kmeans(rows, n_clusters, seed, defaults.starts, table.weights)
    return flags & (_beyond_chance(table, labels, n_clusters, defaults) == 0)


def _beyond_chance(
    table: SampleTable, labels: np.ndarray, n_clusters: int, defaults: Defaults
) -> np.ndarray:
    """Explained share of each feature beyond its level of chance, 0 where it is not certain."""
    moments = table.moments(labels, n_clusters)
    found = explained(moments, np.zeros(n_clusters, np.intp), 1)
    share, level = found.share[0], found.level[0]
    certain = share - level > defaults.clear * found.spread[0]
    beyond = (share - level) / np.maximum(1 - level, defaults.least_explained)
    return np.where(moments.live & certain & (beyond > defaults.least_explained), beyond, 0)
