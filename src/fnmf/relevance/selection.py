"""Selection among preparations: which found the better clusters, without any label."""

import numpy as np

from fnmf.relevance.defaults import DEFAULTS, Defaults

# Information that differs by less between shuffles does not differ.
_ROUNDING = 1e-9


def candidate_score(
    modularity: float,
    explained: float,
    columns: str,
    clusters: str,
    unit: bool,
    defaults: Defaults = DEFAULTS,
) -> float:
    """The larger, the better; comparable across graphs and features of the same samples.

    Parameters
    ----------
    modularity : float
        Of the clusters on their own graph, at most 1.
    explained : float
        Number of independent features that the clusters explain.
    columns : {"own", "typical", "gated", "spread"}
        Units of the features.
    clusters : {"graph", "means"}
        Where clusters come from.
    unit : bool
        Whether rows had unit length.
    defaults : Defaults
        Weights and prices of the score.
    """
    # A preparation must earn what it changes: common units lose digits that meant something, and
    # rows of unit length are the habit of the field.
    prior = defaults.common_units_price if columns in ("typical", "spread") else 0.0
    prior = prior + defaults.means_price * (clusters == "means")
    score = selection_score(modularity, explained, defaults)
    return score - prior + defaults.unit_rows_bonus * unit


def selection_score(modularity: float, explained: float, defaults: Defaults = DEFAULTS) -> float:
    """The score without what a preparation must earn: log Q / (1 − Q) + 3 log E."""
    lack = max(1 - modularity, defaults.negligible)
    held, gained = (np.log(max(one, np.finfo(float).tiny)) for one in (modularity, explained))
    return float(held - np.log(lack) + defaults.explained_weight * gained)


def association(
    one: np.ndarray, other: np.ndarray, n_clusters: int, defaults: Defaults = DEFAULTS
) -> float:
    """How much two labellings agree: mutual information in standard deviations from chance.

    Chance is what shuffling the samples makes of it. A chi-square would be simpler, and take two
    tiny clusters that happen to meet for more than they are.
    """
    rng = np.random.RandomState(0)
    shuffles = (rng.permutation(other) for _ in range(defaults.shuffles))
    chance = [_information(one, shuffled, n_clusters) for shuffled in shuffles]
    spread = float(np.std(chance, ddof=1))
    if spread <= _ROUNDING:
        return 0.0
    return (_information(one, other, n_clusters) - float(np.mean(chance))) / spread


def _information(one: np.ndarray, other: np.ndarray, n_clusters: int) -> float:
    """Mutual information of two labellings in nats, up to what their sizes alone decide."""
    counts = np.bincount(one * n_clusters + other, minlength=n_clusters**2)
    counts = counts[counts > 0]
    return float(counts @ np.log(counts)) / len(one)
