"""The stages of a round of relevance, each a function over values.

    measure → prepare → (graph) → start → price and assign → (solve) → (label) → look → (judge)

The ones in brackets belong to other packages. Nothing here keeps a state, and all of it works on
any view, whole or a subset of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fnmf.data import View
from fnmf.runners import Runner
from fnmf.schemes._rows import Preparation, unit_scales
from fnmf.schemes._start import initial_factors
from fnmf.solver import Factors, cluster_moments, column_sums, weighted_distances
from fnmf.terms import Moments

# Values of a feature are cut off at this many times the mean of its positive ones.
_CAP = 2.0
# Units are wildly different, and made equal, when typical values differ by more than this factor.
_WILD = 100.0
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
class Measured:
    """What all rounds share: X, how its columns are treated, and the rows that gives.

    Attributes
    ----------
    view : View
        X as it is.
    preparation : Preparation
        Caps and units.
    raw : View
        Capped rows in common units, not scaled to unit length.
    raw_mean : ndarray of shape (d,)
        Their mean.
    """

    view: View
    preparation: Preparation
    raw: View
    raw_mean: np.ndarray


@dataclass(frozen=True)
class Prepared:
    """Rows as a round sees them.

    Attributes
    ----------
    scales : ndarray of shape (n,)
        Factors that give them unit length in the weighted features.
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

    scales: np.ndarray
    view: View
    weighted: View
    mean: np.ndarray
    energy: float
    varying: float


@dataclass(frozen=True)
class Seen:
    """What clusters look like.

    Attributes
    ----------
    moments : Moments
        Of the rows as they were fitted.
    raw : Moments
        Of rows that were not scaled, since their lengths, which the clusters know, would show in
        every feature.
    """

    moments: Moments
    raw: Moments


def measure(view: View, runner: Runner) -> Measured:
    """Caps and units from the typical values of the columns."""
    n, d = view.shape
    sums, positive = column_sums(view, runner)
    typical = sums / np.maximum(positive, 1)
    preparation = Preparation(_CAP * typical, _common_units(typical))
    raw = preparation.view(view, np.ones(n), np.ones(d))
    return Measured(view, preparation, raw, column_sums(raw, runner)[0] / n)


def prepare(measured: Measured, weights: Weights, runner: Runner) -> Prepared:
    """Rows of unit length in the weighted features."""
    view, columns = measured.view, measured.preparation
    n, d = view.shape
    top = weights.top
    root = np.sqrt(top)
    lengths, scales = unit_scales(columns.view(view, np.ones(n), root), runner)
    scaled = columns.view(view, scales, np.ones(d))
    mean = column_sums(scaled, runner)[0] / n
    # Rows have unit length (or are zero), so the share of the mean is what does not vary.
    energy = max(float(np.mean(lengths > 0)), _TINY)
    varying = max(1 - float(top @ mean**2) / energy, 0.0)
    weighted = columns.view(view, scales, root, drop=True)
    return Prepared(scales, scaled, weighted, mean, energy, varying)


def kmeans_start(
    prepared: Prepared, weights: Weights, n_components: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Basis with columns of unit length, and codes, from k-means on the weighted rows."""
    rows, root = prepared.weighted, np.sqrt(weights.top)
    found, V = initial_factors(rows, n_components, "kmeans", 1.0, rng)
    used = root[rows.kept] > 0
    U = np.zeros((len(root), n_components))
    U[rows.kept[used]] = found[used] / root[rows.kept[used], None]
    return _unit_columns(U, V, root, rows.dtype)


def given_start(
    measured: Measured,
    prepared: Prepared,
    n_components: int,
    init: Any,
    rng: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """The same from any start for X as it is, before any feature has weight."""
    U, V = initial_factors(measured.view, n_components, init, 1.0, rng)
    U = U * measured.preparation.units[:, None]
    V *= prepared.scales[:, None].astype(V.dtype)
    return _unit_columns(U, V, np.ones(len(U)), measured.view.dtype)


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


def look(
    measured: Measured, prepared: Prepared, labels: np.ndarray, n_clusters: int, runner: Runner
) -> Seen:
    """Moments of the clusters."""
    return Seen(
        cluster_moments(prepared.view, labels, n_clusters, prepared.mean, runner),
        cluster_moments(measured.raw, labels, n_clusters, measured.raw_mean, runner),
    )


def _unit_columns(
    U: np.ndarray, V: np.ndarray, root: np.ndarray, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    norms = np.sqrt(np.sum((root[:, None] * U) ** 2, axis=0))
    norms = np.where(norms > 0, norms, 1)
    return (U / norms).astype(dtype), (V * norms).astype(dtype)


def _common_units(typical: np.ndarray) -> np.ndarray:
    """Factors that make typical values 1 where they differ wildly, and otherwise change nothing.

    Features in their own units are better when these mean something, as pixels and counts do.
    """
    live = typical[typical > 0]
    if len(live) == 0 or np.quantile(live, 0.9) <= _WILD * np.quantile(live, 0.1):
        return np.ones(len(typical))
    return 1 / np.where(typical > 0, typical, 1)
