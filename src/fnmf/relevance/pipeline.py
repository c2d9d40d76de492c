"""The default fit, ``weighting="relevance"``, as the steps it consists of.

Steps 1 to 5 find features and clusters, without any factorisation (:func:`find_clusters`):

1. *Statistics.* The typical value of each feature is the mean of its positive values; larger values
   are capped at a multiple of it.
2. *Search.* Preparations of rows (own or unit length) and columns (own units, typical values,
   standard deviations) are tried on a sample of the rows. Each gives clusters, of a neighbour graph
   or about means, and weights of the features from how much of each the clusters explain beyond
   chance; both are repeated. The best by a score of modularity and explained features is chosen.
   Halves of the features that agree on the clusters say whether there is structure at all. Tables
   of few columns have a search of their own (``tables``): each column is weighted by clusters made
   without it.
3. *Preparation.* All rows are capped, scaled and weighted as chosen. If clusters about means were
   chosen, k-means goes over all rows, with new weights as long as more is explained.
4. *Affinity.* A neighbour graph of all rows, or anchors for many of them.
5. *Clusters.* The partition of the affinity, started also from the clusters of the sample.

Steps 6 to 10 factorise the prepared rows with these weights, along this affinity
(:func:`factorize`):

6. *Start.* The basis from the cluster means, the codes from the labels.
7. *Samples.* With very many rows the factors first converge on samples, each larger than the last.
8. *Solve.* The factorisation of all rows, with weights and affinity fixed.
9. *Labels.* The better of the clusters of step 5 and those of the codes, where there is a graph of
   all rows; moments by cluster give the relevance of each feature.
10. *Representation.* Codes held together less, which tell samples of a cluster apart. With anchors,
   whose labels need no codes, and with layers step 8 solves for these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from sklearn.cluster import KMeans

from fnmf._settings import Settings
from fnmf.affinity import Affinity, AnchorAffinity, GraphAffinity, KnownLabels, build_affinity
from fnmf.data import quickest
from fnmf.execution import RowArray, Runner
from fnmf.factorization import (
    Problem,
    ProgressReporter,
    Samples,
    SolverRun,
    sample_sizes,
    start_on_samples,
    ties_along,
)
from fnmf.factorization.solver import (
    ExecutionContext,
    Stopping,
    exact_codes,
    solve,
)
from fnmf.factorization.terms import Objective
from fnmf.kmeans import cluster_codes
from fnmf.relevance.batches import batch_effect, largest_batch, moments_within_batches
from fnmf.relevance.choice import Choice, choose_preparation
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.factors import (
    InitialFit,
    code_smoothness,
    initial_fit,
    smoothed_codes,
    transformed_codes,
    used_share,
    with_smoothness,
)
from fnmf.relevance.layers import FinerLayers, finer_layers, last_layer
from fnmf.relevance.lloyd import lloyd_all_rows
from fnmf.relevance.prepare import (
    FeatureStatistics,
    PreparedRows,
    capped_moments,
    feature_statistics,
    prepare,
)
from fnmf.relevance.record import unfinished_record
from fnmf.relevance.refill import most_unused, refilled_by_choice
from fnmf.relevance.results import FactorizedClusters, FoundClusters, SmoothedCodes


class Stage(StrEnum):
    """What takes long, in the order in which it happens, for progress and callbacks."""

    SEARCH = "searching preparations"
    MEANS = "clustering about means"
    AFFINITY = "finding neighbours"
    LAYERS = "fitting layer by layer"
    SAMPLE = "fitting a sample"
    SOLVE = "fitting all rows"
    REPRESENT = "fitting the representation"
    DESCRIBE = "describing clusters"


@dataclass(frozen=True)
class Inputs:
    """What all starts of a fit share.

    Attributes
    ----------
    problem : Problem
        Data, settings and who is told about progress.
    statistics : FeatureStatistics
        Typical values and caps of the features.
    runner : Runner
        Works through the blocks.
    progress : ProgressReporter
        Told about stages and iterations.
    """

    problem: Problem
    statistics: FeatureStatistics
    runner: Runner
    progress: ProgressReporter

    @property
    def settings(self) -> Settings:
        """The checked parameters."""
        return self.problem.settings

    @property
    def defaults(self) -> Defaults:
        """The constants."""
        return self.problem.defaults


def inputs_of(problem: Problem, runner: Runner) -> Inputs:
    """Step 1, and what else does not depend on the start."""
    view, signed = quickest(problem.view), problem.settings.signed
    statistics = feature_statistics(view, runner, problem.defaults, signed=signed)
    if statistics.signed:
        problem = replace(problem, settings=problem.settings.with_signs())
    return Inputs(problem, statistics, runner, ProgressReporter(problem))


def fit(inputs: Inputs, seed: int) -> FactorizedClusters:
    """A whole fit from one seed: steps 2 to 10."""
    return factorize(inputs, find_clusters(inputs, seed), seed)


def clusters_of(inputs: Inputs, seed: int) -> FoundClusters:
    """Features and clusters, and the moments that say what is relevant: steps 2 to 5, and 9."""
    return with_moments(inputs, find_clusters(inputs, seed))


def find_clusters(inputs: Inputs, seed: int) -> FoundClusters:
    """Features and clusters from one seed: steps 2 to 5."""
    choice, statistics = search_features(inputs, seed)
    if choice.clusters == "graph" or inputs.settings.batch is not None:
        return cluster_affinity(inputs, choice, statistics, seed)
    inputs.progress.enter(Stage.MEANS)
    means = lloyd_all_rows(statistics, choice, inputs.runner)
    affinity = _affinity(inputs, choice, means.prepared, seed)
    parts = affinity.parts(inputs.settings.clusters)
    if parts is not None:
        return FoundClusters(means.choice.by_graph(), statistics, means.prepared, affinity, parts)
    clusters = means.labels, means.centres, means.mixture, means.moments
    return FoundClusters(means.choice, statistics, means.prepared, affinity, *clusters)


def search_features(inputs: Inputs, seed: int) -> tuple[Choice, FeatureStatistics]:
    """Step 2: preparations searched on a sample, and values capped as the chosen one asks."""
    statistics, runner = inputs.statistics, inputs.runner
    inputs.progress.enter(Stage.SEARCH)
    choice = _choice(inputs, statistics, seed)
    if statistics.view.incomplete:
        statistics = refilled_by_choice(statistics, choice, runner, inputs.defaults)
        if most_unused(choice.weights):
            # The first search saw cells that were filled by features which do not count.
            choice = _choice(inputs, statistics, seed)
            statistics = refilled_by_choice(statistics, choice, runner, inputs.defaults)
    inputs.progress.say(choice.report())
    if choice.columns is not None:
        statistics = statistics.capped_at(choice.columns.caps)
    return choice, statistics


def _choice(inputs: Inputs, statistics: FeatureStatistics, seed: int) -> Choice:
    """The best preparation of a sample, which is of one batch if there are several."""
    settings, runner, defaults = inputs.settings, inputs.runner, inputs.defaults
    if settings.batch is None:
        return choose_preparation(statistics, settings, seed, runner, defaults)
    rows = largest_batch(settings.batch, statistics.view.weights)
    one = feature_statistics(statistics.view.subset(rows), runner, signed=settings.signed)
    choice = choose_preparation(one, settings, seed, runner, defaults)
    return replace(choice, sample=rows[choice.sample])


def cluster_affinity(
    inputs: Inputs, choice: Choice, statistics: FeatureStatistics, seed: int
) -> FoundClusters:
    """Steps 3 to 5: all rows prepared as chosen, their affinity, and its clusters."""
    prepared = prepare(statistics, choice.units, choice.weights, choice.unit, inputs.runner)
    affinity = _affinity(inputs, choice, prepared, seed)
    known = None if choice.labels is None else KnownLabels(choice.sample, choice.labels)
    labels = affinity.clusters(k := inputs.settings.clusters, seed, known)
    if known and choice.columns and isinstance(affinity, GraphAffinity):
        labels = choice.unless_worse(labels, affinity.carried(known, k))
    return FoundClusters(choice, statistics, prepared, affinity, labels)


def _affinity(inputs: Inputs, choice: Choice, prepared: PreparedRows, seed: int) -> Affinity:
    """Step 4: the affinity of all rows, with the constants of the search."""
    defaults = inputs.defaults if choice.context is None else choice.context.defaults
    inputs.progress.enter(Stage.AFFINITY)
    settings, runner, cache = inputs.settings, inputs.runner, inputs.problem.cache
    return build_affinity(prepared.weighted, settings, seed, runner, cache, defaults)


def factorize(inputs: Inputs, found: FoundClusters, seed: int) -> FactorizedClusters:
    """Factors of the prepared rows, along the affinity, from the clusters: steps 6 to 10."""
    settings, runner, prepared = inputs.settings, inputs.runner, found.prepared
    defaults = inputs.defaults
    finer = _finer_layers(inputs, found, seed) if settings.layers else None
    if finer is not None:
        found = finer.found
    # 6. Start at the clusters.
    start = initial_fit(found.statistics, found, settings, seed, runner, defaults)
    run, share = _solver_run(inputs, found, start)
    if finer is not None:
        last_layer(run, finer, start.factors, defaults)
    wanted = code_smoothness(settings, found.choice.modularity, defaults)
    smoothness = float(settings.smoothness)
    if isinstance(found.affinity, AnchorAffinity) or finer is not None:
        # Labels need no codes, or have seen those of the first layer.
        smoothness, run = wanted, with_smoothness(wanted, run, found, share)
    # 7. Converge on samples first, if there are very many rows.
    checkpoint = inputs.problem.cache.solver_checkpoint(f"start-{seed}")
    factors = start.factors
    if isinstance(found.affinity, AnchorAffinity) and (sizes := _sample_sizes(inputs, found)):
        if checkpoint.last() is None:
            inputs.progress.enter(Stage.SAMPLE)
            used, samples = prepared.used(found.weights.top > 0), Samples(sizes, seed)
            factors = start_on_samples(run, used, found.affinity, factors, samples)
        run = run.begun
    # 8. Solve for all rows.
    inputs.progress.enter(Stage.SOLVE)
    objective = run.objective
    root = prepared.view.root
    observe = inputs.progress.iterations(
        lambda step: unfinished_record(
            found,
            objective.ties,
            step.factors.without(root),
            found.statistics.view,
            runner,
            defaults,
        )
    )
    result = solve(run.context, objective, factors, run.solver, run.stopping, observe, checkpoint)
    if objective.ties.strength == 0:
        # Without ties rows are independent: end with the row solve of ``transform``.
        given = start.weighting, objective.shared, runner
        result.objective = exact_codes(run.context.view, result.factors, *given)
    result.factors = result.factors.without(root)
    # 9. Final labels and moments.
    found, kmeans = _final_clusters(inputs, found, result.factors.V)
    # 10. Codes for the representation.
    first = best = SmoothedCodes(smoothness, objective.ties, result)
    if wanted != smoothness and objective.ties.strength and not inputs.progress.stopped:
        inputs.progress.enter(Stage.REPRESENT)
        own = inputs.problem.cache.solver_checkpoint(f"{seed}-{wanted:g}")
        again = with_smoothness(wanted, run, found, share)
        best = smoothed_codes(wanted, again, result.factors, found, own, defaults)
    before = () if best is first else (result.history,)
    if wanted != settings.smoothness:
        best = transformed_codes(best, run, found)
    return FactorizedClusters(found, best, kmeans, inputs.progress.stopped, before)


def _finer_layers(inputs: Inputs, found: FoundClusters, seed: int) -> FinerLayers:
    """All layers but the last, held together as little as parts are."""
    settings, defaults = inputs.settings, inputs.defaults
    inputs.progress.enter(Stage.LAYERS)
    fine = replace(settings, n_components=settings.layers[0], n_clusters=settings.clusters)
    start = initial_fit(found.statistics, found, fine, seed, inputs.runner, defaults)
    run, share = _solver_run(inputs, found, start)
    run = with_smoothness(defaults.negligible * float(settings.smoothness), run, found, share)
    return finer_layers(run, start.factors, found, settings, seed, defaults)


def _solver_run(inputs: Inputs, found: FoundClusters, start: InitialFit) -> tuple[SolverRun, float]:
    """The run that labels are read off, and how much of the data term is left in it."""
    settings, prepared, defaults = inputs.settings, found.prepared, inputs.defaults
    view = prepared.view
    used = used_share(start.factors, view, inputs.runner)
    strength = float(settings.smoothness) * prepared.varying * used
    ties = ties_along(found.affinity, strength, view.dtype)
    shared = len(start.factors.P) == 1
    objective = Objective(start.weighting, ties, shared, layered=bool(settings.layers))
    floor = defaults.negligible * view.total * prepared.energy
    stopping = Stopping(
        settings.max_iter,
        tol=settings.tol,
        floor=floor * prepared.varying * used,
        codes=1 / defaults.negligible,
        nearly=1 / defaults.negligible,
    )
    context = ExecutionContext(prepared.counted, inputs.runner)
    return SolverRun(context, objective, settings.solver, stopping), used


def _sample_sizes(inputs: Inputs, found: FoundClusters) -> list[int]:
    """How many rows factors are begun with, and then how many more; none if there are few rows."""
    settings, view = inputs.settings, found.statistics.view
    if settings.layers or not (isinstance(settings.init, str) and settings.init == "kmeans"):
        return []
    n, d = view.shape
    used = float(np.count_nonzero(found.weights.top))
    sizes = sample_sizes(n, d * view.filled if view.sparse else used, inputs.defaults)
    # Samples come here, where rows that are on other machines may not fit.
    return sizes if isinstance(found.labels, np.ndarray) else sizes[:1]


def _final_clusters(
    inputs: Inputs, found: FoundClusters, V: RowArray
) -> tuple[FoundClusters, KMeans | None]:
    """Step 9: labels after the codes are known, and the moments of these clusters."""
    k, runner, labels, kmeans = inputs.settings.clusters, inputs.runner, found.labels, None
    if labels is None:
        seed = inputs.problem.labels_seed
        kmeans, labels = cluster_codes(V, k, seed, found.prepared.view, runner)
    elif found.centres is None and not found.settled:
        labels = found.choice.unless_worse(found.affinity.refine_labels(labels, V, k), labels)
    return with_moments(inputs, replace(found, labels=labels)), kmeans


def with_moments(inputs: Inputs, found: FoundClusters) -> FoundClusters:
    """Step 9: the moments of the final clusters."""
    inputs.progress.enter(Stage.DESCRIBE)
    k, labels, batch = inputs.settings.clusters, found.labels, inputs.settings.batch
    if batch is not None and labels is not None:
        given = found.statistics, batch, np.asarray(labels), k, inputs.runner
        moments, effect = moments_within_batches(*given), batch_effect(*given)
        return replace(found, moments=moments, batch_effect=effect)
    if found.moments is not None:
        return found
    moments = capped_moments(found.statistics, labels, k, inputs.runner)
    return replace(found, moments=moments)
