"""Layers before they are trained together: the codes of one are the data of the next."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf._settings import Settings
from fnmf.affinity import GraphAffinity, KnownLabels, neighbor_graph
from fnmf.data import view_of
from fnmf.execution import Runner
from fnmf.factorization import SolverRun, initial_factors
from fnmf.factorization.solver import ExecutionContext, Factors, product, solve
from fnmf.factorization.terms import Objective, ResidualWeighting
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.factors import column_norms, few_iterations
from fnmf.relevance.results import FoundClusters


class FinerLayers(NamedTuple):
    """Layers before the last.

    Attributes
    ----------
    found : FoundClusters
        Clusters, of an affinity that knows the codes of the first layer.
    layers : list of ndarray
        Their bases, the finest first.
    codes : ndarray
        The data of the last layer.
    """

    found: FoundClusters
    layers: list[np.ndarray]
    codes: np.ndarray


def finer_layers(
    run: SolverRun,
    start: Factors,
    found: FoundClusters,
    settings: Settings,
    seed: int,
    defaults: Defaults,
) -> FinerLayers:
    """All layers but the last, one after the other, held along the ties of ``run``.

    The first, from ``start``, has the weights of the features; in those behind it all codes count.
    """
    run = few_iterations(run, defaults)
    if found.affinity.anchors is None:
        # Fewer iterations do; anchors have no lists of neighbours, which it needs.
        run = run._replace(solver="hals")
    objective = replace(run.objective, layered=False)
    first = solve(run.context, objective, start, run.solver, run.stopping).factors
    found = _with_codes(found, first.V, settings, seed, run.context.runner)
    layers, codes = [first.U], first.V
    for size in settings.layers[1:-1]:
        rng = np.random.RandomState(seed)
        U, V = initial_factors(view_of(codes), size, "kmeans", 1.0, rng, run.context.runner)
        codes, layer = _solved(run, codes, U.astype(codes.dtype), V)
        layers.append(layer)
    return FinerLayers(found, layers, codes)


def _with_codes(
    found: FoundClusters, codes: np.ndarray, settings: Settings, seed: int, runner: Runner
) -> FoundClusters:
    """Clusters of the affinity of the rows and of their codes together.

    Codes count by their direction. Without a graph of our own, and for clusters about means, all
    stays as it is.
    """
    affinity, weighted = found.affinity, found.prepared.weighted
    own = settings.builds_graph and settings.batch is None and found.centres is None
    if not own or affinity.graph is None or found.labels is None:
        return found
    lengths = np.linalg.norm(codes, axis=1, keepdims=True)
    rows = view_of(codes / np.maximum(lengths, np.finfo(codes.dtype).tiny))
    rows = rows.weighing(weighted.weights)
    near = neighbor_graph(rows, settings.n_neighbors, settings.search, runner)
    both = GraphAffinity(sp.csr_array((affinity.graph + near) / 2), weighted, runner)
    known = KnownLabels(np.arange(len(codes)), np.asarray(found.labels))
    labels = both.clusters(settings.clusters, seed, known)
    return replace(found, affinity=both, labels=labels, settled=True)


def last_layer(run: SolverRun, finer: FinerLayers, factors: Factors, defaults: Defaults) -> None:
    """The last layer, with codes that start at the clusters; all are the basis of ``factors``."""
    # Parts of clusters: the mean codes of those that share a component.
    codes, dtype = finer.codes, finer.codes.dtype
    total = np.maximum(factors.V.sum(axis=0), np.finfo(dtype).tiny)
    means = (codes.T @ factors.V / total).astype(dtype)
    norms = column_norms(means, np.ones(len(means)))
    run = few_iterations(run, defaults)
    factors.V, layer = _solved(run, codes, means / norms.astype(dtype), factors.V)
    _adopt(factors, [*finer.layers, layer], np.sqrt(finer.found.weights.top))


def _adopt(factors: Factors, layers: list[np.ndarray], root: np.ndarray) -> None:
    """Make the product of layers the basis, its columns at unit length."""
    norms = column_norms(product(layers), root)
    layers = [layer.astype(np.float64) for layer in layers]
    layers[-1] = layers[-1] / norms
    factors.V *= norms.astype(factors.V.dtype)
    factors.layers, factors.U = layers, product(layers).astype(factors.V.dtype)


def _solved(
    run: SolverRun, codes: np.ndarray, U: np.ndarray, V: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and basis of codes, along the ties of ``run``, from a start."""
    dtype = codes.dtype
    objective = Objective(ResidualWeighting(), run.objective.ties, shared=True)
    # One assignment and one weighting, in which everything counts.
    factors = Factors(U, V, np.ones((1, 1), dtype), np.ones((1, codes.shape[1])))
    context = ExecutionContext(view_of(codes), run.context.runner)
    solve(context, objective, factors, run.solver, run.stopping)
    return factors.V, factors.U
