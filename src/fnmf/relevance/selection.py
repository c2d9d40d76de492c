"""The judge: which of several preparations found the better clusters, without any label."""

import numpy as np

# Modularity beyond this counts as complete.
_COMPLETE = 0.99
# What a tenfold explanation is worth against a tenfold lack of modularity.
_EXPLANATION = 3.0
# Preparations must earn what they change: columns in common units lose digits that meant
# something, rows of unit length are the habit of the field.
_PRIOR = {"own": 0.0, "gated": 0.0, "typical": 0.3, "spread": 0.3}
_UNIT = 0.2
# Labels are shuffled so often to see what chance would do.
_SHUFFLES = 100
# Means explain more than a graph does by their nature.
_MEANS = 0.4


def candidate_score(
    modularity: float, explained: float, columns: str, clusters: str, unit: bool
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
    """
    prior = _PRIOR[columns] + _MEANS * (clusters == "means")
    return selection_score(modularity, explained) - prior + _UNIT * unit


def selection_score(modularity: float, explained: float) -> float:
    """The score without what a preparation must earn: log Q / (1 − Q) + 3 log E."""
    lack = max(1 - modularity, 1 - _COMPLETE)
    held, gained = (np.log(max(one, np.finfo(float).tiny)) for one in (modularity, explained))
    return float(held - np.log(lack) + _EXPLANATION * gained)


def association(one: np.ndarray, other: np.ndarray, n_clusters: int) -> float:
    """How much two labellings agree: mutual information in standard deviations from chance.

    Chance is what shuffling the samples makes of it. A chi-square would be simpler, and take two
    tiny clusters that happen to meet for more than they are.
    """
    rng = np.random.RandomState(0)
    chance = [_information(one, rng.permutation(other), n_clusters) for _ in range(_SHUFFLES)]
    spread = float(np.std(chance, ddof=1))
    if spread == 0:
        return 0.0
    return (_information(one, other, n_clusters) - float(np.mean(chance))) / spread


def _information(one: np.ndarray, other: np.ndarray, n_clusters: int) -> float:
    """Mutual information of two labellings in nats, up to what their sizes alone decide."""
    counts = np.bincount(one * n_clusters + other, minlength=n_clusters**2)
    counts = counts[counts > 0]
    return float(counts @ np.log(counts)) / len(one)
