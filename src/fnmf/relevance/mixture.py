"""Groups in which the columns of a table are independent: numbers, flags and categories together.

Distances set levels of a category off against numbers by a convention. Likelihoods need none: a
group has a mean and a variance of each number, and a probability of each level, as in latent class
analysis. Numbers that are skewed, as amounts of money are, are taken in logarithms. A missing cell,
NaN, has no part in a likelihood, so that nothing has to be filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, logsumexp

from fnmf.kmeans import quick_kmeans
from fnmf.relevance.candidates import SearchContext
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.table_columns import CATEGORY, CONTINUOUS, FLAG

# Probabilities of groups have mostly come to rest long before.
_MOST_ITERATIONS = 100


class Levels(NamedTuple):
    """Which features are levels, of a flag or of a category, and what values they have.

    Attributes
    ----------
    flags, categories : ndarray of bool of shape (d,)
        Whether a feature is a flag, or one of the levels of a category.
    low, width : ndarray of shape (d,)
        Its lower value, and how far the higher one is from it; 1 for numbers.
    counts : ndarray of shape (d,)
        How much it counts: copies count once together.
    n_free : float
        Means, variances and probabilities of one group.
    """

    flags: np.ndarray
    categories: np.ndarray
    low: np.ndarray
    width: np.ndarray
    counts: np.ndarray
    n_free: float

    @classmethod
    def of(cls, rows: np.ndarray, kinds: np.ndarray, groups: np.ndarray) -> Levels:
        """Of the features of ``rows``, whose kinds and columns are known."""
        flags, categories = kinds == FLAG, kinds == CATEGORY
        low = np.nanmin(rows, axis=0)
        width = np.where(flags | categories, np.nanmax(rows, axis=0) - low, 1)
        counts = np.where(categories, 1, 1 / np.bincount(groups)[groups])
        # The probabilities of a category add up to 1.
        n_free = counts @ np.where(flags | categories, 1, 2) - len(np.unique(groups[categories]))
        return cls(flags, categories, low, width, counts, float(n_free))


class Curves(NamedTuple):
    """Features of which logarithms are taken: of how far above ``low`` a value is, plus ``offset``.

    Both are of shape (d,); the offset of all other features is 0.
    """

    low: np.ndarray
    offset: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, kinds: np.ndarray, weights: np.ndarray, least: float) -> Curves:
        """Of the continuous features that are likelier as a log-normal law than as a normal one.

        The offset is what all but the ``least`` share of the values exceed. Where that is the
        lowest one, as for amounts that are mostly 0, no logarithm makes them normal.
        """
        low, quantile = np.nanmin(rows, axis=0), np.quantile
        if np.isnan(rows).any():
            quantile = np.nanquantile
        offset, quantiles = np.zeros(len(low)), quantile(rows, least, axis=0) - low
        for k in np.flatnonzero((kinds == CONTINUOUS) & (quantiles > 0)):
            above, own = rows[:, k] - low[k], quantiles[k]
            curved = np.log(above + own)
            mean, spread = _mean_and_spread(curved, weights)
            if mean + np.log(spread) < np.log(_mean_and_spread(above, weights)[1]):
                offset[k] = own
        return cls(low, offset)

    def applied(self, rows: np.ndarray) -> np.ndarray:
        """Rows with the logarithms in place of these features."""
        curved = self.offset > 0
        if not curved.any():
            return rows
        above = np.maximum(rows[:, curved] - self.low[curved], 0) + self.offset[curved]
        rows = rows.copy()
        rows[:, curved] = np.log(above)
        return rows

    def in_units(self, factors: np.ndarray, shift: np.ndarray) -> Curves:
        """The same for rows that are factors (x + shift)."""
        return Curves(factors * (self.low + shift), factors * self.offset)


class Mixture(NamedTuple):
    """How likely rows are in each group.

    The log likelihood of row x in group a is, up to a constant, intercepts[a] -
    Σ precisions[a] (x - centres[a])² / 2. A feature of two values fits that form too. Without a
    cell its offset is missing from the intercept.

    Attributes
    ----------
    centres, precisions : ndarray of shape (k, d)
        Of each feature in each group.
    intercepts : ndarray of shape (k,)
        Of each group.
    offsets : ndarray of shape (k, d)
        Part of each feature in these.
    curves : Curves
        Features that enter by their logarithms.
    """

    centres: np.ndarray
    precisions: np.ndarray
    intercepts: np.ndarray
    offsets: np.ndarray
    curves: Curves

    def log_likelihoods(self, rows: np.ndarray) -> np.ndarray:
        """Of each row in each group, (n, k)."""
        # About the middle of the centres squares keep their digits.
        middle = self.centres.mean(axis=0)
        about = self._replace(centres=self.centres - middle)
        return about.of_powers(_powers(self.curves.applied(rows) - middle))

    def of_powers(self, powers: np.ndarray) -> np.ndarray:
        """The same of what ``_powers`` returns, logarithms already taken."""
        along = self.precisions * self.centres
        parts = [along, -self.precisions / 2]
        if powers.shape[1] == 2 * along.shape[1]:
            levels = self.intercepts - np.einsum("ad,ad->a", along, self.centres) / 2
        else:
            levels = self.intercepts - self.offsets.sum(axis=1)
            parts += [self.offsets - along * self.centres / 2]
        return levels + powers @ np.hstack(parts).T

    def labels(self, rows: np.ndarray) -> np.ndarray:
        """The group in which each row is likeliest."""
        return self.log_likelihoods(rows).argmax(axis=1)

    def among(self, features: np.ndarray, width: int) -> Mixture:
        """The same for rows of so many features, of which these count."""
        parts = self.centres, self.precisions, self.offsets, *self.curves
        placed = [np.zeros((*part.shape[:-1], width)) for part in parts]
        for whole, part in zip(placed, parts, strict=True):
            whole[..., features] = part
        centres, precisions, offsets, *curves = placed
        return Mixture(centres, precisions, self.intercepts, offsets, Curves(*curves))

    def in_units(self, factors: np.ndarray, shift: np.ndarray) -> Mixture:
        """The same for rows that are factors (x + shift)."""
        curved = self.curves.offset > 0
        centres = np.where(curved, self.centres + np.log(factors), factors * (self.centres + shift))
        precisions = self.precisions / np.where(curved, 1, factors**2)
        curves = self.curves.in_units(factors, shift)
        return self._replace(centres=centres, precisions=precisions, curves=curves)


def sample_mixture(
    context: SearchContext, factors: np.ndarray, some: Any = slice(None)
) -> tuple[Mixture, np.ndarray]:
    """A mixture of the standardised rows of a table, or of some, begun with clusters about means.

    Returns the mixture and the features with a factor, which it is of.
    """
    table, known = context.table, _standardised(context, factors)
    own = None if table.weights is None else table.weights[some]
    k, defaults, rng = context.n_clusters, context.defaults, np.random.RandomState(context.seed)
    rows = known.rows[some]
    scaled = (rows * factors[known.used]).astype(np.float32)
    starts = [quick_kmeans(scaled, k, rng, own) for _ in range(2 * defaults.starts)]
    found = fit_mixture(known.given[some], known.levels, starts, k, own, defaults)
    # Logarithms were standardised; those of the rows themselves are not.
    centres, precisions = known.mean + known.spread * found.centres, found.precisions
    parts = {"centres": centres, "precisions": precisions / known.spread**2}
    return found._replace(**parts, curves=known.curves), known.used


def completed_likelihoods(
    context: SearchContext, factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Integrated completed log likelihood of the groups of all rows, by row, and their labels.

    A row counts with its likelihood, less what is not known of its group, as groups that overlap
    are no clusters, and less its part of the price of all parameters.
    """
    known, total = _standardised(context, factors), context.table.total
    rows = context.table.given(known.used)
    fits = sample_mixture(context, factors)[0].log_likelihoods(rows)
    together = logsumexp(fits, axis=1)
    unknown = entr(np.exp(fits - together[:, None])).sum(axis=1)
    n_parameters = context.n_clusters * (known.levels.n_free + 1) - 1
    price = n_parameters * np.log(total) / (2 * total)
    return together - unknown - price, fits.argmax(axis=1)


class _Standardised(NamedTuple):
    """Rows in the ``used`` features, logarithms standardised anew, and what is known of these.

    Missing cells are filled in ``rows``, and NaN in ``given``.
    """

    rows: np.ndarray
    given: np.ndarray
    levels: Levels
    used: np.ndarray
    curves: Curves
    mean: np.ndarray
    spread: np.ndarray


def _standardised(context: SearchContext, factors: np.ndarray) -> _Standardised:
    """Rows in the features with a factor."""
    used, table = np.flatnonzero(factors), context.table
    assert context.kinds is not None
    kinds, given = context.kinds[used], table.given(used)
    own = np.ones(len(given)) if table.weights is None else table.weights
    curves = Curves.of(given, kinds, own, context.defaults.slight)
    curved, given = curves.offset > 0, curves.applied(given)
    mean, spread = _mean_and_spread(given, own)
    mean, spread = np.where(curved, mean, 0), np.where(curved, spread, 1)
    rows = given = (given - mean) / spread
    if table.observed is not None:
        rows = (curves.applied(table.rows[:, used].astype(np.float64)) - mean) / spread
    levels = Levels.of(given, kinds, context.groups[used])
    return _Standardised(rows, given, levels, used, curves, mean, spread)


def _mean_and_spread(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of rows that count as often as their weights."""
    known = ~np.isnan(values)
    if not known.all():
        total, values = weights @ known, np.where(known, values, 0)
        mean = weights @ values / total
        return mean, np.sqrt(weights @ (known * (values - mean) ** 2) / total)
    mean = weights @ values / weights.sum()
    return mean, np.sqrt(weights @ (values - mean) ** 2 / weights.sum())


def fit_mixture(
    rows: np.ndarray,
    levels: Levels,
    starts: Sequence[np.ndarray],
    n_clusters: int,
    weights: np.ndarray | None,
    defaults: Defaults,
) -> Mixture:
    """The likeliest groups that expectation and maximisation lead to from some labels.

    All starts take a few steps; the one that is the likeliest then goes on.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Standardised rows, or some of them, NaN where a cell is missing.
    levels : Levels
        Which features are flags and categories.
    starts : sequence of ndarray of int of shape (n,)
        Groups to begin with.
    n_clusters : int
        Groups.
    weights : ndarray of shape (n,) or None
        As how many samples each row counts.
    defaults : Defaults
        The least variance of a number in a group, and how little the last step changes.
    """
    own, powers = np.ones(len(rows)) if weights is None else weights, _powers(rows)

    def improved(members: np.ndarray, steps: int) -> tuple[float, np.ndarray, Mixture]:
        for _ in range(steps):
            found = _groups(members * own[:, None], powers, levels, defaults)
            fits = found.of_powers(powers)
            most = fits.max(axis=1, keepdims=True)
            before, members = members, np.exp(fits - most)
            total = members.sum(axis=1, keepdims=True)
            members /= total
            if np.abs(members - before).max() < defaults.negligible:
                break
        return float(own @ (most + np.log(total))[:, 0]), members, found

    begun = [improved(np.eye(n_clusters)[labels], defaults.sweeps) for labels in starts]
    best = max(begun, key=lambda one: one[0])
    return improved(best[1], _MOST_ITERATIONS)[2]


def _powers(rows: np.ndarray) -> np.ndarray:
    """Values beside their squares, (n, 2 d).

    With missing cells, 0 in both, also whether a cell is known, (n, 3 d).
    """
    known = ~np.isnan(rows)
    if known.all():
        return np.hstack([rows, rows * rows])
    rows = np.where(known, rows, 0)
    return np.hstack([rows, rows * rows, known])


def _groups(members: np.ndarray, powers: np.ndarray, levels: Levels, defaults: Defaults) -> Mixture:
    """Groups to which rows belong in parts, each with one more row as all are on average."""
    counts = members.sum(axis=0)[:, None]
    sums, squares, *known = np.split(members.T @ powers, powers.shape[1] // len(levels.low), axis=1)
    cells = known[0] if known else counts
    means = sums / np.where(cells > 0, cells, 1)
    scatter = np.maximum(squares - cells * means**2, 0)
    variances = np.maximum((scatter + 1) / (cells + 1), defaults.small)
    # Rows are about their mean, so that the row on average is 0.
    share = (sums / (cells + 1) - levels.low) / levels.width
    is_level = levels.flags | levels.categories
    share = np.where(is_level, share, 0.5)
    absent = np.where(levels.flags, np.log1p(-share), 0.0)
    gained = np.log(share) - absent
    # Any two values are right at two places: those of a level lie on a parabola.
    turned = levels.low + levels.width * (0.5 + gained)
    start = absent + (levels.low - turned) ** 2 / levels.width**2 / 2
    parts = np.where(is_level, start, -np.log(variances) / 2)
    sizes = np.log((counts[:, 0] + 1) / (counts.sum() + len(counts)))
    return Mixture(
        np.where(is_level, turned, means),
        levels.counts * np.where(is_level, 1 / levels.width**2, 1 / variances),
        sizes + parts @ levels.counts,
        parts * levels.counts,
        Curves(*np.zeros((2, sums.shape[1]))),
    )
