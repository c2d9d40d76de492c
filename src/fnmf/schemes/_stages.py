"""The stages of a fit by relevance, each a function over values.

    measure → (choose) → prepare → (hold) → start → price and assign → (solve) → look

The ones in brackets have files of their own. Nothing here keeps a state, and all of it works on
any view, whole or a subset of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fnmf.data import View
from fnmf.runners import Feed, RowArray, Rows, Runner, parts_of
from fnmf.schemes._rows import Preparation, rounded, unit_scales
from fnmf.schemes._start import initial_factors, partition_codes
from fnmf.solver import (
    DistancesTo,
    Factors,
    cluster_moments,
    column_sums,
    mean_square,
    weighted_distances,
)
from fnmf.terms import Moments

# Values of a feature are cut off at this many times the mean of its positive ones.
_CAP = 2.0
# Features this small beside the largest one have fourth powers that are no numbers any more.
_FAINT = 1e-30
# A share of the mean keeps a start off 0, which a multiplicative update could never leave.
_OF_MEAN = 0.01
_TINY = 1e-12


@dataclass(frozen=True)
class Weights:
    """Weights ω and prices π, both (m, d)."""

    omega: np.ndarray
    price: np.ndarray

    @property
    def top(self) -> np.ndarray:
        """Largest weight of each feature."""
        return self.omega.max(axis=0)


@dataclass(frozen=True)
class Measured:
    """What is known of X before anything is chosen.

    Attributes
    ----------
    view : View
        X as it is.
    typical, caps : ndarray of shape (d,)
        Mean of the positive values of each feature, and the largest values let through.
    raw : View
        Capped rows in the units of the data.
    faint : int
        Number of features too small beside the largest one to be seen; they are capped at 0.
    """

    view: View
    typical: np.ndarray
    caps: np.ndarray
    raw: View
    faint: int


@dataclass(frozen=True)
class Prepared:
    """Rows as a fit sees them.

    Attributes
    ----------
    columns : Preparation
        Caps and units.
    scales : array of shape (n,)
        Factors of the rows.
    row_scale : float or None
        The one factor of all rows, or ``None`` if each is brought to unit length.
    view, weighted : View
        The scaled rows; and with the roots of the weights on their features, unused ones left
        out, in which distances are measured.
    mean : ndarray of shape (d,)
        Mean of the scaled rows.
    energy : float
        Mean square of the weighted rows.
    varying : float
        Share of it that is not in the mean.
    """

    columns: Preparation
    scales: RowArray
    row_scale: float | None
    view: View
    weighted: View
    mean: np.ndarray
    energy: float
    varying: float


def measure(view: View, runner: Runner) -> Measured:
    """Typical values of the columns, and the rows cut off at twice these."""
    d = view.shape[1]
    sums, positive = column_sums(view, runner)
    typical = rounded(sums / np.maximum(positive, 1))
    seen = typical > _FAINT * typical.max(initial=0)
    faint = int(np.count_nonzero(typical[~seen]))
    typical = np.where(seen, typical, 0)
    caps = _CAP * typical
    raw = Preparation(caps, np.ones(d)).view(view, view.constant(1.0))
    return Measured(view, typical, caps, raw, faint)


def prepare(
    measured: Measured, units: np.ndarray, weights: Weights, unit: bool, runner: Runner
) -> Prepared:
    """Rows of unit length in the weighted features, or all times the same number."""
    view, top = measured.view, weights.top
    columns, root, n = Preparation(measured.caps, units), np.sqrt(top), view.shape[0]
    plain = columns.view(view, view.constant(1.0), root)
    if unit:
        scales, filled = unit_scales(plain, runner, rough=True)
        row_scale, energy = None, max(filled, _TINY)
    else:
        # A mean square of 1 gives β the meaning it has for rows of unit length.
        size = float(np.sqrt(mean_square(plain, runner)))
        row_scale, energy = (1 / size if size > 0 else 1.0), 1.0
        scales = view.constant(row_scale)
    scaled = columns.view(view, scales)
    mean = column_sums(scaled, runner)[0] / n
    varying = max(1 - float(top @ mean**2) / energy, 0.0)
    weighted = columns.view(view, scales, root, drop=True)
    return Prepared(columns, scales, row_scale, scaled, weighted, mean, energy, varying)


def start_from(
    prepared: Prepared,
    weights: Weights,
    labels: RowArray,
    moments: Moments,
    runner: Runner,
) -> tuple[np.ndarray, RowArray]:
    """Basis with columns of unit length from the means of clusters, and codes from their labels."""
    U = (prepared.mean + (1 - _OF_MEAN) * moments.shifts).T * (weights.top > 0)[:, None]
    norms = column_norms(U, np.sqrt(weights.top))
    V = partition_codes(labels, len(norms), prepared.view, runner, norms)
    return (U / norms).astype(prepared.view.dtype), V


def kmeans_start(
    prepared: Prepared, weights: Weights, n_components: int, seed: int, runner: Runner
) -> tuple[np.ndarray, RowArray]:
    """The same from k-means on the weighted rows, where nothing else tells clusters."""
    rows, root = prepared.weighted, np.sqrt(weights.top)
    rng = np.random.RandomState(seed)
    found, V = initial_factors(rows, n_components, "kmeans", 1.0, rng, runner)
    used = root[rows.kept] > 0
    U = np.zeros((len(root), n_components))
    U[rows.kept[used]] = found[used] / root[rows.kept[used], None]
    return unit_columns(U, V, root, prepared.view, runner)


def given_start(
    measured: Measured, prepared: Prepared, n_components: int, init: Any, seed: int, runner: Runner
) -> tuple[np.ndarray, RowArray]:
    """The same from any start for X as it is."""
    rng = np.random.RandomState(seed)
    U, V = initial_factors(measured.view, n_components, init, 1.0, rng, runner)
    U = U * prepared.columns.units[:, None]
    return unit_columns(U, V, np.ones(len(U)), prepared.view, runner, prepared.scales)


def price_samples(
    view: View, mean: np.ndarray, price: np.ndarray, runner: Runner, dtype: Any = np.float64
) -> RowArray | None:
    """What each weighting leaves out of each sample, (n, m); ``None`` if that is nothing."""
    if not price.any():
        return None
    return weighted_distances(view, mean, price, runner, dtype)


def assign_samples(
    prepared: Prepared,
    weights: Weights,
    labels: RowArray,
    centres: np.ndarray,
    prices: RowArray | None,
    runner: Runner,
) -> RowArray:
    """The assignment of every sample that is best for its cluster's centre and prices, (n, m)."""
    view = prepared.view
    P = runner.empty(view, (len(weights.omega),), view.dtype)
    given = (labels,) if prices is None else (labels, prices)
    work = _AssignWork(DistancesTo(centres, weights.omega))
    runner.sweep(work, parts_of(view), (P, *given))
    return P


@dataclass(frozen=True)
class _AssignWork:
    """Rows are the assignments, labels and, if there are any, prices."""

    fills: ClassVar = (0,)
    costs: DistancesTo

    def __call__(self, block: tuple[View], rows: Rows) -> tuple[Rows, tuple[()]]:
        (part,), (P, labels, *prices) = block, rows
        costs = self.costs(part, labels)
        P[:] = best_assignment(costs + prices[0] if prices else costs)
        return rows, ()


def assign_together(
    prepared: Prepared,
    weights: Weights,
    labels: RowArray,
    centres: np.ndarray,
    price_sums: np.ndarray,
    runner: Runner,
) -> np.ndarray:
    """The one assignment that is best for all samples together, (1, m)."""
    work = _CostWork(DistancesTo(centres, weights.omega))
    (costs,) = runner.sweep(work, parts_of(prepared.view), (labels,))
    return best_assignment((costs + price_sums)[None]).astype(prepared.view.dtype)


@dataclass(frozen=True)
class _CostWork:
    """Costs of all samples; rows are the labels."""

    fills: ClassVar = ()
    costs: DistancesTo

    def __call__(self, block: tuple[View], rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        return rows, (self.costs(block[0], rows[0]).sum(axis=0),)


def best_assignment(q: np.ndarray) -> np.ndarray:
    """What minimises Σ_j p_j² q_j, for each row of costs."""
    q = np.maximum(q, _TINY)
    share = q.min(axis=1, keepdims=True) / q
    return share / share.sum(axis=1, keepdims=True)


def sums_of(rows: RowArray, view: View, runner: Runner, *, squared: bool = False) -> np.ndarray:
    """Sums of the columns over all rows, or of their squares."""
    return runner.sweep(_SumWork(squared), Feed(view), (rows,))[0]


@dataclass(frozen=True)
class _SumWork:
    fills: ClassVar = ()
    squared: bool

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        own = rows[0].astype(np.float64)
        return rows, ((own * own if self.squared else own).sum(axis=0),)


def used_share(factors: Factors, view: View, runner: Runner) -> float:
    """Mean of Σ_j p_ij²: how much of the data term the assignment leaves."""
    if len(factors.P) == 1:
        return float(np.sum(factors.P.astype(np.float64) ** 2))
    return float(sums_of(factors.P, view, runner, squared=True).sum()) / len(factors.P)


def look(measured: Measured, labels: RowArray, n_clusters: int, runner: Runner) -> Moments:
    """What clusters look like in capped rows as they are.

    The length of a row depends on its cluster: scaled by it, every feature would seem to.
    """
    mean = column_sums(measured.raw, runner)[0] / measured.view.shape[0]
    return cluster_moments(measured.raw, labels, n_clusters, mean, runner)


def column_norms(U: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Lengths of the columns of U in the weighted features; 1 for those without any."""
    norms = np.sqrt(np.sum((root[:, None] * U) ** 2, axis=0))
    return np.where(norms > 0, norms, 1)


def unit_columns(
    U: np.ndarray,
    V: RowArray,
    root: np.ndarray,
    view: View,
    runner: Runner,
    scales: RowArray | None = None,
) -> tuple[np.ndarray, RowArray]:
    """Columns of U at unit length in the weighted features, those of V in return.

    Codes of rows that are rescaled by ``scales`` are rescaled with them.
    """
    norms = column_norms(U, root)
    out = runner.empty(view, V.shape[1:], view.dtype)
    given = (V,) if scales is None else (V, scales)
    runner.sweep(_ScaleWork(norms), Feed(view), (out, *given))
    return (U / norms).astype(view.dtype), out


@dataclass(frozen=True)
class _ScaleWork:
    """Codes times factors of their columns; rows are the place for them, they, factors of rows."""

    fills: ClassVar = (0,)
    norms: np.ndarray

    def __call__(self, block: tuple[()], rows: Rows) -> tuple[Rows, tuple[()]]:
        out, V, *scales = rows
        for factors in scales:
            V = V * factors[:, None].astype(V.dtype)
        out[:] = V * self.norms
        return rows, ()
