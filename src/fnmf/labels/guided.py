"""Classes of all rows from labels and links of some: the fit that they guide."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fnmf.affinity import (
    AnchorAffinity,
    GraphAffinity,
    build_affinity,
    graph_votes,
    neighbor_graph,
)
from fnmf.execution import Runner
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import with_new
from fnmf.labels.linear import Linear
from fnmf.labels.links import keep_links, violated
from fnmf.labels.opinions import (
    LinearRows,
    Seeds,
    Surroundings,
    can_hold_out,
    plain_rows,
    spread_units,
)
from fnmf.labels.pool import log_shares, pool_weights, pooled, with_sizes
from fnmf.labels.spread import AnchorSpread, GraphSpread, Spread
from fnmf.labels.steer import label_relevance, spread_weights, steered, tied, trust
from fnmf.relevance.choice import Choice
from fnmf.relevance.pipeline import Inputs, cluster_affinity, search_features
from fnmf.relevance.prepare import FeatureStatistics, Weights, prepare
from fnmf.relevance.results import FoundClusters

# Weights of graph, clusters, linear opinions and class sizes where labels say nothing; that of the
# clusters falls with the labels of a class.
_USUAL = (1.0, 1.0, 0.15, 0.15, 0.0)
# Probability of being wrong from which a label is called suspicious.
_SUSPICIOUS = 0.5
# Share of labels wrong, among those on which graph and features agree, between which such labels do
# not spread: with fewer the agreement errs, with more the classes overlap. The second counts as far
# as clusters are to be trusted: classes that are no clusters overlap.
_NOISY, _OVERLAP = 0.1, 0.25
# Labels of a class below which none can be spared; Yale and ORL lose at 3 a class.
_SPARED = 5
# Neighbours in the graph that labels spread along, times those of a fit.
_MORE = 2
# Votes from which a row stands for a cluster that becomes a class of its own.
_CORE = 0.5
# Rows that stand for a new class among the linear opinions, times the labels of a class.
_STAND_INS = 2


@dataclass(frozen=True)
class Spoken:
    """What labels and links lead to.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        Names, those that nobody labelled last.
    shares, reached : ndarray of shape (n, k) and (n,)
        Probabilities of the classes, and whether any label reaches a row.
    graph, clusters : ndarray of shape (n, k)
        Log probabilities by graph and by clusters.
    linear : tuple of Linear
        The linear opinions.
    weights, offsets : ndarray of shape (4,) and (k,)
        How opinions are pooled, and what class sizes add.
    suspicious : ndarray
        Fields ``row``, ``given``, ``suggested`` (numbers of classes) and ``probability``.
    violated : ndarray of shape (v, 3)
        Links that do not hold.
    told : ndarray of shape (d,)
        Relevance of the features by labels.
    by : ndarray of shape (d,) or None
        Weights of the features that labels spread by, if they are not those of the fit.
    held_out : ndarray of shape (l, k) or None
        Log probabilities of labelled rows, each without its own label, if any could be spared.
    """

    classes: np.ndarray
    shares: np.ndarray
    reached: np.ndarray
    graph: np.ndarray
    clusters: np.ndarray
    linear: tuple[Linear, Linear]
    weights: np.ndarray
    offsets: np.ndarray
    suspicious: np.ndarray
    violated: np.ndarray
    told: np.ndarray
    by: np.ndarray | None
    held_out: np.ndarray | None


def guided_clusters(inputs: Inputs, guidance: Guidance, seed: int) -> tuple[FoundClusters, Spoken]:
    """Features, affinity and classes: steps 2 to 5 of the pipeline, led by labels and links."""
    return guide(inputs, *search_features(inputs, seed), guidance, seed)


def guide(
    inputs: Inputs, choice: Choice, statistics: FeatureStatistics, guidance: Guidance, seed: int
) -> tuple[FoundClusters, Spoken]:
    """The same from a search that is done; it does not depend on labels."""
    runner, defaults = inputs.runner, inputs.defaults
    told = label_relevance(statistics, guidance.known, runner, defaults)
    if isinstance(inputs.settings.weighting, str):
        # Weights of the user's own stay as they are.
        choice = steered(choice, told)
    found = cluster_affinity(inputs, choice, statistics, seed)
    graph = found.affinity.graph
    if len(guidance.must.pairs) and graph is not None:
        graph = tied(graph, guidance.must)
        affinity = GraphAffinity(graph, found.prepared.weighted, runner, defaults)
        labels = affinity.clusters(inputs.settings.clusters, seed)
        found = replace(found, affinity=affinity, labels=labels)
    spoken = speak(inputs, found, guidance, told, seed)
    return replace(found, labels=spoken.shares.argmax(axis=1), settled=True), spoken


def speak(
    inputs: Inputs, found: FoundClusters, guidance: Guidance, told: np.ndarray, seed: int
) -> Spoken:
    """Pool what graph, clusters and features say of all rows."""
    known, k = guidance.known, inputs.settings.clusters
    clusters = np.asarray(found.labels)
    seeds = all_seeds(found, guidance, k, seed)
    classes = with_new(known.classes, k)
    sizes = guidance.sizes(classes)
    prior = _prior(seeds, clusters, k) if sizes is None else sizes
    by = spread_weights(found.choice)
    around = Surroundings(_spread(inputs, found, guidance, by, seed), clusters, prior)
    labelled = np.bincount(seeds.codes[seeds.told], minlength=k)
    each = max(float(labelled[labelled > 0].mean()), 1.0) if labelled.any() else 1.0
    sure = trust(found.choice)
    usual = np.array(_USUAL) * (1, sure / each, 1, 1, 1)
    features = _features(inputs, found, seed)
    first = _weigh(features, around, seeds, usual, inputs.runner, seed)
    weights, linear = first.weights, first.linear
    suspicious, doubted = _suspicious(first, seeds, _OVERLAP * sure)
    if not guidance.trusted:
        doubted |= np.isin(seeds.rows, suspicious["row"])
    if doubted.any() and not doubted.all():
        # Wrong labels are kept where they are, but do not spread.
        linear = features.fit(_stand_ins(seeds.only(~doubted), k, seed), k, seed)[0]
    graph, by_clusters, reached = around.opinions(seeds.only(~doubted))
    opinions = [graph, by_clusters, *features.say(linear, inputs.runner)]
    logs = pooled(opinions, weights[:-1])
    offsets = weights[-1] * np.log(prior) if sizes is None else with_sizes(logs, sizes)
    logs = log_shares(logs + offsets)
    shares, links = _with_given(logs, guidance, suspicious)
    return Spoken(
        classes,
        shares,
        reached,
        graph,
        by_clusters,
        linear,
        weights[:-1],
        offsets,
        suspicious,
        links,
        told,
        by,
        first.held_out,
    )


def _spread(
    inputs: Inputs, found: FoundClusters, guidance: Guidance, by: np.ndarray | None, seed: int
) -> Spread:
    """Along anchors, the user's graph, or a graph of more neighbours than clusters need."""
    settings, affinity, rows = inputs.settings, found.affinity, found.prepared.weighted
    if by is not None and settings.builds_graph:
        weights = Weights(by[None], found.weights.price)
        choice, statistics = found.choice, found.statistics
        rows = prepare(statistics, choice.units, weights, False, inputs.runner).weighted
        if isinstance(affinity, AnchorAffinity):
            cache, runner = inputs.problem.cache, inputs.runner
            affinity = build_affinity(rows, settings, seed, runner, cache, inputs.defaults)
    if isinstance(affinity, AnchorAffinity):
        rows = rows.subset(np.asarray(affinity.anchors))
    k = min(_MORE * settings.n_neighbors, rows.shape[0] - 2)
    if isinstance(affinity, AnchorAffinity):
        return AnchorSpread(affinity, neighbor_graph(rows, k, settings.search, inputs.runner))
    graph = affinity.graph
    assert graph is not None
    if settings.builds_graph:
        graph = tied(neighbor_graph(rows, k, settings.search, inputs.runner), guidance.must)
    return GraphSpread(graph)


def all_seeds(found: FoundClusters, guidance: Guidance, n_classes: int, seed: int) -> Seeds:
    """Labelled rows, and rows at the core of the clusters with the fewest labels: new classes."""
    known, clusters = guidance.known, np.asarray(found.labels)
    rows, codes = known.rows, known.codes[known.rows]
    more = n_classes - len(known.classes)
    if more <= 0:
        return Seeds(rows, codes, np.ones(len(rows), bool))
    sizes = np.bincount(clusters, minlength=n_classes)
    labelled = np.bincount(clusters[rows], minlength=n_classes) / np.maximum(sizes, 1)
    core = _core(found, clusters, n_classes)
    core[rows] = False
    for number, cluster in enumerate(np.lexsort((-sizes, labelled))[:more]):
        own = np.flatnonzero(core & (clusters == cluster))
        rows = np.concatenate([rows, own])
        codes = np.concatenate([codes, np.full(len(own), len(known.classes) + number)])
    return Seeds(rows, codes, np.arange(len(rows)) < len(known.rows))


def _core(found: FoundClusters, clusters: np.ndarray, n_clusters: int) -> np.ndarray:
    """Rows whose neighbours are mostly of their own cluster; all, where anchors hold them."""
    graph = found.affinity.graph
    if graph is None:
        return np.ones(len(clusters), bool)
    votes = graph_votes(graph, clusters, n_clusters)
    return votes[np.arange(len(clusters)), clusters] >= _CORE


def _prior(seeds: Seeds, clusters: np.ndarray, k: int) -> np.ndarray:
    """Share of each class: of new ones their cores, of others what is left, by their labels."""
    new = np.bincount(seeds.codes[~seeds.told], minlength=k) / len(clusters)
    given = np.bincount(seeds.codes[seeds.told], minlength=k).astype(np.float64)
    left = max(1 - new.sum(), 0.0)
    total = given.sum()
    prior = new + (left * given / total if total else 0)
    return np.maximum(prior, 1 / len(clusters)) / np.maximum(prior, 1 / len(clusters)).sum()


@dataclass(frozen=True)
class _Weighed:
    weights: np.ndarray
    linear: tuple[Linear, Linear]
    # Log probabilities of the labelled seeds without their own labels; None if none can be spared.
    held_out: np.ndarray | None
    # The class on which graph and features agree, -1 where they do not, (l,).
    agreed: np.ndarray | None = None


def _features(inputs: Inputs, found: FoundClusters, seed: int) -> LinearRows:
    """Rows that linear opinions are read off."""
    statistics, prepared = found.statistics, found.prepared
    unit = prepared.row_scale is None
    plain = plain_rows(statistics.view, statistics.caps, unit, inputs.runner)
    roots = np.sqrt(found.weights.top)
    return LinearRows(prepared.view, plain, roots, spread_units(plain, seed))


def _weigh(
    features: LinearRows,
    around: Surroundings,
    seeds: Seeds,
    usual: np.ndarray,
    runner: Runner,
    seed: int,
) -> _Weighed:
    """Weights of the opinions from labels that are held out in turn."""
    k, told = len(around.prior), seeds.told
    linear, few = features.fit(_stand_ins(seeds, k, seed), k, seed)
    if not can_hold_out(seeds.codes[told], k):
        return _Weighed(usual, linear, None)
    graph, clusters = around.held_out(seeds, seed)
    rows, codes = seeds.rows[told], seeds.codes[told]
    by_features = features.subset(rows).say(linear, runner)
    place = np.flatnonzero(few.told)
    at = np.searchsorted(rows, few.rows[place])
    for one, said in zip(linear, by_features, strict=True):
        said[at] = log_shares(one.held_out[place])
    frequent = np.broadcast_to(np.log(around.prior), (len(rows), k))
    opinions = [graph[told], clusters[told], *by_features, frequent]
    weights = pool_weights([one[at] for one in opinions], codes[at], usual)
    named = np.stack([one.argmax(axis=1) for one in (opinions[0], *by_features)])
    agreed = np.where((named == named[0]).all(axis=0), named[0], -1)
    return _Weighed(weights, linear, pooled(opinions, weights), agreed)


def _stand_ins(seeds: Seeds, k: int, seed: int) -> Seeds:
    """Labelled seeds, and of new classes about as many as of labelled ones."""
    told = seeds.told
    most = max(_STAND_INS * int(told.sum()) // max(len(np.unique(seeds.codes[told])), 1), 10)
    keep, rng = told.copy(), np.random.RandomState(seed)
    for code in np.unique(seeds.codes[~told]):
        own = np.flatnonzero(~told & (seeds.codes == code))
        keep[rng.permutation(own)[:most]] = True
    return seeds.only(keep)


def _suspicious(weighed: _Weighed, seeds: Seeds, overlap: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the others contradict, surest first, and which seeds should not spread."""
    kind = [("row", np.int64), ("given", np.int64), ("suggested", np.int64), ("probability", float)]
    doubted = np.zeros(len(seeds.rows), bool)
    if weighed.held_out is None or weighed.agreed is None:
        return np.empty(0, kind), doubted
    shares = np.exp(weighed.held_out)
    rows, given = seeds.rows[seeds.told], seeds.codes[seeds.told]
    best = shares.argmax(axis=1)
    wrong = 1 - shares[np.arange(len(given)), given]
    called = (best != given) & (wrong >= _SUSPICIOUS)
    found = np.empty(int(called.sum()), kind)
    found["row"], found["given"] = rows[called], given[called]
    found["suggested"], found["probability"] = best[called], wrong[called]
    agreed = weighed.agreed >= 0
    against = agreed & (weighed.agreed != given)
    enough = len(given) >= _SPARED * len(np.unique(given))
    if enough and _NOISY < against.sum() / max(agreed.sum(), 1) < overlap:
        doubted[np.flatnonzero(seeds.told)[against]] = True
    return found[np.argsort(-found["probability"], kind="stable")], doubted


def _with_given(
    logs: np.ndarray, guidance: Guidance, suspicious: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that agree with given labels and links, and links that do not hold."""
    fixed = guidance.known.codes.copy()
    if not guidance.trusted:
        fixed[suspicious["row"]] = -1
    labels = keep_links(logs, fixed, guidance.must, guidance.cannot)
    shares = np.exp(logs)
    given = np.flatnonzero(fixed >= 0)
    shares[given] = np.eye(shares.shape[1])[fixed[given]]
    # A row that links have moved takes the probability of the class it left.
    every, top = np.arange(len(shares)), shares.argmax(axis=1)
    own = shares[every, labels].copy()
    shares[every, labels], shares[every, top] = shares[every, top].copy(), own
    return shares, violated(labels, guidance.must, guidance.cannot)
