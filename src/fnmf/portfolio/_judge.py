"""The judge: which of several preparations found the better clusters, without any label."""

import numpy as np

# Modularity beyond this counts as complete.
_COMPLETE = 0.99
# What a tenfold explanation is worth against a tenfold lack of modularity.
_EXPLANATION = 3.0
# Preparations must earn what they change: columns in common units lose digits that meant
# something, rows of unit length are the habit of the field.
_PRIOR = {"own": 0.0, "gated": 0.0, "typical": 0.3}
_UNIT = 0.2
# Means explain more than a graph does by their nature.
_MEANS = 0.4


def score(modularity: float, explained: float, columns: str, clusters: str, unit: bool) -> float:
    """The larger, the better; comparable across graphs and features of the same samples.

    Parameters
    ----------
    modularity : float
        Of the clusters on their own graph, at most 1.
    explained : float
        Number of independent features that the clusters explain.
    columns : {"own", "typical", "gated"}
        Units of the features.
    clusters : {"graph", "means"}
        Where clusters come from.
    unit : bool
        Whether rows had unit length.
    """
    prior = _PRIOR[columns] + _MEANS * (clusters == "means")
    return worth(modularity, explained) - prior + _UNIT * unit


def worth(modularity: float, explained: float) -> float:
    """The score without what a preparation must earn: log Q / (1 − Q) + 3 log E."""
    lack = max(1 - modularity, 1 - _COMPLETE)
    held, gained = (np.log(max(one, np.finfo(float).tiny)) for one in (modularity, explained))
    return float(held - np.log(lack) + _EXPLANATION * gained)


def association(one: np.ndarray, other: np.ndarray, n_clusters: int) -> float:
    """How much two labellings agree: chi-square in standard deviations from independence."""
    n = len(one)
    table = np.zeros((n_clusters, n_clusters))
    np.add.at(table, (one, other), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    if freedom == 0:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    square = float(np.sum((table - expected) ** 2 / expected))
    return (square - freedom * n / (n - 1)) / np.sqrt(2 * freedom)
