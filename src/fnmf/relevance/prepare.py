"""Rows on their way into a scheme and out of it, for fits and for new rows alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fnmf.data import Scaling, View
from fnmf.execution import RowArray, Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.statistics import (
    Moments,
    cluster_moments,
    column_means,
    column_ranges,
    column_sums,
    mean_square,
    rounded,
    unit_scales,
)

_TINY = 1e-12

# Fourth powers of what is smaller beside the largest typical value are no numbers.
_FAINT = 1e-30


@dataclass(frozen=True)
class Preparation:
    """How columns are treated before anything else.

    Attributes
    ----------
    caps : ndarray of shape (d,)
        Largest values let through.
    units : ndarray of shape (d,)
        Factors that bring features to common units.
    """

    caps: np.ndarray
    units: np.ndarray

    def view(
        self, view: View, rows: RowArray, columns: np.ndarray | None = None, *, drop: bool = False
    ) -> View:
        """Capped rows in common units, times further factors of rows and columns."""
        factors = self.units if columns is None else columns * self.units
        return view.scaled(Scaling(rows, self.caps, factors), drop)


@dataclass(frozen=True)
class Weights:
    """Weights ω and prices π, both (m, d)."""

    omega: np.ndarray
    price: np.ndarray

    @property
    def top(self) -> np.ndarray:
        """Largest weight of each feature."""
        return self.omega.max(axis=0)

    def shared(self, counts: np.ndarray) -> Weights:
        """The same where each feature counts so much, (d,), as copies do that share one vote."""
        return Weights(self.omega * counts, self.price * counts)


@dataclass(frozen=True)
class FeatureStatistics:
    """What is known of X before anything is chosen.

    Attributes
    ----------
    view : View
        X as it is.
    typical, caps : ndarray of shape (d,)
        Mean of the positive values of each feature, and the largest values let through.
    raw : View
        Capped rows in the units of the data.
    n_faint : int
        Number of features too small beside the largest one to be seen; they are capped at 0.
    signed : bool
        Whether there are negative values: 0 is then no natural end, so that neither typical
        values nor caps at multiples of these nor directions from 0 mean anything.
    """

    view: View
    typical: np.ndarray
    caps: np.ndarray
    raw: View
    n_faint: int = 0
    signed: bool = False

    def capped_at(self, caps: np.ndarray) -> FeatureStatistics:
        """The same with values capped elsewhere."""
        return capped_statistics(self.view, self.typical, caps, self.n_faint)


@dataclass(frozen=True)
class PreparedRows:
    """Rows as a fit sees them.

    Attributes
    ----------
    source : View
        Rows as they are.
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

    source: View
    columns: Preparation
    scales: RowArray
    row_scale: float | None
    view: View
    weighted: View
    mean: np.ndarray
    energy: float
    varying: float

    @property
    def counted(self) -> View:
        """The scaled rows times the roots of what they count, as the solver sees them.

        With codes times the same roots, every sample has its weight in the data term.
        """
        if self.view.root is None:
            return self.view
        return self.columns.view(self.source, self.scales * self.view.root).weighing(None)

    def used(self, features: np.ndarray) -> View:
        """The same without the features that have no part."""
        root = self.view.root
        scales = self.scales if root is None else self.scales * root
        return self.columns.view(self.source, scales, features, drop=True).weighing(None)


def feature_statistics(
    view: View, runner: Runner, defaults: Defaults = DEFAULTS, *, signed: bool = False
) -> FeatureStatistics:
    """Typical values of the columns, and the rows capped at a multiple of these.

    ``signed`` rows may have negative values. If they do, the typical value is the largest one, for
    its size only, and nothing is capped.
    """
    if signed:
        lowest, highest = column_ranges(view, runner)
        if lowest.min() < 0:
            size = np.maximum(np.abs(lowest), np.abs(highest)).astype(np.float64)
            without = np.full(len(size), np.inf)
            return replace(capped_statistics(view, size, without), signed=True)
    sums, positive = column_sums(view, runner)
    typical = rounded(sums / np.maximum(positive, 1))
    seen = typical > _FAINT * typical.max(initial=0)
    n_faint = int(np.count_nonzero(typical[~seen]))
    typical = np.where(seen, typical, 0)
    return capped_statistics(view, typical, defaults.cap * typical, n_faint)


def capped_statistics(
    view: View, typical: np.ndarray, caps: np.ndarray, n_faint: int = 0
) -> FeatureStatistics:
    """Rows capped at ``caps``."""
    raw = Preparation(caps, np.ones(len(caps))).view(view, view.constant(1.0))
    return FeatureStatistics(view, typical, caps, raw, n_faint)


def prepare(
    statistics: FeatureStatistics, units: np.ndarray, weights: Weights, unit: bool, runner: Runner
) -> PreparedRows:
    """Rows of unit length in the weighted features, or all times the same number."""
    view, top = statistics.view, weights.top
    columns, root = Preparation(statistics.caps, units), np.sqrt(top)
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
    mean = column_means(scaled, runner)
    varying = max(1 - float(top @ mean**2) / energy, 0.0)
    weighted = columns.view(view, scales, root, drop=True)
    return PreparedRows(view, columns, scales, row_scale, scaled, weighted, mean, energy, varying)


def capped_moments(
    statistics: FeatureStatistics, labels: RowArray, n_clusters: int, runner: Runner
) -> Moments:
    """What clusters look like in capped rows as they are.

    The length of a row depends on its cluster: scaled by it, every feature would seem to.
    """
    mean = column_means(statistics.raw, runner)
    return cluster_moments(statistics.raw, labels, n_clusters, mean, runner)
