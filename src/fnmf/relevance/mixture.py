"""Groups in which the columns of a table are independent: numbers, flags and categories together.

Distances set levels of a category off against numbers by a convention. Likelihoods need none: a
group has a mean and a variance of each number, and a probability of each level, as in latent class
analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, logsumexp

from fnmf.kmeans import quick_kmeans
from fnmf.relevance.candidates import SearchContext
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.table_columns import CATEGORY, FLAG

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
        width = np.where(flags | categories, np.ptp(rows, axis=0), 1)
        counts = np.where(categories, 1, 1 / np.bincount(groups)[groups])
        # The probabilities of a category add up to 1.
        n_free = counts @ np.where(flags | categories, 1, 2) - len(np.unique(groups[categories]))
        return cls(flags, categories, rows.min(axis=0), width, counts, float(n_free))


class Mixture(NamedTuple):
    """How likely rows are in each group.

    The log likelihood of row x in group a is, up to a constant, intercepts[a] -
    Σ precisions[a] (x - centres[a])² / 2. A feature of two values fits that form too.

    Attributes
    ----------
    centres, precisions : ndarray of shape (k, d)
        Of each feature in each group.
    intercepts : ndarray of shape (k,)
        Of each group.
    """

    centres: np.ndarray
    precisions: np.ndarray
    intercepts: np.ndarray

    def log_likelihoods(self, rows: np.ndarray) -> np.ndarray:
        """Of each row in each group, (n, k)."""
        # About the middle of the centres squares keep their digits.
        middle = self.centres.mean(axis=0)
        rows, centres = rows - middle, self.centres - middle
        along = self.precisions * centres
        levels = self.intercepts - np.einsum("ad,ad->a", along, centres) / 2
        return levels + rows @ along.T - (rows * rows) @ self.precisions.T / 2

    def labels(self, rows: np.ndarray) -> np.ndarray:
        """The group in which each row is likeliest."""
        return self.log_likelihoods(rows).argmax(axis=1)

    def among(self, features: np.ndarray, width: int) -> Mixture:
        """The same for rows of so many features, of which these count."""
        centres, precisions = np.zeros((2, len(self.intercepts), width))
        centres[:, features], precisions[:, features] = self.centres, self.precisions
        return Mixture(centres, precisions, self.intercepts)

    def in_units(self, factors: np.ndarray, shift: np.ndarray) -> Mixture:
        """The same for rows that are factors (x + shift)."""
        centres, precisions = factors * (self.centres + shift), self.precisions / factors**2
        return Mixture(centres, precisions, self.intercepts)


def sample_mixture(
    context: SearchContext, factors: np.ndarray, some: Any = slice(None)
) -> tuple[Mixture, np.ndarray]:
    """A mixture of the standardised rows of a table, or of some, begun with clusters about means.

    Returns the mixture and the features with a factor, which it is of.
    """
    table, (rows, levels, used) = context.table, _standardised(context, factors)
    own = None if table.weights is None else table.weights[some]
    k, defaults, rng = context.n_clusters, context.defaults, np.random.RandomState(context.seed)
    scaled = table.scaled(factors, unit=False)[some]
    starts = [quick_kmeans(scaled, k, rng, own) for _ in range(2 * defaults.starts)]
    return fit_mixture(rows[some], levels, starts, k, own, defaults), used


def completed_likelihoods(
    context: SearchContext, factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Integrated completed log likelihood of the groups of all rows, by row, and their labels.

    A row counts with its likelihood, less what is not known of its group, as groups that overlap
    are no clusters, and less its part of the price of all parameters.
    """
    rows, levels, _ = _standardised(context, factors)
    fits = sample_mixture(context, factors)[0].log_likelihoods(rows)
    together, total = logsumexp(fits, axis=1), context.table.total
    unknown = entr(np.exp(fits - together[:, None])).sum(axis=1)
    n_parameters = context.n_clusters * (levels.n_free + 1) - 1
    price = n_parameters * np.log(total) / (2 * total)
    return together - unknown - price, fits.argmax(axis=1)


def _standardised(
    context: SearchContext, factors: np.ndarray
) -> tuple[np.ndarray, Levels, np.ndarray]:
    """Rows in the features with a factor, what is known of these, and which they are."""
    used = np.flatnonzero(factors)
    assert context.kinds is not None
    rows = context.table.rows[:, used].astype(np.float64)
    return rows, Levels.of(rows, context.kinds[used], context.groups[used]), used


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
        Standardised rows, or some of them.
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
    own = np.ones(len(rows)) if weights is None else weights

    def improved(members: np.ndarray, steps: int) -> tuple[float, np.ndarray, Mixture]:
        for _ in range(steps):
            found = _groups(members * own[:, None], rows, levels, defaults)
            fits = found.log_likelihoods(rows)
            most = fits.max(axis=1, keepdims=True)
            before, members = members, np.exp(fits - most)
            total = members.sum(axis=1, keepdims=True)
            members /= total
            if np.abs(members - before).max() < defaults.negligible:
                break
        return float(own @ (most + np.log(total))[:, 0]), members, found

    begun = [improved(np.eye(n_clusters)[labels], defaults.splits) for labels in starts]
    best = max(begun, key=lambda one: one[0])
    return improved(best[1], _MOST_ITERATIONS)[2]


def _groups(members: np.ndarray, rows: np.ndarray, levels: Levels, defaults: Defaults) -> Mixture:
    """Groups to which rows belong in parts, each with one more row as all are on average."""
    counts = members.sum(axis=0)[:, None]
    sums, squares = members.T @ rows, members.T @ (rows * rows)
    means = sums / np.where(counts > 0, counts, 1)
    scatter = np.maximum(squares - counts * means**2, 0)
    variances = np.maximum((scatter + 1) / (counts + 1), defaults.small)
    # Rows are about their mean, so that the row on average is 0.
    share = (sums / (counts + 1) - levels.low) / levels.width
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
    )
