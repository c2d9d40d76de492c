"""A fit of an estimator from its parameters to its fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fnmf._base import ClusterBase, workplace
from fnmf._callbacks import IterationHooks
from fnmf._checkpoint import open_checkpoint
from fnmf._compile import tell_first_compiling
from fnmf._missing import Presence
from fnmf._settings import Settings
from fnmf._sklearn import as_random_state, has_callbacks
from fnmf._starting import with_start
from fnmf._weights import CountedRows, check_sample_weight, place_absent, tell_empty_clusters
from fnmf.data import has_missing, is_dask, repeats, view_of
from fnmf.factorization import CheckpointCache, Observer, Problem, Scheme
from fnmf.relevance.scheme import best_start
from fnmf.validation import check_batch, components_of_frame, given_kinds, is_frame

_MAX_SEED = np.iinfo(np.int32).max


def fit_estimator(
    estimator: ClusterBase,
    X: Any,
    checkpoint: Any = None,
    guidance: Any = None,
    sample_weight: Any = None,
    batch: Any = None,
) -> None:
    """Validate, fit from all starts, set the attributes and raise the warnings."""
    settings = estimator._read_settings()
    scheme = estimator._scheme(settings)
    scheme.check(settings)
    data = estimator._checked(X, reset=True)
    names = getattr(estimator, "feature_names_in_", None)
    if is_frame(settings.components):
        settings = replace(settings, components=components_of_frame(settings.components, names))
    if getattr(estimator, "column_kinds", None) is not None:
        settings = settings.with_kinds(given_kinds(estimator, data.shape[1]))
    weights = None if sample_weight is None else check_sample_weight(sample_weight, data)
    presence = Presence.of(data) if has_missing(data) else None
    if batch is not None:
        kept = np.ones(data.shape[0], bool) if presence is None else presence.rows
        kept = kept if weights is None else kept & (weights > 0)
        batches = check_batch(batch, data, kept, weights)
        settings = settings.with_batch(batches if presence is None else batches[presence.rows])
    if presence is not None:
        # Rows without any value have no part in the fit; a graph of the user's has them all.
        if not (settings.automatic or presence.rows.all()):
            settings = presence.settings(settings.for_data(data))
        data = presence.rows_with_values(data)
        weights = None if weights is None else weights[presence.rows]
    if not settings.automatic and not (settings.builds_graph and settings.starts_itself):
        settings = settings.for_data(data)
    counted, merge = None, guidance is None
    if weights is not None or (merge and not is_dask(data) and repeats(view_of(data))):
        counted = CountedRows.of(data, weights, settings, merge=merge)
    given = data
    if counted is not None:
        settings, data = counted.settings(settings), counted.rows
    weights = None if counted is None else counted.distinct.weights
    told = guidance
    if guidance is not None:
        guidance = guidance if presence is None else guidance.with_values(presence.rows)
        settings = guidance.settings(settings)
    settings, number = estimator._numbered(settings, data, weights)
    if settings.warm_start or not isinstance(settings.init, str | tuple | list):
        settings = with_start(settings, estimator, data)
    settings = settings.for_data(data)
    observer, fitted = _fit_rows(estimator, scheme, settings, data, weights, guidance, checkpoint)
    if counted is not None:
        fitted = counted.all_rows(fitted)
        if told is None:
            fitted = tell_empty_clusters(fitted, settings.clusters, counted)
    if presence is not None:
        fitted = presence.all_rows(fitted)
        fitted = fitted if told is None else presence.all_classes(fitted, told.known)
        fitted = replace(fitted, warnings=(*presence.warnings(names), *fitted.warnings))
    number[estimator._number] = settings.n_components
    estimator._adopt(replace(fitted, **number), given)
    if counted is not None:
        rows = np.arange(given.shape[0]) if presence is None else np.flatnonzero(presence.rows)
        place_absent(estimator, given, counted.distinct.groups < 0, rows)
    observer.end()
    for warning in fitted.warnings:
        # Past ``fit`` and scikit-learn's wrapper, to the line that called it.
        warnings.warn(warning, stacklevel=4)


def _fit_rows(
    estimator: ClusterBase,
    scheme: type[Scheme],
    settings: Settings,
    data: Any,
    weights: np.ndarray | None,
    guidance: Any,
    checkpoint: Any,
) -> tuple[Observer, Any]:
    """The record of the best start of rows that all have a part in the fit, and who was told."""
    # Drawn again after the choice: a seed gives the same fit as with the number given.
    rng = as_random_state(estimator.random_state)
    drawn = [*rng.randint(_MAX_SEED, size=settings.n_init), rng.randint(_MAX_SEED)]
    observer, cache = Observer(), CheckpointCache()
    seeds: Sequence[int] = drawn
    if has_callbacks(estimator):
        tasks = settings.n_init, scheme.most_iterations(settings), len(scheme.stages)
        observer = IterationHooks(estimator, data, *tasks)
    tell_first_compiling()
    with workplace(estimator, data, settings.n_jobs) as (view, runner):
        view.weighing(weights)
        if checkpoint is not None:
            free = estimator.random_state is None
            cache, seeds = open_checkpoint(
                checkpoint, settings, view, drawn, runner, any_seeds=free
            )
        told = {"defaults": estimator._defaults, "guidance": guidance}
        problem = Problem(settings, view, int(seeds[-1]), observer, cache, **told)
        fitted = best_start(problem, seeds[:-1], runner, scheme)
        if settings.consensus is not None:
            from fnmf.choosing.consensus import consensus

            fitted = consensus(fitted, problem, settings.consensus, int(seeds[-1]), runner)
    return observer, fitted
