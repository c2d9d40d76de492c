"""Fitting with ``weighting="relevance"``: rounds of factorisation, new weights between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fnmf._initial import initial_factors
from fnmf._labels import kmeans_on
from fnmf._seeding import fit_kmeans
from fnmf._validation import Data
from fnmf.engine.encode import encode
from fnmf.engine.moments import cluster_moments, column_sums, row_lengths, weighted_distances
from fnmf.engine.parallel import Crew
from fnmf.engine.scaled import Scaling, scaled_view_of
from fnmf.engine.solver import Factors, Options, Progress, Result, solve
from fnmf.engine.sweeps import Sweeps
from fnmf.engine.views import View, view_of, working_dtype
from fnmf.graph._rows import ScaledRows
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
# Units are wildly different, and made equal, when typical values differ by more than this factor.
_WILD = 100.0
# Several weightings must not lower the quality by more than this.
_SLACK = 0.005
# Several weightings must rest on features at least this relevant, relative to a single one's.
_AS_RELEVANT = 0.5
# Rounds before the last are this many times shorter.
_SHORTER = 5
DEFAULT_REFRESHES = 4
# A residual below this share of the variance is as good as none; see Options.floor.
_EXACT = 0.01
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
    raw: Moments
    quality: float

    # moments: of the rows as they were fitted. raw: of rows that were not scaled, since their
    # lengths, which the clusters know, would show in every feature.


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
        typical = sums / np.maximum(positive, 1)
        self.caps = _CAP * typical
        self.units = _common_units(typical)
        self.raw = self._view(np.ones(data.shape[0]), np.ones(data.shape[1]))
        self.raw_mean = column_sums(self.raw, crew)[0] / data.shape[0]
        self.n_clusters = model._n_clusters()

    def start(self, seed: int) -> list[Round]:
        """All rounds of the loss that was chosen, for one seed."""
        refreshes = _refreshes(self.model)
        first = self._round(None, None, seed, last=refreshes == 0)
        if refreshes == 0 or self.stopped:
            return [first]
        # Without a graph there is no modularity to choose by.
        losses = LOSSES if first.setting.graph is not None else LOSSES[:1]
        tried: dict[Loss, list[Round]] = {}
        for loss in losses:
            if not tried or not self.stopped:
                tried[loss] = self._refined(first, loss, seed)
        plain = tried[losses[0]][-1].quality
        enough = [loss for loss in tried if tried[loss][-1].quality >= plain + loss.gain]
        loss = max(enough, key=lambda loss: tried[loss][-1].quality)
        rounds = tried[loss]
        if self._n_weightings() > 1:
            rounds += self._several(rounds[-1], loss, seed)
        return rounds

    def _refined(self, first: Round, loss: Loss, seed: int) -> list[Round]:
        rounds, refreshes = [first], _refreshes(self.model)
        for number in range(1, refreshes + 1):
            if not self.stopped:
                last = number == refreshes
                rounds.append(self._refresh(rounds[-1], loss, 1, seed, last))
        return rounds

    def _several(self, single: Round, loss: Loss, seed: int) -> list[Round]:
        """A round with several weightings, if a short one shows that the data have them."""
        several = single
        for last in (False, True):
            if self.stopped:
                return []
            several = self._refresh(single, loss, self._n_weightings(), seed, last)
            worse = several.quality < single.quality - _SLACK
            if worse or not _all_relevant(single, several):
                return []
        return [several]

    def _n_weightings(self) -> int:
        return min(self.model.n_weightings, self.n_clusters)

    def _refresh(self, before: Round, loss: Loss, m: int, seed: int, last: bool) -> Round:
        """New weights from the clusters found, then a round with them."""
        groups = _group_clusters(before.raw, m, seed)
        omega, price = relevance_weights(before.raw, before.moments, groups, m, loss)
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
        rows = ScaledRows(self.data, Scaling(scales, self.caps, root * self.units))
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
        floor = _EXACT * n * energy * varying * used
        result = self._solve(view, setting, factors, prices, floor, last)
        found = kmeans_on(result.factors.V, self.n_clusters, self.labels_seed).labels_
        moments = cluster_moments(view, found, self.n_clusters, mean, self.crew)
        raw = cluster_moments(self.raw, found, self.n_clusters, self.raw_mean, self.crew)
        quality = -result.objective if graph is None else modularity(graph, found, self.n_clusters)
        if self.model.verbose:
            kept = np.count_nonzero(weights.top)
            print(f"[FNMF] round: {kept} of {d} features used, quality {quality:.4f}")
        return Round(setting, result, found, moments, raw, quality)

    def _view(self, rows: np.ndarray, columns: np.ndarray) -> View:
        return scaled_view_of(self.data, Scaling(rows, self.caps, columns * self.units))

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
            U = U * self.units[:, None]
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
        self,
        view: View,
        setting: Setting,
        factors: Factors,
        prices: np.ndarray,
        floor: float,
        last: bool,
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
            floor=floor,
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


def _common_units(typical: np.ndarray) -> np.ndarray:
    """Factors that make typical values 1 where they differ wildly, and otherwise change nothing.

    Features in their own units are better when these mean something, as pixels and counts do.
    """
    live = typical[typical > 0]
    if len(live) == 0 or np.quantile(live, 0.9) <= _WILD * np.quantile(live, 0.1):
        return np.ones(len(typical))
    return 1 / np.where(typical > 0, typical, 1)


def _all_relevant(single: Round, several: Round) -> bool:
    """Whether each of several weightings rests on features about as relevant as one would."""
    found = relevance(single.raw)
    needed = _AS_RELEVANT * float(weight_shares(single.setting.weights.omega)[0] @ found)
    used = several.setting.weights.omega
    return bool(np.all(used.sum(axis=1) > 0) and np.all(weight_shares(used) @ found >= needed))


def weight_shares(omega: np.ndarray) -> np.ndarray:
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
    return fit_kmeans(shapes, min(m, distinct), n_init=10, random_state=seed).labels_


def most_iterations(model: FNMF) -> int:
    """Upper limit over all rounds of a start."""
    refreshes = _refreshes(model)
    if refreshes == 0:
        return int(model.max_iter)
    short = -(-model.max_iter // _SHORTER)
    each = (refreshes - 1) * short + model.max_iter
    return int(2 * short + len(LOSSES) * each + model.max_iter)


def _refreshes(model: FNMF) -> int:
    return DEFAULT_REFRESHES if model.graph_refresh is None else int(model.graph_refresh)
