"""Fitting with ``weighting="relevance"``: rounds of factorisation, new weights between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from fnmf._fitting import graph_ties
from fnmf._initial import initial_factors
from fnmf._labels import kmeans_on
from fnmf._validation import Data
from fnmf.engine.encode import encode
from fnmf.engine.moments import cluster_moments, column_sums, row_lengths, weighted_distances
from fnmf.engine.parallel import Crew, crew
from fnmf.engine.scaled import Scaling, scaled_view_of
from fnmf.engine.solver import Factors, Options, Progress, Result, solve
from fnmf.engine.sweeps import Sweeps
from fnmf.engine.views import View, view_of, working_dtype
from fnmf.graph._rows import ScaledRows
from fnmf.model.diagnosis import effective_features
from fnmf.model.relevance import (
    LOSSES,
    Loss,
    Moments,
    modularity,
    profiles,
    relevance,
    relevance_weights,
)
from fnmf.model.weighting import FixedWeighting

if TYPE_CHECKING:
    from fnmf._fnmf import FNMF

# Values of a feature are cut off at this many times the mean of its positive ones.
_CAP = 2.0
# A stronger loss must raise the modularity by more than this,
_GAIN = 0.012
# and several weightings must not lower it by more than this.
_SLACK = 0.005
# Several weightings must rest on features at least this relevant, relative to a single one's.
_AS_RELEVANT = 0.5
# Rounds before the last are this many times shorter.
_SHORTER = 5
DEFAULT_REFRESHES = 4
_TINY = 1e-12


@dataclass(frozen=True)
class Weights:
    """What a refresh decides: weights ω and prices π, both (m, d)."""

    omega: np.ndarray
    price: np.ndarray

    @property
    def top(self) -> np.ndarray:
        """Largest weight of each feature."""
        return self.omega.max(axis=0)


@dataclass(frozen=True)
class Setting:
    """What stays fixed during a round."""

    weights: Weights
    row_scales: np.ndarray
    mean: np.ndarray
    strength: float
    graph: sp.csr_array | None


@dataclass(frozen=True)
class Round:
    """A factorisation with fixed weights, and what it found."""

    setting: Setting
    result: Result
    labels: np.ndarray
    moments: Moments
    quality: float


Observer = Callable[[Setting, Progress], bool]


class RelevanceFit:
    """Runs the rounds of one model on one data set.

    Parameters
    ----------
    model : FNMF
        Whose parameters count.
    data : array, CSR or MappedCSR
        Checked data.
    graph : csr_array or None
        Neighbour graph of the user's; otherwise it is built from the weighted features.
    crew : Crew
        Threads.
    observe : callable or None
        Told about every iteration; may end the fit by returning true.
    """

    def __init__(
        self,
        model: FNMF,
        data: Data,
        graph: sp.csr_array | None,
        crew: Crew,
        labels_seed: int,
        observe: Observer | None,
    ) -> None:
        self.model, self.data, self.graph, self.crew = model, data, graph, crew
        self.labels_seed, self.observe = labels_seed, observe
        self.stopped = False
        sums, positive = column_sums(view_of(data), crew)
        self.caps = _CAP * sums / np.maximum(positive, 1)
        self.n_clusters = model._n_clusters()

    def start(self, seed: int) -> list[Round]:
        """All rounds of the loss that was chosen, for one seed."""
        first = self._round(None, None, seed, last=_refreshes(self.model) == 0)
        best = [first]
        quality = -np.inf
        # Without a graph there is no modularity to choose by.
        losses = LOSSES if first.setting.graph is not None else LOSSES[:1]
        for loss in losses if _refreshes(self.model) else ():
            if self.stopped:
                break
            rounds = self._refined(first, loss, seed)
            if rounds[-1].quality > quality + _GAIN:
                best, quality, chosen = rounds, rounds[-1].quality, loss
        if _refreshes(self.model) and self._n_weightings() > 1 and not self.stopped:
            several = self._refresh(best[-1], chosen, self._n_weightings(), seed, last=True)
            if several.quality >= quality - _SLACK and _all_relevant(best[-1], several):
                best = [*best, several]
        return best

    def _n_weightings(self) -> int:
        return min(self.model.n_weightings, self.n_clusters)

    def _refined(self, first: Round, loss: Loss, seed: int) -> list[Round]:
        rounds = [first]
        for number in range(1, _refreshes(self.model) + 1):
            if self.stopped:
                break
            last = number == _refreshes(self.model)
            rounds.append(self._refresh(rounds[-1], loss, 1, seed, last))
        return rounds

    def _refresh(self, before: Round, loss: Loss, m: int, seed: int, last: bool) -> Round:
        """New weights from the clusters found, then a round with them."""
        groups = _group_clusters(before.moments, m, seed)
        omega, price = relevance_weights(before.moments, groups, m, loss)
        return self._round(Weights(omega, price), before.labels, seed, last)

    def _round(
        self, weights: Weights | None, labels: np.ndarray | None, seed: int, last: bool
    ) -> Round:
        n, d = self.data.shape
        first = weights is None
        if weights is None:
            weights = Weights(np.ones((1, d)), np.zeros((1, d)))
        root = np.sqrt(weights.top)
        lengths = row_lengths(self._view(np.ones(n), root), self.crew)
        scales = np.divide(1, lengths, out=np.ones(n), where=lengths > 0)
        view = self._view(scales, np.ones(d))
        mean = column_sums(view, self.crew)[0] / n
        rows = ScaledRows(self.data, Scaling(scales, self.caps, root))
        graph = self._build_graph(rows)
        U, V = self._initial(rows, root, scales, seed, first)
        P, prices = self._assignments(view, weights, mean, labels)
        # Rows have unit length (or are zero), so the share of the mean is what does not vary.
        energy = max(float(np.mean(lengths > 0)), _TINY)
        varying = max(1 - float(weights.top @ mean**2) / energy, 0.0)
        used = float(np.sum(P.astype(np.float64) ** 2, axis=1).mean())
        strength = float(self.model.smoothness) * varying * used
        setting = Setting(weights, scales, mean, strength, graph)
        factors = Factors(U, V, P, weights.omega)
        result = self._solve(view, setting, factors, prices, last)
        found = kmeans_on(result.factors.V, self.n_clusters, self.labels_seed).labels_
        moments = cluster_moments(view, found, self.n_clusters, mean, self.crew)
        quality = -result.objective if graph is None else modularity(graph, found)
        if self.model.verbose:
            kept = np.count_nonzero(weights.top)
            print(f"[FNMF] round: {kept} of {d} features used, quality {quality:.4f}")
        return Round(setting, result, found, moments, quality)

    def _view(self, rows: np.ndarray, columns: np.ndarray) -> View:
        return scaled_view_of(self.data, Scaling(rows, self.caps, columns))

    def _build_graph(self, rows: ScaledRows) -> sp.csr_array | None:
        if not isinstance(self.model.graph, str):
            return self.graph
        return self.model._neighbor_graph(rows)

    def _initial(
        self,
        rows: ScaledRows,
        root: np.ndarray,
        scales: np.ndarray,
        seed: int,
        first: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Basis with columns of unit length, and codes."""
        rng = np.random.RandomState(seed)
        c = self.model.n_components
        if first and not (isinstance(self.model.init, str) and self.model.init == "kmeans"):
            U, V = initial_factors(self.data, c, self.model.init, 1.0, rng)
            V *= scales[:, None].astype(V.dtype)
        else:
            U, V = initial_factors(rows, c, "kmeans", 1.0, rng)
            kept = rows.kept[root[rows.kept] > 0]
            scaled = U[root[rows.kept] > 0] / root[kept, None]
            U = np.zeros((len(root), c))
            U[kept] = scaled
        norms = np.sqrt(np.sum((root[:, None] * U) ** 2, axis=0))
        norms = np.where(norms > 0, norms, 1)
        dtype = working_dtype(self.data.dtype)
        return (U / norms).astype(dtype), (V * norms).astype(dtype)

    def _assignments(
        self, view: View, weights: Weights, mean: np.ndarray, labels: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Starting assignments from the clusters of the last round, and the prices."""
        n, m = view.shape[0], len(weights.omega)
        nothing = np.zeros(n, np.intp)
        prices = weighted_distances(view, mean[None], nothing, weights.price, self.crew)
        if m == 1 or labels is None:
            return np.ones((1, 1), view.dtype), prices
        moments = cluster_moments(view, labels, self.n_clusters, mean, self.crew)
        centres = mean + moments.shifts
        q = weighted_distances(view, centres, labels, weights.omega, self.crew) + prices
        if self.model.assignment == "shared":
            q = q.sum(axis=0, keepdims=True)
        q = np.maximum(q, _TINY)
        share = q.min(axis=1, keepdims=True) / q
        return (share / share.sum(axis=1, keepdims=True)).astype(view.dtype), prices

    def _solve(
        self, view: View, setting: Setting, factors: Factors, prices: np.ndarray, last: bool
    ) -> Result:
        model = self.model
        options = Options(
            weighting=FixedWeighting(on_residual=True),
            shared=len(factors.P) == 1,
            smoothness=setting.strength,
            solver=model.solver,
            normalize=True,
            max_iter=model.max_iter if last else -(-model.max_iter // _SHORTER),
            tol=float(model.tol),
            prices=prices,
        )
        watch: Callable[[Progress], bool] | None = None
        if (observe := self.observe) is not None:

            def watch(progress: Progress) -> bool:
                self.stopped = self.stopped or observe(setting, progress)
                return self.stopped

        result = solve(Sweeps(view, setting.graph, self.crew), factors, options, watch)
        if last and (setting.graph is None or setting.strength == 0):
            _finish_codes(view, result, prices, options.shared)
        return result


def _all_relevant(single: Round, several: Round) -> bool:
    """Whether each of several weightings rests on features about as relevant as one would."""
    found = relevance(single.moments)
    needed = _AS_RELEVANT * float(_shares(single.setting.weights.omega)[0] @ found)
    used = several.setting.weights.omega
    return bool(np.all(used.sum(axis=1) > 0) and np.all(_shares(used) @ found >= needed))


def _shares(omega: np.ndarray) -> np.ndarray:
    """Weights that sum to 1; a weighting that uses no feature has no preference among them."""
    live = omega.max(axis=0) > 0
    sums = omega.sum(axis=1, keepdims=True)
    return np.where(sums > 0, omega / np.where(sums > 0, sums, 1), live / max(live.sum(), 1))


def _finish_codes(view: View, result: Result, prices: np.ndarray, shared: bool) -> None:
    """Without a graph rows are independent: end with the row solve that ``transform`` does."""
    factors = result.factors
    own = factors.P[0] if shared else None
    V, P, result.objective = encode(
        view, factors.U, factors.weights, True, own, None, None, prices=prices
    )
    factors.V = V.astype(factors.V.dtype)
    if not shared:
        factors.P = P.astype(factors.P.dtype)


def _group_clusters(moments: Moments, m: int, seed: int) -> np.ndarray:
    """Which weighting each cluster starts in: clusters of like profiles share one."""
    c = len(moments.counts)
    if m == 1:
        return np.zeros(c, np.intp)
    if m >= c:
        return np.arange(c)
    shapes = profiles(moments)
    distinct = len(np.unique(shapes, axis=0))
    with threadpool_limits(1):
        model = KMeans(min(m, distinct), n_init=10, random_state=seed).fit(shapes)
    return model.labels_


def relevance_attributes(
    setting: Setting, factors: Factors, data: Data, caps: np.ndarray, found: Moments | None
) -> dict[str, Any]:
    """Fitted attributes of a round, at its end or on the way."""
    omega = setting.weights.omega
    shares = _shares(omega)
    n = len(factors.V)
    P = factors.P if len(factors.P) == n else np.repeat(factors.P, n, axis=0)
    dtype = factors.V.dtype
    explained = relevance(found) if found is not None else np.zeros(data.shape[1])
    total = explained.sum()
    importances = explained / total if total > 0 else shares.mean(axis=0)
    return {
        "components_": np.ascontiguousarray(factors.U.T),
        "embedding_": factors.V,
        "feature_weights_": shares.astype(dtype),
        "assignments_": P,
        "feature_relevance_": explained.astype(dtype),
        "feature_importances_": importances.astype(dtype),
        "effective_features_": effective_features(shares).astype(dtype),
        "graph_": setting.graph,
        "_fit_X": data,
        "_caps": caps,
        "_omega": omega,
        "_prices": setting.weights.price,
        "_mean": setting.mean,
        "_row_scales": setting.row_scales,
        "_strength": setting.strength,
    }


def most_iterations(model: FNMF) -> int:
    """Upper limit over all rounds of a start."""
    refreshes = _refreshes(model)
    if refreshes == 0:
        return int(model.max_iter)
    short = -(-model.max_iter // _SHORTER)
    return int(short + len(LOSSES) * ((refreshes - 1) * short + model.max_iter) + model.max_iter)


def _refreshes(model: FNMF) -> int:
    return DEFAULT_REFRESHES if model.graph_refresh is None else int(model.graph_refresh)


def encode_relevance(model: FNMF, data: Data) -> np.ndarray:
    """Codes of new rows, in the units of the last round."""
    n, d = data.shape
    root = np.sqrt(model._omega.max(axis=0))
    with crew(model.n_jobs) as workers:
        raw = scaled_view_of(data, Scaling(np.ones(n), model._caps, root))
        lengths = row_lengths(raw, workers)
        scales = np.divide(1, lengths, out=np.ones(n), where=lengths > 0)
        view = scaled_view_of(data, Scaling(scales, model._caps, np.ones(d)))
        nothing = np.zeros(n, np.intp)
        prices = weighted_distances(view, model._mean[None], nothing, model._prices, workers)
    # Sparse rows keep all features, so dense rows must when they meet.
    drop = all(isinstance(X, np.ndarray) for X in (data, model._fit_X))
    fitted = ScaledRows(model._fit_X, Scaling(model._row_scales, model._caps, root), drop)
    queries = ScaledRows(data, Scaling(scales, model._caps, root), drop)
    pull, drag = graph_ties(model, fitted, queries, model._strength)
    one = len(model._omega) == 1 or model.assignment == "shared"
    shared = model.assignments_[0] if one else None
    V, _, _ = encode(
        view, model.components_.T, model._omega, True, shared, pull, drag, prices=prices
    )
    return V.astype(working_dtype(data.dtype))
