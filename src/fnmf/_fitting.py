"""Between the estimator and the engine: starts, observers, fitted attributes, new rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf._callbacks import IterationHooks
from fnmf._initial import initial_factors
from fnmf._validation import Data
from fnmf.engine.encode import encode
from fnmf.engine.moments import row_lengths
from fnmf.engine.parallel import Crew, crew, n_threads
from fnmf.engine.scaled import Scaling, scaled_view_of
from fnmf.engine.solver import HISTORY, Factors, Options, Progress, Result, solve
from fnmf.engine.sweeps import Sweeps
from fnmf.engine.views import view_of, working_dtype
from fnmf.exceptions import WeightCollapseWarning
from fnmf.graph import adaptive_weights, nearest_neighbors
from fnmf.graph._rows import ScaledRows
from fnmf.model.diagnosis import collapsed, effective_features, empty_share, overlap
from fnmf.model.weighting import FixedWeighting, PaperWeighting, Weighting, uniform_weights

if TYPE_CHECKING:
    from fnmf._fnmf import FNMF
    from fnmf._relevance import Round

_PRINT_EVERY = 10


class Fitted(NamedTuple):
    """A start and the graph it ended with."""

    result: Result
    graph: sp.csr_array | None


def fit_model(
    model: FNMF, data: Data, graph: sp.csr_array | None, seeds: np.ndarray, labels_seed: int
) -> Result:
    """Run all starts, set the attributes of the best, return its result."""
    if model.weighting == "relevance":
        return _fit_relevance(model, data, graph, seeds, labels_seed)
    hooks = IterationHooks(model, data, len(seeds), model.max_iter * (1 + _refreshes(model)))
    with crew(model.n_jobs) as workers:
        sweeps = Sweeps(view_of(data), graph, workers)
        energy = sweeps.column_energy
        best: Fitted | None = None
        for number, seed in enumerate(seeds):
            fitted = _one_start(model, data, graph, sweeps, int(seed), hooks)
            result = fitted.result
            if model.verbose:
                settled = "settled" if result.converged else "not settled"
                print(
                    f"[FNMF] start {number}: objective {result.objective:.6g} after "
                    f"{result.n_iter} iterations, {settled}"
                )
            if best is None or result.objective < best.result.objective:
                best = fitted
    assert best is not None
    for name, value in fitted_attributes(best.result.factors, data, best.graph).items():
        setattr(model, name, value)
    _diagnose(model, energy)
    hooks.end()
    return best.result


def fitted_attributes(factors: Factors, data: Data, graph: sp.csr_array | None) -> dict[str, Any]:
    """What a model needs in order to transform."""
    n_samples = len(factors.V)
    P = factors.P if len(factors.P) == n_samples else np.repeat(factors.P, n_samples, axis=0)
    dtype = factors.V.dtype
    weights = factors.weights
    share = P.mean(axis=0, dtype=np.float64)
    return {
        "components_": np.ascontiguousarray(factors.U.T),
        "embedding_": factors.V,
        "feature_weights_": weights.astype(dtype),
        "assignments_": P,
        "feature_importances_": ((share / share.sum()) @ weights).astype(dtype),
        "effective_features_": effective_features(weights).astype(dtype),
        "graph_": graph,
        # Neighbours of new samples are looked up among these; a reference, not a copy.
        "_fit_X": data,
    }


def _diagnose(model: FNMF, energy: np.ndarray) -> None:
    """How the weights turned out; a warning if they have collapsed."""
    dtype = model.feature_weights_.dtype
    weights = model.feature_weights_.astype(np.float64)
    model.weighting_overlap_ = overlap(weights).astype(dtype)
    model.empty_weight_ = empty_share(weights, energy).astype(dtype)
    mean = model.assignments_.mean(axis=0, dtype=np.float64) @ weights
    if model.weighting == "paper" and collapsed(mean, energy, model.n_components):
        count = float(effective_features(mean))
        warnings.warn(
            f"The feature weights have collapsed: they rest on about {count:.0f} of "
            f"{np.count_nonzero(energy)} features, which the model fits without learning "
            'anything. Use weighting="relevance" for weights that mean something, or '
            'weighting="uniform" for none.',
            WeightCollapseWarning,
            stacklevel=5,
        )


def encode_new(model: FNMF, data: Data) -> np.ndarray:
    """Codes of new rows, tied to their nearest training rows as strongly as those to theirs."""
    if model.weighting == "relevance":
        from fnmf._relevance_model import encode_relevance

        return encode_relevance(model, data)
    dtype = working_dtype(data.dtype)
    pull, drag = graph_ties(model, model._fit_X, data, float(model.smoothness))
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


def graph_ties(
    model: FNMF, fitted: Data | ScaledRows, queries: Data | ScaledRows, strength: float
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """β Σ_r a_ir v_r over the nearest training rows r, and β Σ_r a_ir; nothing without graph."""
    if model.graph is None or strength == 0:
        return None, None
    n_neighbors = min(model.n_neighbors, model.embedding_.shape[0] - 1)
    indices, distances = nearest_neighbors(
        fitted, n_neighbors + 1, queries=queries, n_jobs=n_threads(model.n_jobs)
    )
    shares = strength * adaptive_weights(distances).astype(np.float64)
    near = model.embedding_.astype(np.float64)[indices[:, :n_neighbors]]
    return np.einsum("ik,ikc->ic", shares, near), shares.sum(axis=1)


def _one_start(
    model: FNMF,
    data: Data,
    graph: sp.csr_array | None,
    sweeps: Sweeps,
    seed: int,
    hooks: IterationHooks,
) -> Fitted:
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
    stopped = False

    def observe(progress: Progress) -> bool:
        nonlocal stopped
        _print_progress(model, progress)
        attributes = lambda: fitted_attributes(progress.factors, data, graph)  # noqa: E731
        stopped = hooks.iteration(context, progress, attributes)
        return stopped

    watch = observe if hooks.wanted or model.verbose > 1 else None
    result = solve(sweeps, Factors(U, V, P, weights), options, watch)
    histories = [result.history]
    for _ in range(_refreshes(model)):
        if stopped:
            break
        graph = _weighted_graph(model, data, result.factors, sweeps.crew)
        sweeps = Sweeps(sweeps.view, graph, sweeps.crew)
        result = solve(sweeps, result.factors, options, watch)
        histories.append(result.history)
    hooks.end_start(context)
    result.history = with_rounds(histories)
    if graph is None or model.smoothness == 0:
        _finish_codes(sweeps, result, options)
    return Fitted(result, graph)


def _refreshes(model: FNMF) -> int:
    """How often the graph is rebuilt; uniform weights would only give it back."""
    if model.weighting != "paper" or not isinstance(model.graph, str):
        return 0
    return model.graph_refresh or 0


def _weighted_graph(model: FNMF, data: Data, factors: Factors, workers: Crew) -> sp.csr_array:
    """Neighbours by the features that count: rows of X ∘ e at unit length, e = Σ_j p_j² θ_j."""
    effective = np.mean(factors.P.astype(np.float64) ** 2, axis=0) @ factors.weights
    n, d = data.shape
    caps = np.full(d, np.inf)
    view = scaled_view_of(data, Scaling(np.ones(n), caps, effective))
    lengths = row_lengths(view, workers)
    scales = np.divide(1, lengths, out=np.ones(n), where=lengths > 0)
    rows = ScaledRows(data, Scaling(scales, caps, effective))
    return model._neighbor_graph(rows)


def _print_progress(model: FNMF, progress: Progress) -> None:
    if model.verbose > 1 and progress.iteration % _PRINT_EVERY == 0:
        print(f"[FNMF] iteration {progress.iteration}: {progress.terms['total']:.6g}")


def with_rounds(histories: list[np.ndarray]) -> np.ndarray:
    """One history of several rounds, which a further field numbers."""
    rows = [(*row, number) for number, part in enumerate(histories) for row in part.tolist()]
    return np.array(rows, dtype=[*HISTORY.descr, ("round", np.int64)])


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


def _fit_relevance(
    model: FNMF, data: Data, graph: sp.csr_array | None, seeds: np.ndarray, labels_seed: int
) -> Result:
    from fnmf._relevance import RelevanceFit, Setting, most_iterations
    from fnmf._relevance_model import relevance_attributes

    hooks = IterationHooks(model, data, len(seeds), most_iterations(model))
    context: Any = None

    def observe(setting: Setting, progress: Progress) -> bool:
        _print_progress(model, progress)
        attributes = lambda: relevance_attributes(fit, setting, progress.factors, None)  # noqa: E731
        return hooks.iteration(context, progress, attributes)

    watched = hooks.wanted or model.verbose > 1
    with crew(model.n_jobs) as workers:
        fit = RelevanceFit(model, data, graph, workers, labels_seed, observe if watched else None)
        best: list[Round] = []
        for seed in seeds:
            context = hooks.start()
            rounds = fit.start(int(seed))
            hooks.end_start(context)
            if not best or rounds[-1].quality > best[-1].quality:
                best = rounds
            if fit.stopped:
                break
    last = best[-1]
    factors = last.result.factors
    attributes = relevance_attributes(fit, last.setting, factors, last.raw)
    for name, value in attributes.items():
        setattr(model, name, value)
    _diagnose(model, last.moments.total + data.shape[0] * last.setting.mean**2)
    hooks.end()
    history = with_rounds([one.result.history for one in best])
    return Result(factors, history, last.result.converged, last.result.objective)
