"""The scheme of ``weighting="relevance"``: choose on a sample, then fit once.

    measure → choose → prepare → hold → start → solve → label → look

Preparation and weights are chosen on a sample of the rows (``_choice``). The fit that follows is
one run of the solver on all of them: samples are held together by a graph or by anchors
(``_hold``), whose clusters are also where the factors start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.data import quickest
from fnmf.runners import RowArray, Runner
from fnmf.schemes._begin import Run, Sample, begun_on_sample, sample_size
from fnmf.schemes._choice import Choice, choose, stability, weight_shares
from fnmf.schemes._code_clusters import cluster_codes
from fnmf.schemes._complaints import complaints, unseen
from fnmf.schemes._confidence import Voters, confidence
from fnmf.schemes._gather import gather
from fnmf.schemes._hold import AnchorHold, Hold, Known, hold_of
from fnmf.schemes._new_rows import arrive, decode, encode_rows, predict_rows
from fnmf.schemes._problem import (
    Problem,
    Scheme,
    Watch,
    every_row,
    kept_rows,
    with_rounds,
)
from fnmf.schemes._rows import exact_codes
from fnmf.schemes._stages import (
    Prepared,
    assign_samples,
    assign_together,
    given_start,
    kmeans_start,
    look,
    measure,
    prepare,
    price_samples,
    start_from,
    sums_of,
    used_share,
)
from fnmf.solver import Factors, Journal, Machine, Result, Stopping, cluster_moments, solve
from fnmf.terms import (
    EvenRows,
    GraphTies,
    Kinds,
    Moments,
    NoTies,
    Objective,
    ResidualWeighting,
    Ties,
    UnitBasis,
    effective_features,
    empty_share,
    overlap,
    qvalues,
    relevance,
)

# A residual below this share of the variance is as good as none; see Stopping.floor.
_EXACT = 0.01
# Clusters are those of the graph, so the codes need not settle as far as if they showed them.
_CODES = 100.0
# What takes long, for whoever waits.
_EXPLORE, _GATHER, _HOLD = "exploring a sample", "gathering clusters", "finding neighbours"
_BEGIN, _SOLVE, _LOOK = "fitting a sample", "fitting all rows", "looking at the clusters"


@dataclass(frozen=True)
class Setting:
    """What stays fixed while the solver runs."""

    choice: Choice
    prepared: Prepared
    hold: Hold
    ties: Ties


class Clusters(NamedTuple):
    """Clusters of all rows, and by what new ones find theirs if not by their neighbours."""

    labels: RowArray
    kmeans: KMeans | None
    centres: np.ndarray | None


@dataclass(frozen=True)
class RelevanceOutcome:
    """A fit and what it found."""

    setting: Setting
    result: Result
    clusters: Clusters
    found: Moments
    ended: bool

    @property
    def quality(self) -> float:
        return self.setting.choice.score

    def __str__(self) -> str:
        return f"score {self.quality:.4f} after {self.result.n_iter} iterations"


class RelevanceScheme(Scheme):
    """Choose and fit, on one problem.

    Parameters
    ----------
    problem : Problem
        Data and settings.
    runner : Runner
        Who works through the blocks.
    """

    stages = (_EXPLORE, _GATHER, _HOLD, _BEGIN, _SOLVE, _LOOK)

    def __init__(self, problem: Problem, runner: Runner) -> None:
        self.problem, self.settings, self.runner = problem, problem.settings, runner
        self.watch = Watch(problem)
        self.measured = measure(quickest(problem.view), runner)

    @classmethod
    def kinds(cls, settings: Settings) -> Kinds:
        ties = NoTies if settings.graph is None or settings.smoothness == 0 else GraphTies
        shared = settings.assignment == "shared" or settings.n_weightings == 1
        return Kinds(ResidualWeighting, ties, EvenRows, UnitBasis, shared)

    @classmethod
    def most_iterations(cls, settings: Settings) -> int:
        return settings.max_iter

    # New rows enter in the units of the fit, and leave in those of the data.
    encode = staticmethod(encode_rows)
    decode = staticmethod(decode)
    predict = staticmethod(predict_rows)
    arrive = staticmethod(arrive)

    def start(self, seed: int) -> RelevanceOutcome:
        """Everything that depends on the seed, in order."""
        settings, runner = self.settings, self.runner
        self.watch.doing(_EXPLORE)
        choice = choose(self.measured, settings, seed, runner)
        self._tell(choice)
        labels = centres = found = None
        if choice.about_means:
            self.watch.doing(_GATHER)
            gathered = gather(self.measured, choice, runner)
            choice, prepared, found = gathered.choice, gathered.prepared, gathered.moments
            labels, centres = gathered.labels, gathered.centres
        else:
            prepared = prepare(self.measured, choice.units, choice.weights, choice.unit, runner)
        self.watch.doing(_HOLD)
        hold = hold_of(prepared.weighted, settings, seed, runner, self.problem.ledger)
        if labels is None:
            known = None if choice.labels is None else Known(choice.sample, choice.labels)
            labels = hold.clusters(settings.clusters, seed, known)
        factors, weighting = self._factors(choice, prepared, hold, labels, seed)
        used = used_share(factors, prepared.view, runner)
        strength = float(settings.smoothness) * prepared.varying * used
        setting = Setting(choice, prepared, hold, hold.ties(strength, prepared.view.dtype))
        floor = _EXACT * len(factors.V) * prepared.energy * prepared.varying * used
        journal = self.problem.ledger.journal(f"start-{seed}")
        result = self._solve(setting, factors, weighting, floor, journal, seed)
        self.watch.doing(_LOOK)
        kmeans = None
        if labels is None:
            V, seed = result.factors.V, self.problem.labels_seed
            kmeans, labels = cluster_codes(V, settings.clusters, seed, prepared.view, runner)
        elif centres is None:
            labels = hold.settle(labels, result.factors.V, settings.clusters)
        if found is None:
            found = look(self.measured, labels, settings.clusters, runner)
        clusters = Clusters(labels, kmeans, centres)
        return RelevanceOutcome(setting, result, clusters, found, self.watch.stopped)

    def fitted(self, outcome: RelevanceOutcome) -> Fitted:
        """The model of a fit."""
        settings, choice, found = self.settings, outcome.setting.choice, outcome.found
        labels, kmeans, centres = outcome.clusters
        model = self._model(outcome.setting, outcome.result.factors, found)
        weights, dtype = model.feature_weights.astype(np.float64), model.embedding.dtype
        mean = outcome.setting.prepared.mean / outcome.setting.prepared.columns.units
        energy = (found.total + len(model.embedding) * mean**2) * choice.units**2
        history = with_rounds([outcome.result.history])
        anchors = outcome.setting.hold.anchors
        if self.problem.sure:
            votes = outcome.setting.hold.votes(labels, settings.clusters)
            back = stability(choice, labels, settings.clusters)
            voters, view = Voters(votes, model.embedding, labels), self.measured.view
            sure, second = confidence(voters, settings.clusters, back, view, self.runner)
            told = {"sample_confidence": sure, "second_labels": second, "cluster_stability": back}
            model = replace(model, **told)
        return replace(
            model,
            feature_qvalues=qvalues(found, choice.real).astype(dtype),
            weighting_overlap=overlap(weights).astype(dtype),
            empty_weight=empty_share(weights, energy).astype(dtype),
            objective=outcome.result.objective,
            history=history,
            n_iter=len(history),
            kmeans=kmeans,
            centres=centres,
            labels=labels,
            held_labels=None if anchors is None else labels[anchors],
            chosen=[one.summary() for one in choice.candidates],
            structure=choice.structure,
            structure_found=choice.real,
            warnings=(
                *unseen(self.measured.faint),
                *complaints(choice, found, outcome.result.converged, settings),
            ),
        )

    def _tell(self, choice: Choice) -> None:
        if not self.settings.verbose:
            return
        for place, one in enumerate(choice.candidates):
            print(f"[FNMF] {'chosen' if place == 0 else 'tried'}: {one}")

    def _factors(
        self,
        choice: Choice,
        prepared: Prepared,
        hold: Hold,
        labels: RowArray | None,
        seed: int,
    ) -> tuple[Factors, ResidualWeighting]:
        """Starting values, and the weighting with the prices that the assignment counts with."""
        settings, weights, runner = self.settings, choice.weights, self.runner
        c, init, view = settings.n_components, settings.init, prepared.view
        own = isinstance(init, str) and init == "kmeans"
        known = labels if settings.clusters == c else hold.clusters(c, seed)
        moments: Moments | None = None
        if not own:
            U, V = given_start(self.measured, prepared, c, init, seed, runner)
        elif known is None:
            U, V = kmeans_start(prepared, weights, c, seed, runner)
        else:
            moments = cluster_moments(view, known, c, prepared.mean, runner)
            U, V = start_from(prepared, weights, known, moments, runner)
        prices = price_samples(view, prepared.mean, weights.price, runner, view.dtype)
        totals = np.zeros(len(weights.omega)) if prices is None else sums_of(prices, view, runner)
        P: RowArray = np.ones((1, 1), V.dtype)
        if len(weights.omega) > 1:
            if labels is None:
                _, labels = cluster_codes(V, settings.clusters, seed, view, runner)
            if moments is None or known is not labels:
                moments = cluster_moments(view, labels, settings.clusters, prepared.mean, runner)
            given = prepared, weights, labels, prepared.mean + moments.shifts
            if settings.assignment == "shared":
                P = assign_together(*given, totals, runner)
            else:
                P = assign_samples(*given, prices, runner)
        return Factors(U, V, P, weights.omega), ResidualWeighting(prices, totals)

    def _solve(
        self,
        setting: Setting,
        factors: Factors,
        weighting: ResidualWeighting,
        floor: float,
        journal: Journal,
        seed: int,
    ) -> Result:
        settings, view = self.settings, setting.prepared.view
        shared = len(factors.P) == 1
        objective = Objective(weighting, setting.ties, EvenRows(), UnitBasis(), shared)
        stopping = Stopping(settings.max_iter, tol=settings.tol, floor=floor, codes=_CODES)
        observe = self.watch.over(lambda progress: self._model(setting, progress.factors, None))
        machine, hold = Machine(view, self.runner), setting.hold
        own = isinstance(settings.init, str) and settings.init == "kmeans"
        if own and isinstance(hold, AnchorHold) and journal.last() is None:
            factors = self._begun(
                Run(machine, objective, settings.solver, stopping), setting, factors, seed
            )
        self.watch.doing(_SOLVE)
        result = solve(machine, objective, factors, settings.solver, stopping, observe, journal)
        if setting.ties.strength == 0:
            # On their own rows are independent: end with the row solve of ``transform``.
            result.objective = exact_codes(view, result.factors, weighting, shared, self.runner)
        return result

    def _begun(self, run: Run, setting: Setting, factors: Factors, seed: int) -> Factors:
        """Where the run over all rows begins: with what a sample leads to, if there are many."""
        prepared, view, hold = setting.prepared, self.measured.view, setting.hold
        assert isinstance(hold, AnchorHold)
        used = prepared.columns.view(
            view, prepared.scales, setting.choice.weights.top > 0, drop=True
        )
        n, d = used.shape
        size = sample_size(n, d * view.filled if view.sparse else d)
        if not size:
            return factors
        self.watch.doing(_BEGIN)
        return begun_on_sample(run, used, hold, factors, Sample(size, seed))

    def _model(self, setting: Setting, factors: Factors, found: Moments | None) -> Fitted:
        """The model of a fit, at its end or on the way."""
        choice, prepared, anchors = setting.choice, setting.prepared, setting.hold.anchors
        omega = choice.weights.omega
        shares = weight_shares(omega)
        dtype = factors.V.dtype
        explained = relevance(found) if found is not None else np.zeros(omega.shape[1])
        total = explained.sum()
        importances = explained / total if total > 0 else shares.mean(axis=0)
        X, codes = kept_rows(self.measured.view), None
        scales = np.empty(0)
        if anchors is not None:
            kept = self.measured.view.subset(anchors)
            X, scales = kept.X, prepared.scales[anchors]
            codes = setting.hold.anchor_codes(factors.V, Machine(prepared.view, self.runner))
        elif not self.measured.view.remote:
            scales = prepared.scales
        return Fitted(
            components=np.ascontiguousarray(factors.U.T),
            embedding=factors.V,
            feature_weights=shares.astype(dtype),
            assignments=every_row(factors.P, self.measured.view),
            feature_relevance=explained.astype(dtype),
            feature_importances=importances.astype(dtype),
            effective_features=effective_features(shares).astype(dtype),
            graph=setting.hold.graph,
            rows=X,
            held_codes=codes,
            caps=prepared.columns.caps,
            units=prepared.columns.units,
            omega=omega,
            prices=choice.weights.price,
            mean=prepared.mean,
            row_scales=np.array(scales, np.float64),
            row_scale=prepared.row_scale,
            strength=setting.ties.strength,
        )
