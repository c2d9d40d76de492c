"""Structure or chance: which clusters are found again from other features, and from other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from fnmf.affinity import small_graph
from fnmf.execution import Runner
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.crossfit import Half, association, factors, quick_partition
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.search import refit_candidate
from fnmf.relevance.weights import relevance


def structure(context: SearchContext, chosen: Candidate, runner: Runner) -> float | None:
    """Do clusters found from one half of the features come back in the other?

    Returns the largest association over a few halves in standard deviations; one that is clearly
    beyond chance ends the search, and so does a first one without any. ``None`` if there are too
    few features. Copies of a feature stay together.
    """
    defaults = context.defaults
    groups = context.groups
    live = context.table.scatter > 0
    # Equally relevant features go to different halves, so that neither is left without.
    explained = relevance(context.moments(chosen.labels), defaults)
    order = np.argsort(-explained, kind="stable")
    names = list(dict.fromkeys(groups[order][live[order]].tolist()))
    # A single feature of unit length is the same everywhere.
    if len(names) < (4 if chosen.unit else 2):
        return None
    rng = np.random.RandomState(context.seed)
    found = -np.inf
    for _ in range(defaults.splits):
        turns = rng.randint(2, size=len(names) // 2)
        first = np.isin(groups, [names[2 * pair + turn] for pair, turn in enumerate(turns)])
        halves = [(live & first,), (live & ~first,)]
        one, other = runner.each(lambda half: _clusters_of_half(context, chosen, half), halves)
        found = max(
            found, association(one, other, context.n_clusters, context.table.weights, defaults)
        )
        if not 1 < found < defaults.beyond_chance:
            break
    return float(found)


def _clusters_of_half(context: SearchContext, chosen: Candidate, half: np.ndarray) -> np.ndarray:
    """Clusters from some of the features alone, prepared as the candidate was."""
    kept = np.flatnonzero(half)
    part = replace(
        context,
        table=context.table.columns(kept),
        refreshes=min(context.refreshes, 1),
        duplicate_weights=context.duplicate_weights[kept],
        independence=context.independence[kept],
        related=context.related[kept],
        groups=context.groups[kept],
    )
    return refit_candidate(part, chosen).labels


def feature_halves(
    context: SearchContext, chosen: Candidate, n_neighbors: int, splits: int
) -> list[sp.csr_array]:
    """Graphs of all rows from random halves of the features in use, two for each split.

    Copies of a feature stay together. Empty if there are too few to leave half of them out.
    """
    scale, groups = factors(context, chosen), context.groups
    names = np.unique(groups[scale > 0])
    if len(names) < 2:
        return []
    rng = np.random.RandomState(context.seed)
    graphs = []
    for _ in range(splits):
        first = np.isin(groups, rng.permutation(names)[: len(names) // 2])
        for half in (first, ~first):
            rows = context.table.scaled(np.where(half, scale, 0), chosen.unit)
            graphs.append(small_graph(rows, n_neighbors, context.table.weights))
    return graphs


def rows_agree(
    pair: tuple[Half, Half], n_clusters: int, seed: int, defaults: Defaults = DEFAULTS
) -> float:
    """Rand index, corrected for chance, of clusters of a half and what the other predicts."""
    labels = [quick_partition(half.graph, n_clusters, seed, defaults) for half in pair]
    found = []
    for mine, other in ((0, 1), (1, 0)):
        votes = np.zeros((len(labels[mine]), n_clusters))
        for near in pair[other].nearest.T:
            votes[np.arange(len(votes)), labels[other][near]] += 1
        found.append(adjusted_rand_score(labels[mine], votes.argmax(axis=1)))
    return float(np.mean(found))


def features_agree(
    graphs: Sequence[sp.csr_array], n_clusters: int, seed: int, defaults: Defaults = DEFAULTS
) -> float:
    """Rand index, corrected for chance, of clusters found from two halves of the features."""
    one, other = (quick_partition(graph, n_clusters, seed, defaults) for graph in graphs)
    return float(adjusted_rand_score(one, other))


def agreement(context: SearchContext, chosen: Candidate, runner: Runner) -> float | None:
    """How far halves of the features that a candidate uses agree; ``None`` if they are too few."""
    splits, end = (
        context.defaults.splits,
        (context.n_clusters, context.seed, context.defaults),
    )
    graphs = feature_halves(context, chosen, context.n_neighbors, splits)
    split = [(graphs[i : i + 2], *end) for i in range(0, len(graphs), 2)]
    found = list(runner.each(features_agree, split))
    return float(np.mean(found)) if found else None


def agrees_beyond_chance(context: SearchContext, chosen: Candidate, runner: Runner) -> bool:
    """Whether halves of the features in use agree more than they would had samples been shuffled.

    These features were chosen by the clusters, so that even chance agrees with itself, the more
    so the fewer samples there are.
    """
    found = agreement(context, chosen, runner)
    margin = context.defaults.small
    if found is None or found <= margin:
        return False
    rng = np.random.RandomState(context.seed)
    for _ in range(context.defaults.splits):
        other = replace(context, table=context.table.shuffled(rng))
        chance = agreement(other, refit_candidate(other, chosen), runner)
        if chance is not None and found <= chance + margin:
            return False
    return True
