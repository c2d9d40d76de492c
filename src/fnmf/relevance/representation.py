"""How smooth codes are, for the representation; clusters are known before and stay."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import Attraction
from fnmf.factorization import SolverRun, ties_along
from fnmf.factorization.solver import Factors, RowModel, SolverCheckpoint, encode, solve
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


def as_new_rows(codes: SmoothedCodes, run: SolverRun, found: FoundClusters) -> SmoothedCodes:
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
