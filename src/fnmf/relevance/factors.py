"""Factors of a default fit: where they start, and how smooth the codes are at the end."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import Attraction
from fnmf.data import View
from fnmf.execution import BlockSource, RowArray, Runner, parts_of
from fnmf.factorization import SolverRun, initial_factors, ties_along, with_known
from fnmf.factorization.solver import Factors, RowModel, SolverCheckpoint, encode, solve
from fnmf.factorization.terms import ResidualWeighting
from fnmf.kmeans import cluster_codes, partition_codes
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.prepare import FeatureStatistics, PreparedRows, Weights
from fnmf.relevance.results import FoundClusters, SmoothedCodes
from fnmf.statistics import DistancesTo, Moments, cluster_moments, sums_of, weighted_distances

_TINY = 1e-12


class InitialFit(NamedTuple):
    """Starting values, and the weighting with the prices that the assignment counts with."""

    factors: Factors
    weighting: ResidualWeighting


def initial_fit(
    statistics: FeatureStatistics,
    found: FoundClusters,
    settings: Settings,
    seed: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> InitialFit:
    """Factors that start at the clusters, or as the user wants them to."""
    prepared, labels, weights = found.prepared, found.labels, found.weights
    c, init, view = settings.n_components, settings.init, prepared.view
    known = labels if settings.clusters == c else found.affinity.clusters(c, seed)
    moments: Moments | None = None
    if not (isinstance(init, str) and init == "kmeans"):
        U, V = given_start(statistics, prepared, c, init, seed, runner)
    elif known is None:
        U, V = kmeans_start(prepared, weights, c, seed, runner, defaults)
    else:
        moments = cluster_moments(view, known, c, prepared.mean, runner)
        U, V = cluster_start(prepared, weights, known, moments, runner, defaults)
    prices, totals = None, np.zeros(len(weights.omega))
    if weights.price.any():
        # What each weighting leaves out of each sample, (n, m).
        prices = weighted_distances(view, prepared.mean, weights.price, runner, view.dtype)
        totals = sums_of(prices, view, runner)
    P: RowArray = np.ones((1, 1), V.dtype)
    if len(weights.omega) > 1:
        if labels is None:
            _, labels = cluster_codes(V, settings.clusters, seed, view, runner)
        if moments is None or known is not labels:
            moments = cluster_moments(view, labels, settings.clusters, prepared.mean, runner)
        given = prepared, weights, labels, prepared.mean + moments.shifts
        if settings.assignment == "shared":
            P = assign_together(*given, totals, runner)
        else:
            P = assign_samples(*given, prices, runner)
    fixed = None
    if settings.components is not None:
        known = settings.components.T * (prepared.columns.units * (weights.top > 0))[:, None]
        U, V, fixed = with_known(U, V, known / column_norms(known, np.sqrt(weights.top)))
    root = view.root
    if root is not None:
        V = V * root[:, None].astype(V.dtype)
        if prices is not None:
            prices = prices * (root**2)[:, None].astype(prices.dtype)
    factors = Factors(U, V, P, weights.omega, fixed=fixed)
    return InitialFit(factors, ResidualWeighting(prices, totals))


def cluster_start(
    prepared: PreparedRows,
    weights: Weights,
    labels: RowArray,
    moments: Moments,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> tuple[np.ndarray, RowArray]:
    """Basis with columns of unit length from the means of clusters, and codes from their labels."""
    # A share of the mean keeps components off 0, which a multiplicative update cannot leave.
    U = (prepared.mean + (1 - defaults.negligible) * moments.shifts).T * (weights.top > 0)[:, None]
    norms = column_norms(U, np.sqrt(weights.top))
    V = partition_codes(labels, len(norms), prepared.view, runner, norms, defaults)
    return (U / norms).astype(prepared.view.dtype), V


def kmeans_start(
    prepared: PreparedRows,
    weights: Weights,
    n_components: int,
    seed: int,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> tuple[np.ndarray, RowArray]:
    """The same from k-means on the weighted rows, where nothing else tells clusters."""
    rows, root = prepared.weighted, np.sqrt(weights.top)
    rng = np.random.RandomState(seed)
    found, V = initial_factors(rows, n_components, "kmeans", 1.0, rng, runner, defaults)
    used = root[rows.kept] > 0
    U = np.zeros((len(root), n_components))
    U[rows.kept[used]] = found[used] / root[rows.kept[used], None]
    return unit_columns(U, V, root, prepared.view, runner)


def given_start(
    statistics: FeatureStatistics,
    prepared: PreparedRows,
    n_components: int,
    init: Any,
    seed: int,
    runner: Runner,
) -> tuple[np.ndarray, RowArray]:
    """The same from any start for X as it is."""
    rng = np.random.RandomState(seed)
    U, V = initial_factors(statistics.view, n_components, init, 1.0, rng, runner)
    U = U * prepared.columns.units[:, None]
    return unit_columns(U, V, np.ones(len(U)), prepared.view, runner, prepared.scales)


def used_share(factors: Factors, view: View, runner: Runner) -> float:
    """Mean of Σ_j p_ij²: how much of the data term the assignment leaves."""
    if len(factors.P) == 1:
        return float(np.sum(factors.P.astype(np.float64) ** 2))
    return float(sums_of(factors.P, view, runner, squared=True).sum()) / view.total


def column_norms(U: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Lengths of the columns of U in the weighted features; 1 for those without any."""
    norms = np.sqrt(np.sum((root[:, None] * U) ** 2, axis=0))
    return np.where(norms == 0, 1, norms)


def unit_columns(
    U: np.ndarray,
    V: RowArray,
    root: np.ndarray,
    view: View,
    runner: Runner,
    scales: RowArray | None = None,
) -> tuple[np.ndarray, RowArray]:
    """Columns of U at unit length in the weighted features, those of V in return.

    Codes of rows that are rescaled by ``scales`` are rescaled with them.
    """
    norms = column_norms(U, root)
    given = (V,) if scales is None else (V, scales)
    scaled = partial(_scaled, norms)
    out = runner.map_rows(scaled, BlockSource(view), given, V.shape[1:], view.dtype)
    return (U / norms).astype(view.dtype), out


def _scaled(norms: np.ndarray, V: np.ndarray, *scales: np.ndarray) -> np.ndarray:
    """Codes times factors of their rows and of their columns."""
    for factors in scales:
        V = V * factors[:, None].astype(V.dtype)
    return V * norms


def assign_samples(
    prepared: PreparedRows,
    weights: Weights,
    labels: RowArray,
    centres: np.ndarray,
    prices: RowArray | None,
    runner: Runner,
) -> RowArray:
    """The assignment of every sample that is best for its cluster's centre and prices, (n, m)."""
    view = prepared.view
    given = (labels,) if prices is None else (labels, prices)
    own = partial(_assignments, DistancesTo(centres, weights.omega))
    return runner.map_rows(own, parts_of(view), given, (len(weights.omega),), view.dtype)


def _assignments(
    costs_of: DistancesTo, part: View, labels: np.ndarray, *prices: np.ndarray
) -> np.ndarray:
    return best_assignment(sum(prices, costs_of(part, labels)))


def assign_together(
    prepared: PreparedRows,
    weights: Weights,
    labels: RowArray,
    centres: np.ndarray,
    price_sums: np.ndarray,
    runner: Runner,
) -> np.ndarray:
    """The one assignment that is best for all samples together, (1, m)."""
    costs_of = partial(_total_costs, DistancesTo(centres, weights.omega))
    (costs,) = runner.sum_rows(costs_of, parts_of(prepared.view), labels)
    return best_assignment((costs + price_sums)[None]).astype(prepared.view.dtype)


def _total_costs(costs_of: DistancesTo, part: View, labels: np.ndarray) -> tuple[np.ndarray]:
    costs = costs_of(part, labels)
    return (costs.sum(axis=0) if part.weights is None else part.weights @ costs,)


def best_assignment(q: np.ndarray) -> np.ndarray:
    """What minimises Σ_j p_j² q_j, for each row of costs."""
    q = np.maximum(q, _TINY)
    share = q.min(axis=1, keepdims=True) / q
    return share / share.sum(axis=1, keepdims=True)


def code_smoothness(settings: Settings, modularity: float, defaults: Defaults) -> float:
    """The smoothness of the codes that ``representation`` asks for.

    ``modularity`` of the clusters says how far neighbours can be trusted to belong together.
    """
    most, least = defaults.small, defaults.negligible
    odds = max(modularity, 0) / max(1 - modularity, np.finfo(float).eps)
    # More components than clusters are there to tell samples of a cluster apart.
    beside = min(settings.clusters / settings.n_components, 1) ** 2
    # More than the least share where neighbours belong together at odds of more than 2; 3 times it
    # at any odds is .003 worse.
    auto = max(min(least * odds / 2, most) * beside, least)
    shares = {"clusters": 1.0, "auto": auto, "parts": least}
    # Two digits: rounding errors of the modularity change nothing.
    return float(f"{shares[settings.representation]:.2g}") * float(settings.smoothness)


def with_smoothness(
    smoothness: float, run: SolverRun, found: FoundClusters, share: float
) -> SolverRun:
    """The run with another smoothness; ``share`` of the data term is left by the assignment."""
    strength = smoothness * found.prepared.varying * share
    ties = ties_along(found.affinity, strength, run.context.view.dtype)
    return run._replace(objective=replace(run.objective, ties=ties))


def few_iterations(run: SolverRun, defaults: Defaults) -> SolverRun:
    """The run with as many iterations as codes need at most."""
    most = min(run.stopping.max_iter, defaults.code_iterations)
    return run._replace(stopping=replace(run.stopping, max_iter=most))


def smoothed_codes(
    smoothness: float,
    run: SolverRun,
    begun: Factors,
    found: FoundClusters,
    checkpoint: SolverCheckpoint,
    defaults: Defaults,
) -> SmoothedCodes:
    """Codes of this smoothness by ``run``, begun with those that labels were read off."""
    root = found.prepared.view.root
    start = deepcopy(begun).without(None if root is None else 1 / root)
    # Exact minimisation of coordinates needs far fewer iterations than ratios do.
    stopping = few_iterations(run, defaults).stopping
    given = run.context, run.objective, start, "hals", stopping
    result = solve(*given, checkpoint=checkpoint)
    result.factors = result.factors.without(root)
    return SmoothedCodes(smoothness, run.objective.ties, result)


def transformed_codes(codes: SmoothedCodes, run: SolverRun, found: FoundClusters) -> SmoothedCodes:
    """The codes that ``transform`` would give rows with the neighbours that these samples have.

    In the graph a sample is held by all that have it among their neighbours, a new row by its own
    neighbours alone, with weights that sum to 1. Without this step a model trained on the codes of
    a fit would meet others in new rows.
    """
    graph, weighting = found.affinity.graph, run.objective.weighting
    factors, strength = codes.result.factors, codes.ties.strength
    if graph is None or not strength:
        return codes
    degree = np.asarray(graph.sum(axis=1), np.float64)
    share = np.divide(strength, degree, out=np.zeros_like(degree), where=degree > 0)
    pull = share[:, None] * (graph @ factors.V.astype(np.float64))
    # What the solver sees, and its codes, are times the roots of what samples count.
    root = found.prepared.view.root
    pull = pull if root is None else pull * root[:, None]
    shared = factors.P[0] if run.objective.shared else None
    model = RowModel(factors.U, factors.weights, weighting.on_residual, shared)
    given = run.context.view, model, run.context.runner, Attraction(pull, share * degree)
    V, P, loss = encode(*given, weighting.prices, factors.V.dtype)
    solved = replace(factors, V=V, P=P if shared is None else factors.P).without(root)
    V = solved.V.astype(np.float64)
    rough = float(np.vdot(degree, (V * V).sum(axis=1)) - np.vdot(V, graph @ V))
    result = replace(codes.result, factors=solved, objective=loss + strength * rough)
    return replace(codes, result=result)
