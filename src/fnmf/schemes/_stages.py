"""The stages of a fit by relevance, each a function over values.

    measure → (choose) → prepare → (hold) → start → price and assign → (solve) → look

The ones in brackets have files of their own. Nothing here keeps a state, and all of it works on
any view, whole or a subset of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.runners import Runner
from fnmf.schemes._rows import Preparation, unit_scales
from fnmf.schemes._start import SOFTNESS, initial_factors
from fnmf.solver import Factors, cluster_moments, column_sums, row_lengths, weighted_distances
from fnmf.terms import Moments

# Values of a feature are cut off at this many times the mean of its positive ones.
_CAP = 2.0
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
    """

    view: View
    typical: np.ndarray
    caps: np.ndarray
    raw: View


@dataclass(frozen=True)
class Prepared:
    """Rows as a fit sees them.

    Attributes
    ----------
    columns : Preparation
        Caps and units.
    scales : ndarray of shape (n,)
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
    scales: np.ndarray
    row_scale: float | None
    view: View
    weighted: View
    mean: np.ndarray
    energy: float
    varying: float


def measure(view: View, runner: Runner) -> Measured:
    """Typical values of the columns, and the rows cut off at twice these."""
    n, d = view.shape
    sums, positive = column_sums(view, runner)
    typical = _rounded(sums / np.maximum(positive, 1))
    caps = _CAP * typical
    return Measured(view, typical, caps, Preparation(caps, np.ones(d)).view(view, np.ones(n)))


def prepare(
    measured: Measured, units: np.ndarray, weights: Weights, unit: bool, runner: Runner
) -> Prepared:
    """Rows of unit length in the weighted features, or all times the same number."""
    view, top = measured.view, weights.top
    columns, root, n = Preparation(measured.caps, units), np.sqrt(top), view.shape[0]
    plain = columns.view(view, np.ones(n), root)
    if unit:
        lengths, scales = unit_scales(plain, runner)
        row_scale, energy = None, max(float(np.mean(lengths > 0)), _TINY)
        scales = _rounded(scales)
    else:
        # A mean square of 1 gives β the meaning it has for rows of unit length.
        size = float(np.sqrt(np.mean(row_lengths(plain, runner) ** 2)))
        row_scale, energy = (1 / size if size > 0 else 1.0), 1.0
        scales = np.full(n, row_scale)
    scaled = columns.view(view, scales)
    mean = column_sums(scaled, runner)[0] / n
    varying = max(1 - float(top @ mean**2) / energy, 0.0)
    weighted = columns.view(view, scales, root, drop=True)
    return Prepared(columns, scales, row_scale, scaled, weighted, mean, energy, varying)


def start_from(
    prepared: Prepared, weights: Weights, labels: np.ndarray, n_components: int, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """Basis with columns of unit length from the means of clusters, and codes from their labels."""
    moments = cluster_moments(prepared.view, labels, n_components, prepared.mean, runner)
    U = (prepared.mean + (1 - _OF_MEAN) * moments.shifts).T * (weights.top > 0)[:, None]
    V = np.full((len(labels), n_components), SOFTNESS)
    V[np.arange(len(labels)), labels] += 1
    return unit_columns(U, V, np.sqrt(weights.top), prepared.view.dtype)


def kmeans_start(
    prepared: Prepared, weights: Weights, n_components: int, seed: int, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """The same from k-means on the weighted rows, where nothing else tells clusters."""
    rows, root = prepared.weighted, np.sqrt(weights.top)
    rng = np.random.RandomState(seed)
    found, V = initial_factors(rows, n_components, "kmeans", 1.0, rng, runner)
    used = root[rows.kept] > 0
    U = np.zeros((len(root), n_components))
    U[rows.kept[used]] = found[used] / root[rows.kept[used], None]
    return unit_columns(U, V, root, rows.dtype)


def given_start(
    measured: Measured, prepared: Prepared, n_components: int, init: Any, seed: int, runner: Runner
) -> tuple[np.ndarray, np.ndarray]:
    """The same from any start for X as it is."""
    rng = np.random.RandomState(seed)
    U, V = initial_factors(measured.view, n_components, init, 1.0, rng, runner)
    U = U * prepared.columns.units[:, None]
    V *= prepared.scales[:, None].astype(V.dtype)
    return unit_columns(U, V, np.ones(len(U)), measured.view.dtype)


def cost_samples(
    prepared: Prepared, weights: Weights, labels: np.ndarray, n_clusters: int, runner: Runner
) -> np.ndarray:
    """Weighted squares of each sample about the centre of its cluster, (n, m)."""
    moments = cluster_moments(prepared.view, labels, n_clusters, prepared.mean, runner)
    centres = prepared.mean + moments.shifts
    return weighted_distances(prepared.view, centres, labels, weights.omega, runner)


def price_samples(view: View, mean: np.ndarray, price: np.ndarray, runner: Runner) -> np.ndarray:
    """What each weighting leaves out of each sample, (n, m)."""
    if not price.any():
        return np.zeros((view.shape[0], len(price)))
    nothing = np.zeros(view.shape[0], np.intp)
    return weighted_distances(view, mean[None], nothing, price, runner)


def assignments_from(q: np.ndarray, shared: bool, dtype: np.dtype) -> np.ndarray:
    """The assignment that is best for costs q (n, m)."""
    if shared:
        q = q.sum(axis=0, keepdims=True)
    q = np.maximum(q, _TINY)
    share = q.min(axis=1, keepdims=True) / q
    return (share / share.sum(axis=1, keepdims=True)).astype(dtype)


def used_share(factors: Factors) -> float:
    """Mean of Σ_j p_ij²: how much of the data term the assignment leaves."""
    return float(np.sum(factors.P.astype(np.float64) ** 2, axis=1).mean())


def look(measured: Measured, labels: np.ndarray, n_clusters: int, runner: Runner) -> Moments:
    """What clusters look like in capped rows as they are.

    The length of a row depends on its cluster: scaled by it, every feature would seem to.
    """
    mean = column_sums(measured.raw, runner)[0] / measured.view.shape[0]
    return cluster_moments(measured.raw, labels, n_clusters, mean, runner)


def _rounded(values: np.ndarray) -> np.ndarray:
    """To the digits that do not depend on how the data are stored, and so on the order of sums.

    Where rows repeat themselves, as documents do, the last digit decides which of several
    neighbours at one distance is taken.
    """
    rough = np.frexp(values)
    return np.ldexp(np.round(rough[0] * 2.0**24) / 2.0**24, rough[1])


def unit_columns(
    U: np.ndarray, V: np.ndarray, root: np.ndarray, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of U at unit length in the weighted features, those of V in return."""
    norms = np.sqrt(np.sum((root[:, None] * U) ** 2, axis=0))
    norms = np.where(norms > 0, norms, 1)
    return (U / norms).astype(dtype), (V * norms).astype(dtype)
