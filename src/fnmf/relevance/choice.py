"""The preparation and the weights, chosen among all that were tried on a sample of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import modularity, partition
from fnmf.data import drawn
from fnmf.execution import RowArray, Runner
from fnmf.kmeans import best_kmeans
from fnmf.relevance.candidates import Candidate, SearchContext, search_context
from fnmf.relevance.crossfit import (
    Half,
    beyond_chance,
    cluster_recovery,
    factors,
    quick_partition,
    row_halves,
)
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.preparations import (
    column_preparations,
    duplicate_groups,
    row_preparations,
    unexplained_flags,
)
from fnmf.relevance.prepare import FeatureStatistics, Weights
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.search import SearchSpace, search_preparations
from fnmf.relevance.structure import agrees_beyond_chance, structure
from fnmf.relevance.table_columns import CATEGORY, FLAG, share_units
from fnmf.relevance.tables import (
    TableColumns,
    as_table,
    cluster_table,
    column_association,
    column_weights,
    found_again,
    search_table,
)
from fnmf.relevance.weights import all_relevant, profiles, relevance_weights
from fnmf.statistics import Moments


@dataclass(frozen=True)
class Choice:
    """How the data are prepared, and why.

    Attributes
    ----------
    unit : bool
        Whether rows are brought to unit length.
    units : ndarray of shape (d,)
        Factors that bring features to common units.
    weights : Weights
        Of each weighting; copies of a feature share one vote.
    candidates : tuple of Candidate
        All that were tried, best first.
    structure : float or None
        Association of clusters found from two halves of the features.
    sample : ndarray of int
        Rows that were explored.
    context : SearchContext or None
        What was explored; ``None`` if nothing was.
    real : bool or None
        Whether the clusters are more than chance; ``None`` if that could not be asked.
    columns : TableColumns or None
        What is known of the columns of a table.
    """

    unit: bool
    units: np.ndarray
    weights: Weights
    candidates: tuple[Candidate, ...]
    structure: float | None
    sample: np.ndarray
    context: SearchContext | None = None
    real: bool | None = None
    columns: TableColumns | None = None

    @property
    def labels(self) -> np.ndarray | None:
        """Clusters of the sample."""
        return self.candidates[0].labels if self.candidates else None

    @property
    def clusters(self) -> str:
        """What clusters are, as :class:`Candidate` has it."""
        return self.candidates[0].clusters if self.candidates else "graph"

    def by_graph(self) -> Choice:
        """The same with clusters that are those of the graph, not what is near their means."""
        best, *others = self.candidates
        return replace(self, candidates=(replace(best, clusters="graph"), *others))

    def unless_worse(self, labels: RowArray, known: RowArray) -> RowArray:
        """Labels of all rows; ``known`` ones if halves of a table find them clearly better.

        Candidates were compared by that, and a partition of all rows may be quite another one.
        """
        if self.columns is None or self.context is None or labels is known:
            return labels
        halves, least = self.candidates[0].halves, 1 - self.context.defaults.small
        mine, other = (found_again(one[self.sample], halves) for one in (labels, known))
        return labels if mine >= least * other else known

    def report(self) -> list[str]:
        """What was chosen and what else was tried, for the log."""
        return [
            f"{'tried' if place else 'chosen'}: {one}" for place, one in enumerate(self.candidates)
        ]

    def rivals(self, share: float) -> list[np.ndarray]:
        """Clusters of a table from other candidates with at least this share of the best score."""
        if self.columns is None:
            return []
        return [one.labels for one in self.candidates[1:] if one.score >= share * self.score]

    @property
    def score(self) -> float:
        return self.candidates[0].score if self.candidates else 0.0

    @property
    def modularity(self) -> float:
        """Of the clusters of the sample; 0 if nothing was explored."""
        return self.candidates[0].modularity if self.candidates else 0.0


def choose_preparation(
    statistics: FeatureStatistics,
    settings: Settings,
    seed: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> Choice:
    """Search preparations on a sample, and choose the best by its score."""
    n, d = statistics.view.shape
    c = settings.clusters
    even = Weights(np.ones((1, d)), np.zeros((1, d)))
    if n <= defaults.fewest_rows or c < 2:
        return Choice(settings.row_norm != "none", np.ones(d), even, (), None, np.arange(n))
    search = search_on_sample(statistics, settings, c, seed, runner, defaults)
    context, candidates = search.context, search.candidates
    best, found, real = _best_with_structure(context, candidates, runner)
    if search.columns is not None:
        real = _table_has_structure(search.columns, best, real, defaults)
    candidates.sort(key=lambda one: one is not best)
    weights = Weights(best.weights[None], best.prices[None])
    m = min(settings.n_weightings, c)
    if m > 1 and context.refreshes:
        weights = _several_weightings(context, best, m, seed) or weights
    return Choice(
        best.unit,
        search.units(best),
        weights.shared(context.duplicate_weights),
        tuple(candidates),
        found,
        search.rows,
        context,
        real,
        search.columns,
    )


def _best_with_structure(
    context: SearchContext, candidates: list[Candidate], runner: Runner
) -> tuple[Candidate, float | None, bool | None]:
    """The best candidate, its association of halves, and whether it is more than chance.

    If it is not, the best of those that find clusters in the other way may be; if neither is, the
    one nearer to it is taken.
    """
    best = candidates[0]
    others = [one for one in candidates if one.clusters != best.clusters]
    if not context.table.scatter.any():
        return best, None, False
    tested: list[tuple[Candidate, float | None]] = []
    for one in (best, *others[:1]):
        known = column_association(context, one)
        found = structure(context, one, runner) if known is None else known
        real = beyond_chance(found, context.defaults)
        if real is False and known is None:
            # A half of all features may be mostly noise; those in use are fewer and better.
            real = agrees_beyond_chance(context, one, runner)
        if real is not False:
            return one, found, real
        tested.append((one, found))
    nearer, found = max(tested, key=lambda pair: pair[1] or 0.0)
    return nearer, found, False


def _table_has_structure(
    columns: TableColumns, best: Candidate, agreed: bool | None, defaults: Defaults
) -> bool | None:
    """Whether clusters of a table are more than chance, given whether halves of columns agree.

    Columns that share nothing do not agree, and yet may each have several modes. Of many columns
    some agree by chance, and a few that tell much may be in one half.
    """
    if columns.modes.any() or agreed is None:
        return bool(columns.modes.any()) or None
    return columns.sure and (agreed or bool(best.weights.max() > defaults.minor))


@dataclass(frozen=True)
class SampleSearch:
    """What was tried on a sample of the rows.

    Attributes
    ----------
    context : SearchContext
        What all candidates share.
    candidates : list of Candidate
        Best first.
    rows : ndarray of int
        Which rows were sampled.
    columns : TableColumns or None
        What is known of the columns, if the rows are those of a table.
    """

    context: SearchContext
    candidates: list[Candidate]
    rows: np.ndarray
    columns: TableColumns | None = None

    def units(self, chosen: Candidate) -> np.ndarray:
        """Factors that bring the features of the data to the units of a candidate, (d,)."""
        units = self.context.table.units(chosen.columns)
        if self.columns is not None:
            return self.columns.units * units
        # The rows of the sample were divided by its size.
        return units / self.context.table.size if chosen.columns in ("typical", "spread") else units


def search_on_sample(
    statistics: FeatureStatistics,
    settings: Settings,
    n_clusters: int,
    seed: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> SampleSearch:
    """A sample of the rows, and all candidates tried on it."""
    wanted = max(defaults.sample_rows, defaults.samples_per_cluster * n_clusters)
    # No more than factors of many rows are begun with.
    most = min(wanted, defaults.exact_rows // 2)
    sample = drawn(statistics.view.shape[0], most, np.random.RandomState(seed))
    refreshes = settings.graph_refresh
    refreshes = defaults.refreshes if refreshes is None else refreshes
    numbers = n_clusters, settings.n_neighbors, refreshes, seed, defaults
    found = as_table(statistics, settings, sample, defaults)
    useless = np.zeros(statistics.view.shape[1], bool)
    if found is not None:
        table, columns = found
        weights, columns = column_weights(table, columns, n_clusters, seed, defaults)
        useless = weights == 0
        # Pixels beside columns of other units which say nothing about them are still pixels.
        given, kinds = columns.given[:, ~useless], columns.kinds[~useless]
        if not share_units(given, columns.groups[~useless], kinds, defaults):
            context = search_context(table, columns.groups, *numbers, columns.kinds)
            if np.isin(kinds, (FLAG, CATEGORY)).any():
                # A graph falls into parts along flags and categories, whatever these mean.
                context = replace(context, defaults=replace(defaults, least_part=np.inf))
            candidates = search_table(context, weights, columns, settings.column_units, runner)
            return SampleSearch(context, candidates, sample, columns)
    table = SampleTable.of(statistics.raw, statistics.typical, sample).without(useless)
    table = table.without(unexplained_flags(table, n_clusters, seed, defaults))
    groups = duplicate_groups(table, settings.feature_groups)
    context = search_context(table, groups, *numbers)
    ways = SearchSpace(
        _rows(settings, table, defaults),
        _columns(settings, table, refreshes, statistics.signed, defaults),
        settings.builds_graph,
    )
    return SampleSearch(context, search_preparations(context, ways, runner), sample)


def cluster_stability(choice: Choice, labels: RowArray) -> np.ndarray | None:
    """Share of each cluster that is found again, (k,).

    In halves of the sample; and by the other candidates of a table that hold up as well.
    """
    context, clusters = choice.context, choice.clusters
    if context is None:
        return None
    best = choice.candidates[0]
    k, seed, defaults = context.n_clusters, context.seed, context.defaults
    scales = factors(context, best)
    rows = context.table.scaled(scales, best.unit)

    def cluster(half: Half, mine: np.ndarray) -> np.ndarray:
        if choice.columns is not None and clusters != "graph":
            return cluster_table(context, scales, clusters, half.rows)
        # Begun from the clusters as well: what counts is where they lead, not who finds it.
        return quick_partition(half.graph, k, seed, defaults, (mine,))

    rivals, own = choice.rivals(1 - defaults.small), context.table.weights
    pairs = row_halves(rows, context.n_neighbors, defaults.splits, seed, defaults, own)
    return cluster_recovery(pairs, labels[choice.sample], rivals, k, cluster, own)


def _rows(settings: Settings, table: SampleTable, defaults: Defaults) -> tuple[str, ...]:
    if settings.row_norm == "auto":
        return row_preparations(table, defaults)
    return ("own",) if settings.row_norm == "none" else ("unit",)


def _columns(
    settings: Settings, table: SampleTable, refreshes: int, signed: bool, defaults: Defaults
) -> tuple[str, ...]:
    if settings.column_units != "auto":
        return (settings.column_units,)
    if settings.feature_groups is not None:
        # In these units groups that share their votes have the same scatter.
        return ("spread",)
    return column_preparations(table, refreshes, defaults, signed=signed)


def _several_weightings(
    context: SearchContext, best: Candidate, m: int, seed: int
) -> Weights | None:
    """Several weightings, if the data have them: clusters of like profiles share one."""
    if best.clusters != "graph" or context.crowded:
        return None
    moments, defaults = context.moments(best.labels), context.defaults
    groups = _group_clusters(moments, m, seed, defaults)
    weights = Weights(*relevance_weights(moments, groups, m, defaults))
    if not all_relevant(moments, best.weights[None], weights.omega, defaults):
        return None
    graph = context.graph(factors(context, replace(best, weights=weights.top)), best.unit)
    k, others = context.n_clusters, (best.labels,)
    labels = partition(graph, k, seed, starts=1, others=others, defaults=defaults).labels
    worse = modularity(graph, labels, k) < best.modularity
    # Where few features stand out by themselves, several weightings would rest on chance.
    less = context.explained(context.moments(labels)) < best.explained
    return None if worse or less else weights


def _group_clusters(moments: Moments, m: int, seed: int, defaults: Defaults) -> np.ndarray:
    """Which weighting each cluster belongs to."""
    c = len(moments.counts)
    if m >= c:
        return np.arange(c)
    shapes = profiles(moments)
    rng = np.random.RandomState(seed)
    return best_kmeans(shapes, m, rng, defaults.starts)
