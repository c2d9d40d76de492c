"""Tables: few columns, of different kinds and units.

Columns enter in units of their standard deviation, weighted by what clusters of other columns
explain of them. Rows are clustered by their neighbour graph and about means; what agrees better
between halves of the columns, and is found again in halves of the rows, is chosen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from fnmf._settings import Settings
from fnmf.affinity import in_few_parts, modularity, partition, small_graphs
from fnmf.data import IncompleteView
from fnmf.execution import Runner
from fnmf.kmeans import best_kmeans
from fnmf.relevance.crossfit import crossfit_relevance
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.prepare import FeatureStatistics
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.search import Candidate, SearchContext
from fnmf.relevance.selection import association
from fnmf.relevance.table_columns import CONTINUOUS, column_groups, column_kinds, has_modes


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
    """

    groups: np.ndarray
    kinds: np.ndarray
    units: np.ndarray
    caps: np.ndarray


def as_table(
    statistics: FeatureStatistics,
    settings: Settings,
    sample: np.ndarray,
    defaults: Defaults = DEFAULTS,
) -> tuple[SampleTable, TableColumns] | None:
    """Standardised rows and their columns; ``None`` if there are too many columns for a table.

    Parameters of the user that ask for other units or for rows of unit length rule a table out.
    """
    view = statistics.view
    if view.shape[1] > defaults.table_features or settings.row_norm == "unit":
        return None
    if settings.column_units not in ("auto", "spread"):
        return None
    rows: Any = view.take(sample)
    rows = np.asarray(rows.toarray() if view.sparse else rows, np.float64)
    if isinstance(view, IncompleteView):
        return _incomplete_table(rows, ~view.gaps(sample), defaults)
    groups = column_groups(rows, defaults)
    live = np.ptp(rows, axis=0) > 0
    if len(np.unique(groups[live])) > defaults.table_columns:
        return None
    kinds = column_kinds(rows, groups, defaults)
    caps = rows.mean(axis=0) + defaults.table_cap * rows.std(axis=0)
    caps = np.where(live, caps, np.inf)
    rows = np.minimum(rows, caps)
    spread = np.where(live, rows.std(axis=0), 1)
    spread = np.where(spread > 0, spread, 1)
    rows = (rows - rows.mean(axis=0)) / spread
    continuous = kinds == CONTINUOUS
    table = SampleTable(
        np.ascontiguousarray(rows, np.float32),
        np.ones(rows.shape[1]),
        range_units=_range_units(rows, continuous),
    )
    return table, TableColumns(groups, kinds, 1 / spread, caps)


def _incomplete_table(
    rows: np.ndarray, observed: np.ndarray, defaults: Defaults
) -> tuple[SampleTable, TableColumns] | None:
    """The same for rows with missing cells: all but the filled values from what was observed."""
    gaps = np.where(observed, rows, np.nan)
    # A column without any value is constant, as it is filled.
    gaps[:, ~observed.any(axis=0)] = 0
    ranges = np.nanmax(gaps, axis=0) - np.nanmin(gaps, axis=0)
    groups, live = column_groups(gaps, defaults), ranges > 0
    if len(np.unique(groups[live])) > defaults.table_columns:
        return None
    kinds = column_kinds(gaps, groups, defaults)
    caps = np.nanmean(gaps, axis=0) + defaults.table_cap * np.nanstd(gaps, axis=0)
    caps = np.where(live, caps, np.inf)
    rows, gaps = np.minimum(rows, caps), np.minimum(gaps, caps)
    spread = np.where(live, np.nanstd(gaps, axis=0), 1)
    spread = np.where(spread > 0, spread, 1)
    mean = np.nanmean(gaps, axis=0)
    rows, gaps = (rows - mean) / spread, (gaps - mean) / spread
    filled = np.ascontiguousarray(rows, np.float32)
    ranges = _range_units(gaps, kinds == CONTINUOUS)
    table = SampleTable(filled, np.ones(len(spread)), range_units=ranges, observed=observed)
    return table, TableColumns(groups, kinds, 1 / spread, caps)


def _range_units(rows: np.ndarray, continuous: np.ndarray) -> np.ndarray:
    """Factors that bring standardised continuous columns to a common range, (d,).

    The range of flags and categories means nothing; these keep their spread.
    """
    ranges = np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0)
    usual = np.median(ranges[continuous]) if continuous.any() else 1.0
    return np.where(continuous, usual / np.where(ranges > 0, ranges, 1), 1.0)


def column_weights(
    table: SampleTable, columns: TableColumns, n_clusters: int, seed: int, defaults: Defaults
) -> np.ndarray:
    """Weight of each feature, (d,): what clusters of other columns explain of it.

    Continuous columns with several modes count fully: where columns share nothing, clusters may
    rest on single ones. Where nothing stands out all columns count alike.
    """
    weights = crossfit_relevance(table, columns.groups, n_clusters, seed, defaults)
    few = len(np.unique(columns.groups[weights > 0])) < defaults.fewest_features
    if few or len(np.unique(columns.groups)) <= defaults.few_columns:
        modes = np.array(
            [
                kind == CONTINUOUS and has_modes(values, seed, defaults)
                for kind, values in zip(columns.kinds, table.observed_columns(), strict=True)
            ]
        )
        weights = np.where(modes, 1.0, weights)
    return weights if weights.any() else (table.scatter > 0).astype(np.float64)


def search_table(
    context: SearchContext, weights: np.ndarray, runner: Runner
) -> list[Candidate]:
    """Clusters by graph, in units of the spread and of the range, and about means; best first."""
    ways = [("spread", "graph"), ("range", "graph"), ("spread", "means")]
    import os
    if os.environ.get("LAB_WAYS"): ways = [tuple(w.split("-")) for w in os.environ["LAB_WAYS"].split(",")]
    found = runner.each(lambda *way: _candidate(context, weights, *way), ways)
    return sorted(found, key=lambda one: -one.score)


def _candidate(
    context: SearchContext, weights: np.ndarray, units: str, clusters: str
) -> Candidate:
    """Clusters of the weighted rows, and how well they hold up."""
    k, defaults = context.n_clusters, context.defaults
    factors = np.sqrt(weights * context.duplicate_weights) * context.table.units(units)
    rows = context.table.scaled(factors, unit=False)
    labels = _cluster(context, rows, clusters)
    halves = list(_column_halves(context, factors, clusters))
    agreed = [adjusted_mutual_info_score(*pair) for pair in halves]
    found = [
        adjusted_mutual_info_score(labels[half], _cluster(context, rows[half], clusters))
        for half in _row_halves(context)
    ]
    least = defaults.least_agreement
    score = max(float(np.mean(agreed)) if agreed else 1.0, least) * max(float(np.mean(found)), least)
    if clusters == "means":
        score /= defaults.table_means_price
    associated = [association(*pair, k, defaults) for pair in halves]
    graph = in_few_parts(small_graphs(rows), context.n_neighbors, k)
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
        max(associated, default=None),
    )


def _cluster(context: SearchContext, rows: np.ndarray, clusters: str) -> np.ndarray:
    """Labels of weighted rows."""
    k, seed, defaults = context.n_clusters, context.seed, context.defaults
    if clusters == "means":
        rng = np.random.RandomState(seed)
        return best_kmeans(rows.astype(np.float64), k, rng, defaults.table_starts, defaults)
    graph = in_few_parts(small_graphs(rows), context.n_neighbors, k)
    return partition(graph, k, seed, starts=defaults.partition_starts, defaults=defaults).labels


def _column_halves(context: SearchContext, factors: np.ndarray, clusters: str) -> Any:
    """Pairs of labels from two halves of the columns in use."""
    names = np.unique(context.groups[factors > 0])
    if len(names) < context.defaults.fewest_features:
        return
    rng = np.random.RandomState(context.seed)
    for _ in range(context.defaults.feature_splits):
        first = np.isin(context.groups, rng.permutation(names)[: len(names) // 2])
        rows = (context.table.scaled(np.where(half, factors, 0), False) for half in (first, ~first))
        yield tuple(_cluster(context, half, clusters) for half in rows)


def _row_halves(context: SearchContext) -> list[np.ndarray]:
    """Random halves of the rows."""
    n, rng = context.table.shape[0], np.random.RandomState(context.seed)
    return [np.sort(rng.permutation(n)[: n // 2]) for _ in range(context.defaults.row_splits)]
