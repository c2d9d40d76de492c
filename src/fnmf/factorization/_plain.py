"""The plain schemes: one objective, minimised from a start; the graph may be built anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.affinity import (
    LabelledRows,
    attraction,
    cached_graph,
    confidence,
    graph_votes,
    kept_view,
    known_votes,
    neighbor_graph,
)
from fnmf.data import IncompleteView, Scaling, View
from fnmf.execution import RowArray, Runner
from fnmf.factorization._initial import initial_factors, same_rows, with_known
from fnmf.factorization._problem import (
    Problem,
    ProgressReporter,
    Scheme,
    every_row,
    kept_rows,
    with_rounds,
)
from fnmf.factorization.solver import (
    ExecutionContext,
    Factors,
    Result,
    RowModel,
    Stopping,
    encode,
    exact_codes,
    solve,
)
from fnmf.factorization.terms import (
    FixedWeighting,
    GraphTies,
    Kinds,
    NoTies,
    Objective,
    Weighting,
    effective_features,
    empty_share,
    graph_ties,
    overlap,
    uniform_weights,
)
from fnmf.kmeans import cluster_codes
from fnmf.statistics import sums_of, unit_scales


@dataclass(frozen=True)
class PlainStart:
    """A start, and the graph it ended with."""

    result: Result
    graph: sp.csr_array | None
    ended: bool = False

    @property
    def quality(self) -> float:
        return -self.result.objective

    def __str__(self) -> str:
        settled = "settled" if self.result.converged else "not settled"
        return (
            f"objective {self.result.objective:.6g} after {self.result.n_iter} iterations, "
            f"{settled}"
        )


class PlainScheme(Scheme):
    """What ``"uniform"`` and ``"paper"`` share.

    Parameters
    ----------
    problem : Problem
        Data and settings.
    runner : Runner
        Who works through the blocks.
    """

    weighting_kind: ClassVar[type[Weighting]] = FixedWeighting

    def __init__(self, problem: Problem, runner: Runner) -> None:
        self.problem, self.settings, self.runner = problem, problem.settings, runner
        view, root = problem.view, problem.view.root
        # With rows and codes times these roots, samples have their weights in the data term.
        if root is not None:
            each = plain_scaling(view.shape[0], np.ones(view.shape[1]))
            view = view.scaled(replace(each, rows=root)).weighing(None)
        self.root = root
        self.context = ExecutionContext(view, runner)
        self.graph = self.settings.graph
        if self.settings.builds_graph:
            self.graph = self._neighbor_graph(problem.view, "graph")
        self.live = self.context.column_energy > 0
        self.shared = self.is_shared(self.settings)

    @classmethod
    def refreshes(cls, settings: Settings) -> int:
        """How often the graph is rebuilt; weights that stay would only give it back."""
        return 0

    @classmethod
    def kinds(cls, settings: Settings) -> Kinds:
        ties = NoTies if settings.graph is None or settings.smoothness == 0 else GraphTies
        return Kinds(cls.weighting_kind, ties, cls.is_shared(settings))

    @staticmethod
    def is_shared(settings: Settings) -> bool:
        """One weighting leaves nothing to assign, and the cheaper sweep does."""
        return settings.assignment == "shared" or settings.n_weightings == 1

    @classmethod
    def most_iterations(cls, settings: Settings) -> int:
        return settings.max_iter * (1 + cls.refreshes(settings))

    def weighting(self) -> Weighting:
        """The term of the feature weights."""
        return FixedWeighting()

    def start(self, seed: int) -> PlainStart:
        """Starting values, a run, and for every refresh another run on a new graph."""
        progress, graph = ProgressReporter(self.problem), self.graph
        result = self._solve(self._start_factors(seed), graph, progress, f"start-{seed}")
        histories = [result.history]
        for number in range(self.refreshes(self.settings)):
            if progress.stopped:
                break
            graph = self._weighted_graph(result.factors, f"graph-{seed}-{number}")
            result = self._solve(result.factors, graph, progress, f"start-{seed}-{number}")
            histories.append(result.history)
        result = replace(result, history=with_rounds(histories))
        if graph is None or self.settings.smoothness == 0:
            self._end_on_exact_codes(result)
        return PlainStart(result, graph)

    def fitted(self, start_result: PlainStart) -> Fitted:
        """The model with its labels and what there is to say about its weights."""
        settings, result = self.settings, start_result.result
        model = self._model(result.factors, start_result.graph)
        V, view, seed = model.embedding, self.problem.view, self.problem.labels_seed
        kmeans, labels = cluster_codes(V, settings.clusters, seed, view, self.runner)
        energy, dtype = self.context.column_energy, model.feature_weights.dtype
        weights = model.feature_weights.astype(np.float64)
        warnings: tuple[Warning, ...] = ()
        if not result.converged:
            shown = (
                f"FNMF stopped at max_iter={settings.max_iter} before it had settled; "
                "raise max_iter, or tol if the result is good enough."
            )
            warnings = (ConvergenceWarning(shown),)
        votes = None
        if start_result.graph is not None and start_result.graph.nnz:
            votes = known_votes(graph_votes(start_result.graph, labels, settings.clusters))
        voters = LabelledRows(votes, V, labels)
        sure, second = confidence(voters, settings.clusters, None, view, self.runner)
        return replace(
            model,
            sample_confidence=sure,
            second_labels=second,
            weighting_overlap=overlap(weights).astype(dtype),
            empty_weight=empty_share(weights, energy).astype(dtype),
            objective=result.objective,
            history=result.history,
            n_iter=result.n_iter,
            kmeans=kmeans,
            labels=labels,
            warnings=(*self._weight_warnings(model, energy), *warnings),
        )

    @classmethod
    def encode(cls, fitted: Fitted, settings: Settings, view: View, runner: Runner) -> np.ndarray:
        """Codes of new rows, tied to their nearest training rows as strongly as those to theirs."""
        held = None
        if settings.graph is not None and settings.smoothness > 0:
            strength, near = float(settings.smoothness), settings.n_neighbors
            here, there = cls.rows_of_graph(fitted, view, runner)
            codes = fitted.embedding if fitted.held_codes is None else fitted.held_codes
            held = attraction(there, here, codes, near, strength, runner)
        shared = fitted.assignments[0] if settings.assignment == "shared" else None
        weights = fitted.feature_weights.astype(np.float64)
        model = RowModel(fitted.components.T, weights, on_residual=False, shared=shared)
        return encode(view, model, runner, held)[0]

    @classmethod
    def rows_of_graph(cls, fitted: Fitted, view: View, runner: Runner) -> tuple[View, View]:
        """New rows and those of the fit, as the graph was built from these."""
        return view, kept_view(fitted)

    @staticmethod
    def comparable_rows(fitted: Fitted, view: View, runner: Runner) -> tuple[View, View]:
        """Rows times the weights that samples use on average."""
        share = fitted.assignments.mean(axis=0, dtype=np.float64)
        mean = share @ fitted.feature_weights.astype(np.float64)
        there = kept_view(fitted)
        new = view.scaled(plain_scaling(view.shape[0], mean))
        return new, there.scaled(plain_scaling(there.shape[0], mean))

    def _start_weights(self) -> np.ndarray:
        return uniform_weights(self.settings.n_weightings, self.live)

    def _start_factors(self, seed: int) -> Factors:
        settings = self.settings
        weights = self._start_weights()
        rng = np.random.RandomState(seed)
        U, V = initial_factors(
            self.problem.view,
            settings.n_components,
            settings.init,
            weights.max(),
            rng,
            self.runner,
        )
        fixed = None
        if settings.components is not None:
            known = weights.max(axis=0)[:, None] * settings.components.T
            U, V, fixed = with_known(U, V, known)
        if self.root is not None:
            V = V * self.root[:, None].astype(V.dtype)
        even = np.full(settings.n_weightings, 1 / settings.n_weightings, V.dtype)
        P = even[None] if self.shared else same_rows(even, self.problem.view, self.runner)
        return Factors(U, V, P, weights, fixed=fixed)

    def _solve(
        self, factors: Factors, graph: sp.csr_array | None, progress: ProgressReporter, name: str
    ) -> Result:
        settings = self.settings
        objective = Objective(
            weighting=self.weighting(),
            ties=graph_ties(graph, float(settings.smoothness), self.problem.view.dtype, self.root),
            shared=self.shared,
            unit=settings.normalize_components,
        )
        stopping = Stopping(max_iter=settings.max_iter, tol=float(settings.tol))
        observe = progress.iterations(lambda step: self._model(step.factors, graph))
        checkpoint = self.problem.cache.solver_checkpoint(name)
        return solve(
            self.context, objective, factors, settings.solver, stopping, observe, checkpoint
        )

    def _neighbor_graph(self, view: View, name: str) -> sp.csr_array:
        def make() -> sp.csr_array:
            k, verbose = self.settings.n_neighbors, self.settings.verbose
            return neighbor_graph(view, k, self.settings.search, self.runner, verbose=verbose)

        return cached_graph(self.problem.cache, name, make, view.shape[0])

    def _weighted_graph(self, factors: Factors, name: str) -> sp.csr_array:
        """Neighbours by the features that count: rows of X ∘ e at unit length, e = Σ_j p_j² θ_j."""
        effective = np.mean(factors.P.astype(np.float64) ** 2, axis=0) @ factors.weights
        view = self.problem.view
        raw = plain_scaling(view.shape[0], effective)
        scales, _ = unit_scales(view.scaled(raw), self.runner)
        return self._neighbor_graph(view.scaled(replace(raw, rows=scales), drop=True), name)

    def _end_on_exact_codes(self, result: Result) -> None:
        """Without a graph rows are independent: end with the row solve that ``transform`` does."""
        weighting = self.weighting()
        view, factors = self.context.view, result.factors
        loss = exact_codes(view, factors, weighting, self.shared, self.runner)
        result.objective = loss + weighting.penalty(factors.weights)

    def _model(self, factors: Factors, graph: sp.csr_array | None) -> Fitted:
        """What a model needs in order to transform, at the end or on the way."""
        view, factors = self.problem.view, factors.without(self.root)
        dtype, weights = factors.V.dtype, factors.weights
        share = self._share(factors.P)
        return Fitted(
            components=np.ascontiguousarray(factors.U.T),
            embedding=factors.V,
            feature_weights=weights.astype(dtype),
            assignments=every_row(factors.P, view),
            feature_importances=((share / share.sum()) @ weights).astype(dtype),
            effective_features=effective_features(weights).astype(dtype),
            graph=graph,
            rows=kept_rows(view),
            missing_neighbors=view.fill.nearest if isinstance(view, IncompleteView) else None,
        )

    def _share(self, P: RowArray) -> np.ndarray:
        """How much samples use each weighting on average."""
        if len(P) == 1:
            return P[0].astype(np.float64)
        return sums_of(P, self.problem.view, self.runner) / self.problem.view.total

    def _weight_warnings(self, model: Fitted, energy: np.ndarray) -> tuple[Warning, ...]:
        """What is wrong with the weights."""
        return ()


def plain_scaling(n_samples: int, weights: np.ndarray) -> Scaling:
    """Features times their weights, rows as they are."""
    return Scaling(np.ones(n_samples), np.full(len(weights), np.inf), weights)
