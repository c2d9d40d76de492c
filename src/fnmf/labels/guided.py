"""Classes of all rows from labels and links of some: the fit that they guide."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fnmf.affinity import GraphAffinity, graph_votes
from fnmf.labels.guidance import Guidance
from fnmf.labels.known import with_new
from fnmf.labels.linear import Linear
from fnmf.labels.links import keep_links, violated
from fnmf.labels.opinions import (
    Seeds,
    Surroundings,
    can_hold_out,
    linear_opinions,
    said_of,
)
from fnmf.labels.pool import log_shares, pool_weights, pooled, with_sizes
from fnmf.labels.spread import spread_along
from fnmf.labels.steer import label_relevance, steered, tied
from fnmf.relevance.pipeline import Inputs, cluster_affinity, search_features
from fnmf.relevance.results import FoundClusters

# Weights of graph, clusters and linear opinions where labels say nothing; that of the clusters
# falls with the labels of a class.
_USUAL = (1.0, 0.5, 0.3, 0.3)
# Probability of another class from which a label is called suspicious, and no longer spread.
_SUSPICIOUS = 0.5
_NOT_SPREAD = 0.7
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


def guided_clusters(inputs: Inputs, guidance: Guidance, seed: int) -> tuple[FoundClusters, Spoken]:
    """Features, affinity and classes: steps 2 to 5 of the pipeline, led by labels and links."""
    runner, defaults, known = inputs.runner, inputs.defaults, guidance.known
    choice, statistics = search_features(inputs, seed)
    told = label_relevance(statistics, known, runner, defaults)
    found = cluster_affinity(inputs, steered(choice, told), statistics, seed)
    if len(guidance.must.pairs) and isinstance(found.affinity, GraphAffinity):
        affinity = tied(found.affinity, guidance.must, found.prepared, runner, defaults)
        labels = affinity.clusters(inputs.settings.clusters, seed)
        found = replace(found, affinity=affinity, labels=labels)
    spoken = speak(inputs, found, guidance, told, seed)
    labels = spoken.shares.argmax(axis=1)
    return replace(found, labels=labels, settled=True), spoken


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
    around = Surroundings(spread_along(found.affinity), clusters, prior)
    labelled = np.bincount(seeds.codes[seeds.told], minlength=k)
    each = max(float(labelled[labelled > 0].mean()), 1.0) if labelled.any() else 1.0
    usual = np.array(_USUAL) / (1, each, 1, 1)
    first = _weigh(inputs, found, around, seeds, usual, seed)
    suspicious, doubted = _suspicious(first, seeds)
    if doubted.any() and not doubted.all():
        # Wrong labels are kept where they are, but do not spread.
        first = _weigh(inputs, found, around, seeds.only(~doubted), usual, seed)
    weights, linear = first.weights, first.linear
    graph, by_clusters, reached = around.opinions(seeds.only(~doubted))
    view = found.prepared.view
    opinions = [graph, by_clusters, *(said_of(one, view, inputs.runner) for one in linear)]
    logs = pooled(opinions, weights)
    offsets = np.zeros(k) if sizes is None else with_sizes(logs, sizes)
    logs = log_shares(logs + offsets)
    shares, links = _with_given(logs, guidance, suspicious)
    return Spoken(
        classes,
        shares,
        reached,
        graph,
        by_clusters,
        linear,
        weights,
        offsets,
        suspicious,
        links,
        told,
    )


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


def _weigh(
    inputs: Inputs,
    found: FoundClusters,
    around: Surroundings,
    seeds: Seeds,
    usual: np.ndarray,
    seed: int,
) -> _Weighed:
    """Weights of the opinions from labels that are held out in turn."""
    k, view = len(around.prior), found.prepared.view
    few = _stand_ins(seeds, k, seed)
    *both, fitted = linear_opinions(view, found.weights.top, few, k, seed)
    linear = (both[0], both[1])
    if not can_hold_out(seeds.codes[seeds.told], k):
        return _Weighed(usual, linear, None)
    graph, clusters = around.held_out(seeds, seed)
    opinions = [graph[seeds.told], clusters[seeds.told]]
    place = np.flatnonzero(few.told[fitted])
    rows = few.rows[fitted[place]]
    at = np.searchsorted(seeds.rows[seeds.told], rows)
    for one in linear:
        said = said_of(one, view.subset(seeds.rows[seeds.told]), inputs.runner)
        said[at] = log_shares(one.held_out[place])
        opinions.append(said)
    codes = seeds.codes[seeds.told]
    weights = pool_weights([one[at] for one in opinions], codes[at], usual, np.ones(len(at)))
    return _Weighed(weights, linear, pooled(opinions, weights))


def _stand_ins(seeds: Seeds, k: int, seed: int) -> Seeds:
    """Labelled seeds, and of new classes about as many as of labelled ones."""
    told = seeds.told
    most = max(_STAND_INS * int(told.sum()) // max(len(np.unique(seeds.codes[told])), 1), 10)
    keep, rng = told.copy(), np.random.RandomState(seed)
    for code in np.unique(seeds.codes[~told]):
        own = np.flatnonzero(~told & (seeds.codes == code))
        keep[rng.permutation(own)[:most]] = True
    return seeds.only(keep)


def _suspicious(weighed: _Weighed, seeds: Seeds) -> tuple[np.ndarray, np.ndarray]:
    """Labels that the others contradict, surest first, and which seeds should not spread."""
    kind = [("row", np.int64), ("given", np.int64), ("suggested", np.int64), ("probability", float)]
    doubted = np.zeros(len(seeds.rows), bool)
    if weighed.held_out is None:
        return np.empty(0, kind), doubted
    shares = np.exp(weighed.held_out)
    rows, given = seeds.rows[seeds.told], seeds.codes[seeds.told]
    best = shares.argmax(axis=1)
    wrong = 1 - shares[np.arange(len(given)), given]
    called = (best != given) & (wrong >= _SUSPICIOUS)
    found = np.empty(int(called.sum()), kind)
    found["row"], found["given"] = rows[called], given[called]
    found["suggested"], found["probability"] = best[called], wrong[called]
    doubted[np.flatnonzero(seeds.told)[called & (wrong >= _NOT_SPREAD)]] = True
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
