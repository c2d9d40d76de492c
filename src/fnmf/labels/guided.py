"""Classes of all rows from labels and links of some: the fit that they guide."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fnmf.affinity import (
    Affinity,
    AnchorAffinity,
    GraphAffinity,
    Nearest,
    build_affinity,
    neighbor_graph,
)
from fnmf.data import View
from fnmf.execution import RowArray, Runner
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import with_new
from fnmf.labels.linear import Linear
from fnmf.labels.links import keep_links, violated
from fnmf.labels.opinions import LinearRows, Surroundings, said_of
from fnmf.labels.pool import log_shares, pool_weights, pooled, sharpness, with_sizes
from fnmf.labels.rows import ClassTables, best_class, reached_rows, row_shares
from fnmf.labels.seeds import Seeds, find_seeds
from fnmf.labels.spread import AnchorSpread, GraphSpread, Spread
from fnmf.labels.steer import label_relevance, spread_weights, steered, tied, trust
from fnmf.labels.wrong import suspicious_labels
from fnmf.relevance.choice import Choice
from fnmf.relevance.pipeline import Inputs, cluster_affinity, search_features
from fnmf.relevance.prepare import FeatureStatistics, Weights, prepare
from fnmf.relevance.results import FoundClusters

# Labels of a class, times the trust in clusters, below which none can be spared: COIL20 loses .014
# at 3 to 4 a class, music emotion .078 at 5 without the trust; a fifth of the labels wrong, four
# sets gain .008 at 7 to 20.
_SPARED = 5
# Neighbours in the graph that labels spread along, times those of a fit. Seven sets at 1 a class,
# 5 % and 10 %: .748 .816 .840 with as many, .751 .816 .840 with this, .751 .812 .835 with four.
_MORE = 2
# Labels of a class from which features count half of what clusters are not trusted with: with one
# label a class a tenth of it leaves 4 of 17 sets more than .01 below a peer, half of it 8.
_FEATURES = 9


@dataclass(frozen=True)
class GuidedClasses:
    """What labels and links lead to.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        Names, those that nobody labelled last.
    shares, reached : array of shape (n, k) and (n,)
        Probabilities of the classes, and whether any label reaches a row.
    tables : ClassTables
        From which classes of new rows are read.
    suspicious : ndarray
        Fields ``row``, ``given``, ``suggested`` (numbers of classes) and ``probability``.
    violated : ndarray of shape (v, 3)
        Links that do not hold.
    relevance : ndarray of shape (d,)
        Relevance of the features by labels.
    held_out : ndarray of shape (l, k) or None
        Log probabilities of labelled rows, each without its own label, if any could be spared.
    """

    classes: np.ndarray
    shares: RowArray
    reached: RowArray
    tables: ClassTables
    suspicious: np.ndarray
    violated: np.ndarray
    relevance: np.ndarray
    held_out: np.ndarray | None


def guide(
    inputs: Inputs, choice: Choice, statistics: FeatureStatistics, guidance: Guidance, seed: int
) -> tuple[FoundClusters, GuidedClasses]:
    """Affinity and classes, led by labels and links, from a search that does not depend on them."""
    runner, defaults = inputs.runner, inputs.defaults
    proved = label_relevance(statistics, guidance.known, seed, runner, defaults)
    if isinstance(inputs.settings.weighting, str):
        # Weights of the user's own stay as they are.
        choice = steered(choice, proved)
    found = cluster_affinity(inputs, choice, statistics, seed)
    graph = found.affinity.graph
    if len(guidance.must.pairs) and graph is not None:
        graph = tied(graph, guidance.must)
        affinity = GraphAffinity(graph, found.prepared.weighted, runner, defaults)
        labels = affinity.clusters(inputs.settings.clusters, seed)
        found = replace(found, affinity=affinity, labels=labels)
    classes = find_classes(inputs, found, guidance, proved, seed)
    labels = best_class(classes.shares, statistics.view, runner)
    return replace(found, labels=labels, settled=True), classes


def guided_clusters(
    inputs: Inputs, guidance: Guidance, seed: int
) -> tuple[FoundClusters, GuidedClasses]:
    """Features, affinity and classes: steps 2 to 5 of the pipeline, led by labels and links."""
    return guide(inputs, *search_features(inputs, seed), guidance, seed)


def find_classes(
    inputs: Inputs, found: FoundClusters, guidance: Guidance, proved: np.ndarray, seed: int
) -> GuidedClasses:
    """Pool what graph, clusters and features say of all rows.

    Opinions are formed on all rows of a graph; with anchors on these and on the rows of which
    something is known, and all others are read off their anchors.
    """
    k, runner, view = inputs.settings.clusters, inputs.runner, found.statistics.view
    by = spread_weights(found.choice)
    weighted, affinity = _spread_along(inputs, found, by, seed)
    held = anchors = np.arange(view.shape[0])
    if isinstance(affinity, AnchorAffinity):
        anchors = np.asarray(affinity.anchors)
        held = np.union1d(anchors, guidance.rows)
    here = guidance.at(held)
    assert found.labels is not None
    clusters = np.asarray(found.labels[held])
    seeds = find_seeds(here.known, found, clusters, k)
    classes = with_new(here.known.classes, k)
    sizes = guidance.sizes(classes)
    prior = seeds.shares(len(held), k) if sizes is None else sizes
    around = Surroundings(_spread(inputs, affinity, weighted, here, held), clusters, prior)
    sure = trust(found.choice)
    features = LinearRows.of(found, seed, runner)
    first = _weigh(features, around, seeds, sure, held, runner, seed)
    suspicious, doubted = _suspicious(first, seeds, sure, held)
    if not guidance.trusted:
        doubted |= np.isin(held[seeds.rows], suspicious["row"])
    graph, by_clusters, reached = first.surroundings
    by_features = first.by_features
    if first.held_out is not None and doubted.any():
        # Wrong labels are kept where they are, but spread as what they should be.
        believed = seeds.codes.copy()
        believed[doubted] = first.held_out.argmax(axis=1)[doubted[seeds.told]]
        graph, by_clusters, reached = around.opinions(seeds._replace(codes=believed))
    here_logs = pooled([graph, by_clusters, by_features[held]], first.weights[:-1])
    places = np.searchsorted(held, anchors)
    offsets = first.weights[-1] * np.log(prior)
    if sizes is not None:
        offsets = with_sizes(here_logs[places], sizes)
    shares, links = _with_given(log_shares(here_logs + offsets), here, held, suspicious)
    tables = ClassTables(
        graph[places],
        by_clusters[places],
        shares[places],
        reached[places],
        first.linear.slopes,
        first.linear.level,
        first.weights[:-1],
        offsets,
        by,
    )
    if isinstance(affinity, AnchorAffinity):
        reached = reached_rows(tables, affinity.nearest, view, runner)
        decided = (held, shares)
        shares = row_shares(tables, affinity.nearest, by_features, decided, view, runner)
    return GuidedClasses(
        classes, shares, reached, tables, suspicious, links, proved, first.held_out
    )


def _spread_along(
    inputs: Inputs, found: FoundClusters, by: np.ndarray | None, seed: int
) -> tuple[View, Affinity]:
    """Rows in the weights that labels spread by, and their affinity."""
    settings, affinity, rows = inputs.settings, found.affinity, found.prepared.weighted
    if by is None or not settings.builds_graph:
        return rows, affinity
    weights = Weights(by[None], found.weights.price)
    rows = prepare(found.statistics, found.choice.units, weights, False, inputs.runner).weighted
    if isinstance(affinity, AnchorAffinity):
        cache, runner = inputs.problem.cache, inputs.runner
        affinity = build_affinity(rows, settings, seed, runner, cache, inputs.defaults)
    return rows, affinity


def _spread(
    inputs: Inputs, affinity: Affinity, weighted: View, here: Guidance, held: np.ndarray
) -> Spread:
    """Along anchors, the user's graph, or a graph of more neighbours than clusters need."""
    settings, rows = inputs.settings, weighted
    if isinstance(affinity, AnchorAffinity):
        rows = weighted.subset(np.asarray(affinity.anchors))
    elif not settings.builds_graph:
        assert affinity.graph is not None
        return GraphSpread(affinity.graph)
    k = min(_MORE * settings.n_neighbors, rows.shape[0] - 2)
    graph = neighbor_graph(rows, k, settings.search, inputs.runner)
    if isinstance(affinity, AnchorAffinity):
        return AnchorSpread(Nearest(*(part[held] for part in affinity.nearest)), graph)
    return GraphSpread(tied(graph, here.must))


@dataclass(frozen=True)
class _Weighed:
    # Of graph, clusters, features and class sizes.
    weights: np.ndarray
    linear: Linear
    # What it says of all rows.
    by_features: RowArray
    # What graph and clusters say of the rows at hand, and which of these are reached.
    surroundings: tuple[np.ndarray, np.ndarray, np.ndarray]
    # Log probabilities of the labelled seeds without their own labels; None if none can be spared.
    held_out: np.ndarray | None = None


def _weigh(
    features: LinearRows,
    around: Surroundings,
    seeds: Seeds,
    sure: float,
    held: np.ndarray,
    runner: Runner,
    seed: int,
) -> _Weighed:
    """Weights of the opinions from labels that are held out in turn.

    Where labels say nothing, clusters count as far as they are to be trusted, less the more labels
    a class has, and features as far as clusters are not, more the more labels it has; all are as
    sure as often as the graph agrees with them.
    """
    k, told, few = len(around.prior), seeds.told, seeds.few_of_new(seed)
    labels = np.bincount(seeds.codes[told])
    each = float(labels[labels > 0].mean()) if labels.any() else 1.0
    usual = np.array((1.0, sure / each, (1 - sure) * each / (each + _FEATURES), 0.0))
    linear, chosen, said = features.fit(few, held, k, seed)
    by_features = said_of(linear, features.rows, runner)
    surroundings = around.opinions(seeds)
    free = np.ones(len(held), bool)
    free[seeds.rows] = False
    if free.any():
        every = [*surroundings[:2], np.asarray(by_features[held])]
        graph, clusters, own = (one[free].argmax(axis=1) for one in every)
        agreed = sure * np.mean(graph == clusters) + (1 - sure) * np.mean(graph == own)
        usual *= sharpness(pooled(every, usual[:3])[free], float(agreed))
    spared = seeds.spared[told]
    if not spared.any():
        return _Weighed(usual, linear, by_features, surroundings)
    held_out = [one[told] for one in around.held_out(seeds, seed)]
    rows, codes = seeds.rows[told], seeds.codes[told]
    own = np.array(by_features[held[rows]])
    place = np.flatnonzero(few.told[chosen])
    at = np.searchsorted(rows, few.rows[chosen][place])
    own[at] = said[place]
    frequent = np.broadcast_to(np.log(around.prior), (len(rows), k))
    opinions = [*held_out, own, frequent]
    at = at[spared[at]]
    weights = pool_weights([one[at] for one in opinions], codes[at], usual)
    return _Weighed(weights, linear, by_features, surroundings, pooled(opinions, weights))


def _suspicious(
    weighed: _Weighed, seeds: Seeds, sure: float, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the others contradict, and which seeds are believed to be wrong."""
    doubted = np.zeros(len(seeds.rows), bool)
    spared, said = seeds.spared, weighed.held_out
    rows, given = held[seeds.rows[spared]], seeds.codes[spared]
    said = np.empty((0, 1)) if said is None else said[spared[seeds.told]]
    suspicious, wrong = suspicious_labels(said, rows, given)
    if sure * len(given) >= _SPARED * len(np.unique(given)):
        doubted[spared] = wrong
    return suspicious, doubted


def _with_given(
    logs: np.ndarray, guidance: Guidance, held: np.ndarray, suspicious: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that agree with given labels and links, and links that do not hold."""
    fixed = guidance.known.codes.copy()
    if not guidance.trusted:
        fixed[np.searchsorted(held, suspicious["row"])] = -1
    labels = keep_links(logs, fixed, guidance.must, guidance.cannot)
    shares = np.exp(logs)
    given = np.flatnonzero(fixed >= 0)
    shares[given] = np.eye(shares.shape[1])[fixed[given]]
    # A row that links have moved takes the probability of the class it left.
    every, top = np.arange(len(shares)), shares.argmax(axis=1)
    own = shares[every, labels].copy()
    shares[every, labels], shares[every, top] = shares[every, top].copy(), own
    broken = violated(labels, guidance.must, guidance.cannot)
    broken[:, :2] = held[broken[:, :2]]
    return shares, broken
