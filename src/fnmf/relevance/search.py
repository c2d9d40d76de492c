"""Exploring on a sample: preparations of rows and columns, and what each of them finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fnmf.affinity import modularity
from fnmf.execution import Runner
from fnmf.kmeans import principal_kmeans
from fnmf.relevance.candidates import Candidate, SearchContext
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.preparations import dominated_by_few, suited
from fnmf.relevance.weights import cap_uncertain_features, single_weighting, weights_converged

# Treatments of columns, in the order in which equals are preferred.
_COLUMNS = ("own", "spread", "typical", "gated")


class SearchSpace(NamedTuple):
    """What is tried: treatments of rows and of columns, and whether clusters about means too."""

    rows: Sequence[str]
    columns: Sequence[str]
    means: bool = False


class _Found(NamedTuple):
    """Where rounds have come to."""

    weights: np.ndarray
    prices: np.ndarray
    labels: np.ndarray
    modularity: float
    explained: float


def search_preparations(
    context: SearchContext, ways: SearchSpace, runner: Runner
) -> list[Candidate]:
    """All candidates, best first."""
    pairs = [(name == "unit", suited(ways.columns, name)) for name in ways.rows]
    # The longest first, so that whoever has done the others can help with it.
    families = [("typical", "gated"), ("own",), ("spread",)]
    items = [
        (unit, [name for name in family if name in columns])
        for family in families
        for unit, columns in pairs
        if family[0] in columns
    ]
    found = _in_order(runner.each(partial(_graph_candidates, context, runner), items))
    best = max(found, key=lambda one: one.score)
    if ways.means and max(one.modularity for one in found) < 1 - context.defaults.small:
        others = _in_order(
            runner.each(lambda unit, names: [_explored(context, unit, names[0], "means")], items)
        )
        # Clusters of very uneven sizes have little modularity; halves of the largest have more,
        # and explain less.
        found += [one for one in others if one.explained > best.explained]
    return sorted(found, key=lambda one: -one.score)


def _in_order(families: Iterable[list[Candidate]]) -> list[Candidate]:
    """Candidates of all families, those of rows of unit length first, in the order of columns."""
    found = [one for family in families for one in family]
    return sorted(found, key=lambda one: (one.rows != "unit", _COLUMNS.index(one.columns)))


def _graph_candidates(
    context: SearchContext, runner: Runner, unit: bool, columns: Sequence[str]
) -> list[Candidate]:
    """Treatments of the columns that build on each other, for one of the rows."""
    if columns[0] != "typical":
        return [_explored(context, unit, columns[0], "graph")]
    best = _typical(context, unit, context.table.units("typical"), runner)
    candidates = [_candidate(unit, "typical", "graph", best, context.defaults)]
    if "gated" in columns:
        own = context.table.units("own")
        caps = cap_uncertain_features(context.moments(best.labels), own, context.defaults)
        kept = best._replace(weights=best.weights * caps)
        if not dominated_by_few(context.table, kept.weights, context.defaults):
            found = _rounds(context, unit, own, min(context.refreshes, 1), kept)
            candidates.append(_candidate(unit, "gated", "graph", found, context.defaults))
    return candidates


def _typical(context: SearchContext, unit: bool, units: np.ndarray, runner: Runner) -> _Found:
    """Rounds in typical units, from the best of several beginnings.

    Noise in families of like features drowns the rest unless these begin small; noise without
    relatives need not begin at all; data without noise is met with equal votes.
    """
    begin = partial(_rounds, context, unit, units, min(context.refreshes, 1), None)
    best, most = begin(), (1 - context.defaults.small) * len(units)
    if np.count_nonzero(best.weights) < most:
        starts = [context.independence]
        if 1 < np.count_nonzero(context.related) < most:
            starts.append(context.duplicate_weights * context.related)
        begun = runner.each(begin, [(start,) for start in starts])
        best = max(best, *begun, key=lambda one: one.explained)
    if context.refreshes > 1:
        best = _rounds(context, unit, units, context.refreshes - 1, best)
    return best


def _explored(context: SearchContext, unit: bool, columns: str, clusters: str) -> Candidate:
    """What one treatment of rows and columns finds, in a graph or about means."""
    units, means = context.table.units(columns), clusters == "means"
    found = _rounds(context, unit, units, context.refreshes, means=means)
    return _candidate(unit, columns, clusters, found, context.defaults)


def _candidate(
    unit: bool, columns: str, clusters: str, found: _Found, defaults: Defaults
) -> Candidate:
    return Candidate(
        "unit" if unit else "own",
        columns,
        clusters,
        *found,
        candidate_score(found.modularity, found.explained, columns, clusters, unit, defaults),
    )


def _rounds(
    context: SearchContext,
    unit: bool,
    units: np.ndarray,
    refreshes: int,
    begun: _Found | None = None,
    start: np.ndarray | None = None,
    *,
    means: bool = False,
) -> _Found:
    """Graph and clusters of the weighted rows, new weights from them, and again; the best of it.

    Rounds go on from others that were ``begun``, or else every feature counts at first. ``start``
    replaces in the first of them what copies of a feature count.
    """
    if begun is None:
        d = context.table.shape[1]
        begun = _Found(np.ones(d), np.zeros(d), np.empty(0, np.int64), 0.0, 0.0)
    weights, prices, labels, *_ = begun
    seen: list[_Found] = []
    defaults, own = context.defaults, context.table.weights
    for number in range(refreshes + 1):
        shares = context.duplicate_weights if start is None or number else start
        factors = units * np.sqrt(weights * shares)
        graph = context.graph(factors, unit)
        if means:
            rows = context.table.scaled(factors, unit)
            starts, seed = defaults.starts, context.seed
            labels = principal_kmeans(rows, context.n_clusters, seed, starts, own)
        else:
            labels = context.clusters(graph, (labels,) if len(labels) else ())
        moments = context.moments(labels)
        quality = modularity(graph, labels, context.n_clusters)
        seen.append(_Found(weights, prices, labels, quality, context.explained(moments)))
        if number == refreshes:
            break
        omega, price = single_weighting(moments, units, defaults)
        if (start is None or number) and weights_converged(weights, omega, defaults):
            break
        weights, prices = omega, price
    # Features that are too weak to stand out by themselves may be lost on the way.
    return max(
        reversed(seen), key=lambda one: selection_score(one.modularity, one.explained, defaults)
    )


def refit_candidate(context: SearchContext, chosen: Candidate) -> Candidate:
    """What the preparation of a candidate finds in other data."""
    # What is left of typical units is found in these.
    columns = "typical" if chosen.columns == "gated" else chosen.columns
    return _explored(context, chosen.unit, columns, chosen.clusters)


def candidate_score(
    modularity: float,
    explained: float,
    columns: str,
    clusters: str,
    unit: bool,
    defaults: Defaults = DEFAULTS,
) -> float:
    """The larger, the better; comparable across graphs and features of the same samples.

    Parameters
    ----------
    modularity : float
        Of the clusters on their own graph, at most 1.
    explained : float
        Number of independent features that the clusters explain.
    columns : {"own", "typical", "gated", "spread"}
        Units of the features.
    clusters : {"graph", "means"}
        Where clusters come from.
    unit : bool
        Whether rows had unit length.
    defaults : Defaults
        Weights and prices of the score.
    """
    # Whatever changes the data must explain a small share more: common units lose digits that meant
    # something; rows of unit length are the habit of the field (prices of 0.2 to 0.4: .0000).
    changes = (columns in ("typical", "spread")) + (clusters == "means") - unit
    score = selection_score(modularity, explained, defaults)
    return score - defaults.explained_weight * defaults.small * changes


def selection_score(modularity: float, explained: float, defaults: Defaults = DEFAULTS) -> float:
    """The score without what a preparation must earn: log Q / (1 − Q) + 3 log E."""
    lack = max(1 - modularity, defaults.negligible)
    held, gained = (np.log(max(one, np.finfo(float).tiny)) for one in (modularity, explained))
    return float(held - np.log(lack) + defaults.explained_weight * gained)
