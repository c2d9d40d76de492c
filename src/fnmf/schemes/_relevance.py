"""The scheme of ``weighting="relevance"``: rounds of factorisation, new weights between them.

The first round weighs all features alike. Each refresh takes the clusters found, decides by them
which features count, and factorises anew. Which loss and how many weightings suit the data is
decided by the modularity of what they find.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from fnmf._fitted import Fitted
from fnmf._labels import kmeans_on
from fnmf._settings import Settings
from fnmf.graph import modularity, neighbor_graph
from fnmf.runners import Runner
from fnmf.schemes._choices import all_relevant, best_loss, group_clusters, weight_shares
from fnmf.schemes._new_rows import decode, encode_rows
from fnmf.schemes._problem import Problem, Scheme, Watch, every_row, not_settled, with_rounds
from fnmf.schemes._rows import exact_codes
from fnmf.schemes._stages import (
    Prepared,
    Seen,
    Weights,
    assignments_from,
    cost_samples,
    given_start,
    kmeans_start,
    look,
    measure,
    prepare,
    price_samples,
    used_share,
)
from fnmf.solver import Factors, Machine, Result, Stopping, solve
from fnmf.terms import (
    LOSSES,
    EvenRows,
    GraphTies,
    Kinds,
    Loss,
    Moments,
    NoTies,
    Objective,
    ResidualWeighting,
    UnitBasis,
    effective_features,
    empty_share,
    graph_ties,
    overlap,
    relevance,
    relevance_weights,
)

# Several weightings must not lower the quality by more than this.
_SLACK = 0.005
# Rounds before the last are this many times shorter.
_SHORTER = 5
_DEFAULT_REFRESHES = 4
# A residual below this share of the variance is as good as none; see Stopping.floor.
_EXACT = 0.01


@dataclass(frozen=True)
class Setting:
    """What stays fixed during a round."""

    weights: Weights
    prepared: Prepared
    strength: float
    graph: sp.csr_array | None


@dataclass(frozen=True)
class Round:
    """A factorisation with fixed weights, and what it found."""

    setting: Setting
    result: Result
    kmeans: KMeans
    seen: Seen
    quality: float

    @property
    def labels(self) -> np.ndarray:
        return self.kmeans.labels_


@dataclass(frozen=True)
class RelevanceOutcome:
    """All rounds of the loss that was chosen."""

    rounds: list[Round]
    ended: bool

    @property
    def quality(self) -> float:
        return self.rounds[-1].quality

    def __str__(self) -> str:
        return f"quality {self.quality:.4f} after {len(self.rounds)} rounds"


class RelevanceScheme(Scheme):
    """Rounds on one problem.

    Parameters
    ----------
    problem : Problem
        Data and settings.
    runner : Runner
        Who works through the blocks.
    """

    def __init__(self, problem: Problem, runner: Runner) -> None:
        self.problem, self.settings, self.runner = problem, problem.settings, runner
        self.watch = Watch(problem)
        self.measured = measure(problem.view, runner)
        self.n_clusters = self.settings.clusters
        self.n_weightings = min(self.settings.n_weightings, self.n_clusters)

    @staticmethod
    def refreshes(settings: Settings) -> int:
        """How often weights and graph are renewed."""
        return _DEFAULT_REFRESHES if settings.graph_refresh is None else settings.graph_refresh

    @classmethod
    def kinds(cls, settings: Settings) -> Kinds:
        ties = NoTies if settings.graph is None or settings.smoothness == 0 else GraphTies
        shared = settings.assignment == "shared" or settings.n_weightings == 1
        return Kinds(ResidualWeighting, ties, EvenRows, UnitBasis, shared)

    @classmethod
    def most_iterations(cls, settings: Settings) -> int:
        refreshes = cls.refreshes(settings)
        if refreshes == 0:
            return settings.max_iter
        short = -(-settings.max_iter // _SHORTER)
        each = (refreshes - 1) * short + settings.max_iter
        return 2 * short + len(LOSSES) * each + settings.max_iter

    # New rows enter in the units of the last round, and leave in those of the data.
    encode = staticmethod(encode_rows)
    decode = staticmethod(decode)

    def start(self, seed: int) -> RelevanceOutcome:
        """A first round, refreshes with every loss, and several weightings if they help."""
        refreshes = self.refreshes(self.settings)
        first = self._first_round(seed, last=refreshes == 0)
        if refreshes == 0 or self.watch.stopped:
            return RelevanceOutcome([first], self.watch.stopped)
        # Without a graph there is no modularity to choose by.
        losses = LOSSES if first.setting.graph is not None else LOSSES[:1]
        tried: dict[Loss, list[Round]] = {}
        for loss in losses:
            if not tried or not self.watch.stopped:
                tried[loss] = self._refined(first, loss, seed)
        loss = best_loss({loss: rounds[-1].quality for loss, rounds in tried.items()})
        rounds = tried[loss]
        if self.n_weightings > 1:
            rounds = rounds + self._several(rounds[-1], loss, seed)
        return RelevanceOutcome(rounds, self.watch.stopped)

    def fitted(self, outcome: RelevanceOutcome) -> Fitted:
        """The model of the last round."""
        last, settings = outcome.rounds[-1], self.settings
        model = self._model(last.setting, last.result.factors, last.seen.raw)
        weights, dtype = model.feature_weights.astype(np.float64), model.embedding.dtype
        energy = last.seen.moments.total + len(model.embedding) * last.setting.prepared.mean**2
        history = with_rounds([one.result.history for one in outcome.rounds])
        return replace(
            model,
            weighting_overlap=overlap(weights).astype(dtype),
            empty_weight=empty_share(weights, energy).astype(dtype),
            objective=last.result.objective,
            history=history,
            n_iter=len(history),
            kmeans=last.kmeans,
            labels=last.labels,
            warnings=() if last.result.converged else (not_settled(settings.max_iter),),
        )

    def _first_round(self, seed: int, last: bool) -> Round:
        """All features alike, from the start that was asked for."""
        d = self.measured.view.shape[1]
        weights = Weights(np.ones((1, d)), np.zeros((1, d)))
        prepared = prepare(self.measured, weights, self.runner)
        graph = self._graph(prepared)
        init, c = self.settings.init, self.settings.n_components
        rng = np.random.RandomState(seed)
        if isinstance(init, str) and init == "kmeans":
            U, V = kmeans_start(prepared, weights, c, rng)
        else:
            U, V = given_start(self.measured, prepared, c, init, rng)
        factors = Factors(U, V, np.ones((1, 1), V.dtype), weights.omega)
        return self._round(weights, prepared, graph, factors, self._prices(prepared, weights), last)

    def _refresh(self, before: Round, loss: Loss, m: int, seed: int, last: bool) -> Round:
        """New weights from the clusters found, then a round with them from k-means."""
        groups = group_clusters(before.seen.raw, m, seed)
        weights = Weights(*relevance_weights(before.seen.raw, before.seen.moments, groups, m, loss))
        prepared = prepare(self.measured, weights, self.runner)
        graph = self._graph(prepared)
        rng = np.random.RandomState(seed)
        U, V = kmeans_start(prepared, weights, self.settings.n_components, rng)
        prices = self._prices(prepared, weights)
        factors = Factors(
            U, V, self._assign(prepared, weights, before.labels, prices), weights.omega
        )
        return self._round(weights, prepared, graph, factors, prices, last)

    def _round(
        self,
        weights: Weights,
        prepared: Prepared,
        graph: sp.csr_array | None,
        factors: Factors,
        prices: np.ndarray,
        last: bool,
    ) -> Round:
        """Factorise, label, look at the clusters and judge them."""
        used = used_share(factors)
        strength = float(self.settings.smoothness) * prepared.varying * used
        setting = Setting(weights, prepared, strength, graph)
        floor = _EXACT * len(factors.V) * prepared.energy * prepared.varying * used
        result = self._solve(setting, factors, ResidualWeighting(prices), floor, last)
        kmeans = kmeans_on(result.factors.V, self.n_clusters, self.problem.labels_seed)
        seen = look(self.measured, prepared, kmeans.labels_, self.n_clusters, self.runner)
        quality = -result.objective
        if graph is not None:
            quality = modularity(graph, kmeans.labels_, self.n_clusters)
        if self.settings.verbose:
            kept, d = np.count_nonzero(weights.top), len(weights.top)
            print(f"[FNMF] round: {kept} of {d} features used, quality {quality:.4f}")
        return Round(setting, result, kmeans, seen, quality)

    def _refined(self, first: Round, loss: Loss, seed: int) -> list[Round]:
        rounds, refreshes = [first], self.refreshes(self.settings)
        for number in range(1, refreshes + 1):
            if not self.watch.stopped:
                rounds.append(self._refresh(rounds[-1], loss, 1, seed, number == refreshes))
        return rounds

    def _several(self, single: Round, loss: Loss, seed: int) -> list[Round]:
        """A round with several weightings, if a short one shows that the data have them."""
        several = single
        for last in (False, True):
            if self.watch.stopped:
                return []
            several = self._refresh(single, loss, self.n_weightings, seed, last)
            worse = several.quality < single.quality - _SLACK
            alone, together = single.setting.weights.omega, several.setting.weights.omega
            if worse or not all_relevant(single.seen.raw, alone, together):
                return []
        return [several]

    def _graph(self, prepared: Prepared) -> sp.csr_array | None:
        settings = self.settings
        if not settings.builds_graph:
            return settings.graph
        k, verbose = settings.n_neighbors, settings.verbose
        return neighbor_graph(prepared.weighted, k, settings.search, self.runner, verbose=verbose)

    def _prices(self, prepared: Prepared, weights: Weights) -> np.ndarray:
        return price_samples(prepared.view, prepared.mean, weights.price, self.runner)

    def _assign(
        self, prepared: Prepared, weights: Weights, labels: np.ndarray, prices: np.ndarray
    ) -> np.ndarray:
        """Starting assignments from the clusters of the last round."""
        dtype = prepared.view.dtype
        if len(weights.omega) == 1:
            return np.ones((1, 1), dtype)
        q = cost_samples(prepared, weights, labels, self.n_clusters, self.runner) + prices
        return assignments_from(q, self.settings.assignment == "shared", dtype)

    def _solve(
        self,
        setting: Setting,
        factors: Factors,
        weighting: ResidualWeighting,
        floor: float,
        last: bool,
    ) -> Result:
        settings, view = self.settings, setting.prepared.view
        objective = Objective(
            weighting=weighting,
            ties=graph_ties(setting.graph, setting.strength, view.dtype),
            rows=EvenRows(),
            basis=UnitBasis(),
            shared=len(factors.P) == 1,
        )
        most = settings.max_iter if last else -(-settings.max_iter // _SHORTER)
        stopping = Stopping(max_iter=most, tol=float(settings.tol), floor=floor)
        observe = self.watch.over(lambda progress: self._model(setting, progress.factors, None))
        machine = Machine(view, self.runner)
        result = solve(machine, objective, factors, settings.solver, stopping, observe)
        if last and (setting.graph is None or setting.strength == 0):
            # Without a graph rows are independent: end with the row solve of ``transform``.
            result.objective = exact_codes(
                view, result.factors, weighting, objective.shared, self.runner
            )
        return result

    def _model(self, setting: Setting, factors: Factors, found: Moments | None) -> Fitted:
        """The model of a round, at its end or on the way."""
        omega = setting.weights.omega
        shares = weight_shares(omega)
        dtype = factors.V.dtype
        explained = relevance(found) if found is not None else np.zeros(omega.shape[1])
        total = explained.sum()
        importances = explained / total if total > 0 else shares.mean(axis=0)
        return Fitted(
            components=np.ascontiguousarray(factors.U.T),
            embedding=factors.V,
            feature_weights=shares.astype(dtype),
            assignments=every_row(factors.P, len(factors.V)),
            feature_relevance=explained.astype(dtype),
            feature_importances=importances.astype(dtype),
            effective_features=effective_features(shares).astype(dtype),
            graph=setting.graph,
            rows=self.measured.view.X,
            caps=self.measured.preparation.caps,
            units=self.measured.preparation.units,
            omega=omega,
            prices=setting.weights.price,
            mean=setting.prepared.mean,
            row_scales=setting.prepared.scales,
            strength=setting.strength,
        )
