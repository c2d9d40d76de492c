"""Tables: few columns, of different kinds and units.

Columns enter in units of their standard deviation, weighted by what clusters of other columns
explain of them. Rows are clustered by their neighbour graph and about means; what agrees better
between halves of the columns, and is found again in halves of the rows, is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import in_few_parts, modularity, partition, products_of, small_graphs
from fnmf.data import IncompleteView
from fnmf.execution import Runner
from fnmf.kmeans import best_kmeans
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.crossfit import agreement, association, crossfit_relevance
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.mixture import sample_mixture
from fnmf.relevance.prepare import FeatureStatistics
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.table_columns import (
    CATEGORY,
    CONTINUOUS,
    FLAG,
    column_groups,
    column_kinds,
    has_modes,
    ranges,
    share_units,
)
from fnmf.statistics import CONSTANT


class TableColumns(NamedTuple):
    """What is known of the columns of a table, each of shape (d,).

    Attributes
    ----------
    groups : ndarray of int
        The column that a feature belongs to.
    kinds : ndarray of str
        Its kind.
    units : ndarray
        One over its standard deviation.
    caps : ndarray
        The largest value let through.
    modes : ndarray of bool
        Whether it counts because it has several modes itself.
    sure : bool
        Whether clusters of some columns explain others more than by chance.
    mean : ndarray
        Mean of its capped values.
    given : ndarray of shape (n, d)
        The rows of the sample in the units of the data, NaN where a cell is missing.
    """

    groups: np.ndarray
    kinds: np.ndarray
    units: np.ndarray
    caps: np.ndarray
    modes: np.ndarray
    sure: bool
    mean: np.ndarray
    given: np.ndarray


def as_table(
    statistics: FeatureStatistics,
    settings: Settings,
    sample: np.ndarray,
    defaults: Defaults = DEFAULTS,
) -> tuple[SampleTable, TableColumns] | None:
    """Standardised rows and their columns; ``None`` if there are too many, or all of one unit.

    Parameters of the user that ask for other units or for rows of unit length rule a table out.
    """
    view = statistics.view
    # Which features are one column is read off all of their correlations.
    if view.shape[1] > defaults.most_correlated or settings.row_norm == "unit":
        return None
    if settings.column_units not in ("auto", "spread"):
        return None
    rows: Any = view.take(sample)
    rows = np.asarray(rows.toarray() if view.sparse else rows, np.float64)
    # Features too small beside the largest one are left out, as everywhere.
    seen = statistics.caps > 0 if statistics.n_faint else np.ones(rows.shape[1], bool)
    rows = np.where(seen, rows, 0)
    observed = ~view.gaps(sample) if isinstance(view, IncompleteView) else None
    known = rows if observed is None else _known(rows, observed)
    groups = column_groups(known, defaults, settings.feature_groups)
    # A column that varies by rounding alone is constant.
    live = ranges(known) > CONSTANT * np.nanmax(np.abs(known), axis=0, initial=0)
    rows, known = (np.where(live, values, rows[0]) for values in (rows, known))
    if len(np.unique(groups[live])) > defaults.table_columns:
        return None
    kinds, given = column_kinds(known, groups, defaults, settings.column_kinds), known
    if share_units(known[:, live], groups[live], kinds[live], defaults):
        return None
    # Zeros of sparse rows cannot be capped.
    weights = None if view.weights is None else view.weights[sample]
    mean, spread = _mean_and_spread(known, weights)
    caps = np.maximum(mean + defaults.beyond_chance * spread, 0)
    rows, known = (np.minimum(values, np.where(live, caps, np.inf)) for values in (rows, known))
    mean, spread = _mean_and_spread(known, weights)
    size = np.where(live & (spread > 0), spread, 1)
    rows, known = ((values - mean) / size for values in (rows, known))
    table = SampleTable(
        np.ascontiguousarray(rows, np.float32),
        np.ones(rows.shape[1]),
        range_units=_range_units(known, kinds == CONTINUOUS),
        observed=observed,
        weights=weights,
    )
    caps, units = np.where(live, caps, np.inf), 1 / size
    caps = np.where(seen, caps, 0)
    modes = np.zeros(len(kinds), bool)
    return table, TableColumns(groups, kinds, units, caps, modes, False, mean, given)


def _mean_and_spread(
    known: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of columns with missing cells, rows as they count."""
    if weights is None:
        return np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    cells = weights @ ~np.isnan(known)
    mean = np.nansum(weights[:, None] * known, axis=0) / cells
    return mean, np.sqrt(np.nansum(weights[:, None] * (known - mean) ** 2, axis=0) / cells)


def _known(rows: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Rows with NaN where a cell is missing; a column without any value is constant."""
    known = np.where(observed, rows, np.nan)
    known[:, ~observed.any(axis=0)] = 0
    return known


def _range_units(rows: np.ndarray, continuous: np.ndarray) -> np.ndarray:
    """Factors that bring standardised continuous columns to a common range, (d,).

    The range of flags and categories means nothing; these keep their spread.
    """
    widths = ranges(rows)
    usual = np.median(widths[continuous]) if continuous.any() else 1.0
    return np.where(continuous, usual / np.where(widths > 0, widths, 1), 1.0)


def column_weights(
    table: SampleTable, columns: TableColumns, n_clusters: int, seed: int, defaults: Defaults
) -> tuple[np.ndarray, TableColumns]:
    """Weight of each feature, (d,): what clusters of other columns explain of it.

    Continuous columns with several modes count fully where no more than two share anything, or
    what is shared may be chance: clusters may then rest on single ones. Where nothing stands out
    all columns count alike.
    """
    groups, numbers = columns.groups, (n_clusters, seed, defaults)
    weights, sure = crossfit_relevance(table, groups, columns.kinds, *numbers)
    columns = columns._replace(sure=sure)
    shared = len(np.unique(columns.groups[weights > 0]))
    if shared <= 2 or not sure:
        modes = [
            kind == CONTINUOUS and has_modes(own, n_clusters, seed, defaults)
            for kind, own in zip(columns.kinds, table.observed_columns(), strict=True)
        ]
        columns = columns._replace(modes=np.array(modes))
        weights = np.where(modes, 1.0, 0.0 if any(modes) and not sure else weights)
    if not weights.any():
        # Even where nothing varies distances need a column to be taken in.
        varies = table.scatter > 0
        weights = (varies if varies.any() else ~varies).astype(np.float64)
    return weights, columns


def search_table(
    context: SearchContext,
    weights: np.ndarray,
    columns: TableColumns,
    units: str,
    runner: Runner,
) -> list[Candidate]:
    """Clusters by graph, about means and by a mixture, best first.

    ``units`` are the user's, or "auto". Without flags, categories and missing cells, of which it
    needs none to be filled, a mixture of independent columns is no better than means.
    """
    price = _means_price(weights * context.duplicate_weights, columns.kinds, context.defaults)
    ways = [(weights, "spread", "graph"), (weights, "spread", "means")]
    used = weights > 0
    levels = (used & np.isin(columns.kinds, (FLAG, CATEGORY))).any()
    if levels or context.table.observed is not None:
        ways += [(weights, "spread", "mixture")]
    if units == "auto" and (used & (columns.kinds == CONTINUOUS)).any():
        # In units of the range columns with groups far apart count more by themselves.
        alike = np.where(used, weights[used].mean(), 0)
        ways += [(weights, "range", "graph"), (alike, "range", "graph")]
    # Where nothing that halves find could tell one candidate from another, there is one.
    ways = ways[:1] if context.crowded else ways
    found = runner.each(lambda *way: _candidate(context, price, *way), ways)
    return sorted(found, key=lambda one: -one.score)


def _means_price(weights: np.ndarray, kinds: np.ndarray, defaults: Defaults) -> float:
    """How many times better than others clusters about means must hold up.

    The less, the more of the weight is on flags and categories: graphs split along these. With
    missing cells this is the price of a mixture too, which is then tried on numbers alone.
    """
    levels = float(weights @ np.isin(kinds, (FLAG, CATEGORY)) / weights.sum())
    return float(defaults.table_means_price ** (1 - levels))


def _candidate(
    context: SearchContext, means_price: float, weights: np.ndarray, units: str, clusters: str
) -> Candidate:
    """Clusters of the weighted rows, and how well they hold up."""
    k, defaults = context.n_clusters, context.defaults
    factors = np.sqrt(weights * context.duplicate_weights) * context.table.units(units)
    graph = context.graph(factors, unit=False)
    by_graph = clusters == "graph"
    labels = context.clusters(graph) if by_graph else cluster_table(context, factors, clusters)
    pairs = list(column_pairs(context, factors, clusters))
    agreed = [agreement(one, other) for one, other in pairs]
    in_half = partial(cluster_table, context, factors, clusters)
    halves = [(half, in_half(half)) for half in _row_halves(context)]
    least = defaults.small
    score = max(float(np.mean(agreed)) if agreed else 1.0, least)
    score *= max(found_again(labels, halves), least)
    observed = context.table.observed
    if clusters == "means" or (clusters == "mixture" and observed is not None):
        score /= means_price
    if clusters != "mixture" and observed is not None:
        # Filled cells repeat what others say: halves agree on it without having seen anything.
        score *= observed[:, factors > 0].mean()
    fewest = np.bincount(labels, minlength=k).min()
    if fewest < defaults.fewest_rows:
        # A few rows far from all others are found again in any half, and yet are no cluster; a
        # group of a mixture in which no row is likeliest is less than so many were asked for.
        score *= least if fewest else 0.0
    return Candidate(
        "own",
        units,
        clusters,
        weights,
        np.zeros(len(weights)),
        labels,
        modularity(graph, labels, k),
        context.explained(context.moments(labels)),
        score,
        tuple(halves),
        tuple(pairs),
    )


def column_association(context: SearchContext, one: Candidate) -> float | None:
    """The most that halves of the columns agree, in standard deviations from chance.

    ``None`` if a candidate is none of a table, or if there are no two columns.
    """
    if not one.pairs:
        return None
    k, own, defaults = context.n_clusters, context.table.weights, context.defaults
    return max(association(mine, other, k, own, defaults) for mine, other in one.pairs)


def found_again(labels: np.ndarray, halves: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """How well labels of the sample agree with clusters of halves of its rows."""
    return float(np.mean([agreement(labels[half], own) for half, own in halves]))


def cluster_table(
    context: SearchContext, factors: np.ndarray, clusters: str, some: Any = slice(None)
) -> np.ndarray:
    """Labels of the rows with their features times ``factors``, or of some of them."""
    if clusters == "mixture":
        found, used = sample_mixture(context, factors, some)
        return found.labels(context.table.given(used)[some])
    k, seed, defaults = context.n_clusters, context.seed, context.defaults
    own = None if context.table.weights is None else context.table.weights[some]
    rows = context.table.scaled(factors, unit=False)[some]
    if clusters == "means":
        rng = np.random.RandomState(seed)
        return best_kmeans(rows.astype(np.float64), k, rng, 2 * defaults.starts, own)
    if own is None:
        graph = in_few_parts(small_graphs(products_of(rows)), context.n_neighbors, k, defaults)
        return partition(graph, k, seed, defaults=defaults).labels
    # Rows that stand for many and are equal in these columns are one: where one of them belongs
    # by chance, many samples would.
    rows, place = _distinct(rows)
    if len(rows) <= k:
        return place
    near = min(context.n_neighbors, len(rows) - 2)
    graph = in_few_parts(
        small_graphs(products_of(rows), np.bincount(place, own)), near, k, defaults
    )
    return partition(graph, k, seed, defaults=defaults).labels[place]


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows, and which of them every row is."""
    # Adding 0 turns -0 into 0, whose bytes are others.
    rows = np.ascontiguousarray(rows) + 0
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    first, place = np.unique(keys, return_index=True, return_inverse=True)[1:]
    return rows[first], place


def column_pairs(
    context: SearchContext, factors: np.ndarray, clusters: str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of labels from two halves of the columns in use."""
    names = np.unique(context.groups[factors > 0])
    if len(names) < 2:
        return
    rng = np.random.RandomState(context.seed)
    # Few columns have few halves, which come up again.
    known: dict[bytes, np.ndarray] = {}

    def cluster(half: np.ndarray) -> np.ndarray:
        key = half.tobytes()
        if key not in known:
            known[key] = cluster_table(context.within(half), np.where(half, factors, 0), clusters)
        return known[key]

    for _ in range(context.defaults.splits):
        first = np.isin(context.groups, rng.permutation(names)[: len(names) // 2])
        yield cluster(first), cluster(~first)


def _row_halves(context: SearchContext) -> list[np.ndarray]:
    """Random halves of the rows."""
    n, rng = context.table.shape[0], np.random.RandomState(context.seed)
    return [np.sort(rng.permutation(n)[: n // 2]) for _ in range(2 * context.defaults.splits)]
