"""How smooth codes are, for the representation; clusters are known before and stay."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import Attraction
from fnmf.factorization import SolverRun, ties_along
from fnmf.factorization.solver import Factors, RowModel, SolverCheckpoint, encode, solve
from fnmf.factorization.terms import LayeredBasis
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.results import FoundClusters, SmoothedCodes


def code_smoothness(settings: Settings, modularity: float, defaults: Defaults) -> float:
    """The smoothness of the codes that ``representation`` asks for.

    ``modularity`` of the clusters says how far neighbours can be trusted to belong together.
    """
    most, least = defaults.small, defaults.negligible
    odds = max(modularity, 0) / max(1 - modularity, np.finfo(float).eps)
    # More components than clusters are there to tell samples of a cluster apart.
    beside = min(settings.clusters / settings.n_components, 1) ** 2
    auto = max(min(defaults.code_odds * odds, most) * beside, least)
    shares = {"clusters": 1.0, "auto": auto, "parts": least}
    # Two digits: rounding errors of the modularity change nothing.
    return float(f"{shares[settings.representation]:.2g}") * float(settings.smoothness)


def run_with(smoothness: float, run: SolverRun, found: FoundClusters, share: float) -> SolverRun:
    """The run with another smoothness; ``share`` of the data term is left by the assignment."""
    strength = smoothness * found.prepared.varying * share
    ties = ties_along(found.affinity, strength, run.context.view.dtype)
    return run._replace(objective=replace(run.objective, ties=ties))


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
    solver, stopping = run.solver, run.stopping
    if not isinstance(run.objective.basis, LayeredBasis):
        # Exact minimisation of coordinates needs far fewer iterations than ratios do.
        most = min(stopping.max_iter, defaults.code_iterations)
        solver, stopping = "hals", replace(stopping, max_iter=most)
    given = run.context, run.objective, start, solver, stopping
    result = solve(*given, checkpoint=checkpoint)
    result.factors = _as_new_rows(run, result.factors.without(root), found)
    return SmoothedCodes(smoothness, run.objective.ties, result)


def _as_new_rows(run: SolverRun, factors: Factors, found: FoundClusters) -> Factors:
    """The factors with the codes that ``transform`` would give rows with these neighbours.

    In the graph a sample is held by all that have it among their neighbours, a new row by its own
    neighbours alone, with weights that sum to 1. Were it otherwise, a model trained on the codes
    of a fit would meet others in new rows.
    """
    graph, view, weighting = found.affinity.graph, found.prepared.view, run.objective.weighting
    assert graph is not None
    codes, strength = factors.V.astype(np.float64), run.objective.ties.strength
    degree = np.asarray(graph.sum(axis=1), np.float64)
    share = np.divide(strength, degree, out=np.zeros_like(degree), where=degree > 0)
    held = Attraction(share[:, None] * (graph @ codes), share * degree)
    prices = weighting.prices
    if view.root is not None and prices is not None:
        prices = prices / (view.root**2)[:, None].astype(prices.dtype)
    shared = factors.P[0] if run.objective.shared else None
    model = RowModel(factors.U, factors.weights, weighting.on_residual, shared)
    V, P, _ = encode(view, model, run.context.runner, held, prices, factors.V.dtype)
    return replace(factors, V=V, P=factors.P if shared is not None else P)
