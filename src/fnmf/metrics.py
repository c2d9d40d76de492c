"""How well a clustering agrees with known classes."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d

__all__ = ["clustering_accuracy", "normalized_mutual_information"]

Normalisation = Literal["max", "min", "geometric", "arithmetic"]


def _checked(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    true, pred = column_or_1d(labels_true), column_or_1d(labels_pred)
    check_consistent_length(true, pred)
    if true.size == 0:
        raise ValueError("labels_true and labels_pred are empty: at least one sample is needed.")
    return true, pred


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples that the best one-to-one matching of clusters to classes gets right.

    The matching is found by the Hungarian algorithm. The numbers of classes and clusters
    may differ: samples of a class or cluster left without a partner count as wrong.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes; numbers, strings or anything that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        Clusters found. Noise labelled -1 is a cluster like any other.

    Returns
    -------
    float
        Accuracy between 0 and 1.

    Examples
    --------
    >>> from fnmf.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    true, pred = _checked(labels_true, labels_pred)
    table = contingency_matrix(true, pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / true.size)


def normalized_mutual_information(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, average_method: Normalisation = "max"
) -> float:
    """Mutual information of classes and clusters, divided by a mean of their entropies.

    Articles on clustering mostly divide by the larger entropy, scikit-learn by the
    arithmetic mean; the values differ when cluster sizes are uneven.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Known classes and clusters found.
    average_method : {"max", "min", "geometric", "arithmetic"}, default="max"
        How the two entropies are combined in the denominator.

    Returns
    -------
    float
        Between 0 and 1. It is 1 if both partitions have a single cluster, 0 if just one has.

    Examples
    --------
    >>> from fnmf.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.667
    """
    true, pred = _checked(labels_true, labels_pred)
    if average_method not in ("max", "min", "geometric", "arithmetic"):
        raise ValueError(
            f"average_method={average_method!r} is unknown; "
            'use "max", "min", "geometric" or "arithmetic".'
        )
    return float(normalized_mutual_info_score(true, pred, average_method=average_method))
