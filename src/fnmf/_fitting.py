"""Between the estimator and the engine: starts, observers, fitted attributes, new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fnmf._callbacks import IterationHooks
from fnmf._initial import initial_factors
from fnmf._validation import Data
from fnmf.engine.encode import encode
from fnmf.engine.parallel import crew, n_threads
from fnmf.engine.solver import Factors, Options, Progress, Result, solve
from fnmf.engine.sweeps import Sweeps
from fnmf.engine.views import view_of, working_dtype
from fnmf.graph import adaptive_weights, nearest_neighbors
from fnmf.model.weighting import FixedWeighting, PaperWeighting, Weighting, uniform_weights

if TYPE_CHECKING:
    from fnmf._fnmf import FNMF

_PRINT_EVERY = 10


def fit_model(model: FNMF, data: Data, graph: sp.csr_array | None, seeds: np.ndarray) -> Result:
    """Run all starts, set the attributes of the best, return its result."""
    hooks = IterationHooks(model, data, len(seeds), model.max_iter)
    with crew(model.n_jobs) as workers:
        sweeps = Sweeps(view_of(data), graph, workers)
        best: Result | None = None
        for number, seed in enumerate(seeds):
            result = _one_start(model, data, graph, sweeps, int(seed), hooks)
            if model.verbose:
                settled = "settled" if result.converged else "not settled"
                print(
                    f"[FNMF] start {number}: objective {result.objective:.6g} after "
                    f"{result.n_iter} iterations, {settled}"
                )
            if best is None or result.objective < best.objective:
                best = result
    assert best is not None
    for name, value in fitted_attributes(best.factors, data, graph).items():
        setattr(model, name, value)
    hooks.end()
    return best


def fitted_attributes(factors: Factors, data: Data, graph: sp.csr_array | None) -> dict[str, Any]:
    """What a model needs in order to transform."""
    n_samples = len(factors.V)
    P = factors.P if len(factors.P) == n_samples else np.repeat(factors.P, n_samples, axis=0)
    dtype = factors.V.dtype
    weights = factors.weights
    share = P.mean(axis=0, dtype=np.float64)
    spread = np.sum(weights**2, axis=1)
    effective = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
    return {
        "components_": np.ascontiguousarray(factors.U.T),
        "embedding_": factors.V,
        "feature_weights_": weights.astype(dtype),
        "assignments_": P,
        "feature_importances_": ((share / share.sum()) @ weights).astype(dtype),
        "effective_features_": effective.astype(dtype),
        "graph_": graph,
        # Neighbours of new samples are looked up among these; a reference, not a copy.
        "_fit_X": data,
    }


def encode_new(model: FNMF, data: Data) -> np.ndarray:
    """Codes of new rows, tied to their nearest training rows as strongly as those to theirs."""
    pull = drag = None
    dtype = working_dtype(data.dtype)
    if model.graph is not None and model.smoothness > 0:
        n_fitted = model.embedding_.shape[0]
        n_neighbors = min(model.n_neighbors, n_fitted - 1)
        indices, distances = nearest_neighbors(
            model._fit_X, n_neighbors + 1, queries=data, n_jobs=n_threads(model.n_jobs)
        )
        shares = model.smoothness * adaptive_weights(distances).astype(np.float64)
        near = model.embedding_.astype(np.float64)[indices[:, :n_neighbors]]
        pull = np.einsum("ik,ikc->ic", shares, near)
        drag = shares.sum(axis=1)
    shared = model.assignments_[0] if model.assignment == "shared" else None
    V, _, _ = encode(
        view_of(data),
        model.components_.T,
        model.feature_weights_.astype(np.float64),
        False,
        shared,
        pull,
        drag,
    )
    return V.astype(dtype)


def _one_start(
    model: FNMF,
    data: Data,
    graph: sp.csr_array | None,
    sweeps: Sweeps,
    seed: int,
    hooks: IterationHooks,
) -> Result:
    rng = np.random.RandomState(seed)
    live = sweeps.column_energy > 0
    weights = uniform_weights(model.n_weightings, live)
    U, V = initial_factors(data, model.n_components, model.init, weights.max(), rng)
    # One weighting leaves nothing to assign, and the cheaper sweep does.
    shared = model.assignment == "shared" or model.n_weightings == 1
    rows = 1 if shared else len(V)
    P = np.full((rows, model.n_weightings), 1 / model.n_weightings, V.dtype)
    options = Options(
        weighting=_weighting(model, live),
        shared=shared,
        smoothness=float(model.smoothness),
        solver=model.solver,
        normalize=bool(model.normalize_components),
        max_iter=model.max_iter,
        tol=float(model.tol),
    )
    context = hooks.start()

    def observe(progress: Progress) -> bool:
        if model.verbose > 1 and progress.iteration % _PRINT_EVERY == 0:
            print(f"[FNMF] iteration {progress.iteration}: {progress.terms['total']:.6g}")
        attributes = lambda: fitted_attributes(progress.factors, data, graph)  # noqa: E731
        return hooks.iteration(context, progress, attributes)

    watched = hooks.wanted or model.verbose > 1
    result = solve(sweeps, Factors(U, V, P, weights), options, observe if watched else None)
    hooks.end_start(context)
    if graph is None or model.smoothness == 0:
        _finish_codes(sweeps, result, options)
    return result


def _finish_codes(sweeps: Sweeps, result: Result, options: Options) -> None:
    """Without a graph rows are independent: end with the row solve that ``transform`` does."""
    factors = result.factors
    shared = factors.P[0] if options.shared else None
    V, P, loss = encode(
        sweeps.view, factors.U, factors.weights, options.weighting.on_residual, shared, None, None
    )
    factors.V = V.astype(factors.V.dtype)
    if not options.shared:
        factors.P = P.astype(factors.P.dtype)
    result.objective = loss + options.weighting.penalty(factors.weights)


def _weighting(model: FNMF, live: np.ndarray) -> Weighting:
    if model.weighting == "uniform":
        return FixedWeighting()
    return PaperWeighting(float(model.diversity), live)
