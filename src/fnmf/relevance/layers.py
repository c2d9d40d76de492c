"""Layers before they are trained together: the codes of one are the data of the next."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from fnmf.data import view_of
from fnmf.factorization import SolverRun, initial_factors
from fnmf.factorization.solver import ExecutionContext, Factors, product, solve
from fnmf.factorization.terms import EvenRows, NoTies, Objective, ResidualWeighting, UnitBasis
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.initial import InitialFit, column_norms, kmeans_start
from fnmf.relevance.results import FoundClusters

# For each layer before all are trained together.
_ITERATIONS = 30


def begin_layers(
    run: SolverRun,
    found: FoundClusters,
    start: InitialFit,
    sizes: tuple[int, ...],
    seed: int,
    defaults: Defaults,
) -> None:
    """Layers of these sizes, one after the other, as the basis of the factors of ``start``.

    The first has the weights of the features, the last the ties of the samples and the codes that
    start at the clusters; those between are plain.
    """
    factors, runner = start.factors, run.context.runner
    weights, dtype = found.weights, run.context.view.dtype
    few = replace(run.stopping, max_iter=_ITERATIONS)
    plain = replace(run.objective, basis=UnitBasis(), ties=NoTies(dtype))
    # Features: weighted as in a single layer.
    U, V = kmeans_start(found.prepared, weights, sizes[0], seed, runner, defaults)
    first = Factors(U, V, deepcopy(factors.P), factors.weights)
    solve(run.context, plain, first, run.solver, few)
    layers, codes = [first.U], first.V
    # Parts of parts: all codes count.
    for size in sizes[1:-1]:
        codes, layer = _next_layer(run, codes, size, seed, defaults)
        layers.append(layer)
    # Parts of clusters: the mean codes of those that share a component, held along the ties.
    means = (codes.T @ factors.V / np.maximum(factors.V.sum(axis=0), np.finfo(dtype).tiny)).astype(
        dtype
    )
    norms = column_norms(means, np.ones(len(means)))
    last = Factors(means / norms.astype(dtype), factors.V, *_even(codes))
    tied = replace(_plain_objective(dtype), ties=run.objective.ties)
    solve(ExecutionContext(view_of(codes), runner), tied, last, run.solver, few)
    layers.append(last.U)
    factors.V = last.V
    _adopt(factors, layers, np.sqrt(weights.top))


def _adopt(factors: Factors, layers: list[np.ndarray], root: np.ndarray) -> None:
    """Make the product of layers the basis, its columns at unit length."""
    norms = column_norms(product(layers), root)
    layers = [layer.astype(np.float64) for layer in layers]
    layers[-1] = layers[-1] / norms
    factors.V *= norms.astype(factors.V.dtype)
    factors.layers, factors.U = layers, product(layers).astype(factors.V.dtype)


def _next_layer(
    run: SolverRun, codes: np.ndarray, size: int, seed: int, defaults: Defaults
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and basis of codes."""
    view, runner = view_of(codes), run.context.runner
    rng = np.random.RandomState(seed)
    U, V = initial_factors(view, size, "kmeans", 1.0, rng, runner, defaults)
    few = replace(run.stopping, max_iter=_ITERATIONS)
    factors = Factors(U.astype(codes.dtype), V, *_even(codes))
    solve(ExecutionContext(view, runner), _plain_objective(codes.dtype), factors, run.solver, few)
    return factors.V, factors.U


def _plain_objective(dtype: np.dtype) -> Objective:
    return Objective(ResidualWeighting(), NoTies(dtype), EvenRows(), UnitBasis(), shared=True)


def _even(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One assignment and one weighting, in which everything counts."""
    return np.ones((1, 1), codes.dtype), np.ones((1, codes.shape[1]))
