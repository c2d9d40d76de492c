"""Whether clusters come back when the same model starts from other random numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

__all__ = ["Agreement", "matched_clusters", "restart_agreement"]


@dataclass(frozen=True)
class Agreement:
    """How far other starts agree with a fit.

    Attributes
    ----------
    samples : ndarray of shape (n_restarts,)
        Share of the samples in the matching cluster, for each start.
    clusters : ndarray of shape (n_clusters,)
        Jaccard index of each cluster with the most similar one of another start, mean.
    """

    samples: np.ndarray
    clusters: np.ndarray


def restart_agreement(
    model: Any,
    X: Any,
    n_restarts: int,
    *known: Any,
    progress: Callable[[int, int], None] | None = None,
) -> Agreement | None:
    """Fit a model again from other random starts and compare the clusters.

    Parameters
    ----------
    model : estimator
        Fitted, with ``labels_`` and the parameter ``random_state``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data of the fit.
    n_restarts : int
        Number of further fits.
    *known : array-like of shape (n_samples,)
        Classes of some samples, where the fit had any.
    progress : callable, default=None
        Called with the number of fits done and of all.

    Returns
    -------
    Agreement or None
        None if nothing can vary: no restart wanted, or a method without random numbers.

    Examples
    --------
    >>> from fnmf import FNMF
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> from fnmf.choosing import restart_agreement
    >>> X, _ = make_noisy_gaussians(random_state=0)
    >>> model = FNMF(3, random_state=0).fit(X)
    >>> bool(restart_agreement(model, X, 1).samples[0] > 0.9)
    True
    """
    from sklearn.base import clone

    if n_restarts < 1 or "random_state" not in model.get_params(deep=False):
        return None
    seed = model.get_params(deep=False)["random_state"]
    first = int(seed) if isinstance(seed, int | np.integer) else 0
    shares, overlaps = [], []
    for step in range(1, n_restarts + 1):
        with warnings.catch_warnings():
            # The first fit has said all there is to say about these data.
            warnings.simplefilter("ignore")
            other = clone(model).set_params(random_state=first + step).fit(X, *known)
        table = _contingency(model.labels_, other.labels_)[2]
        rows, columns = linear_sum_assignment(-table)
        shares.append(table[rows, columns].sum() / table.sum())
        either = table.sum(axis=1)[:, None] + table.sum(axis=0)[None] - table
        overlaps.append((table / either).max(axis=1))
        if progress is not None:
            progress(step, n_restarts)
    return Agreement(np.array(shares), np.mean(overlaps, axis=0))


def matched_clusters(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Match the clusters of two clusterings of the same samples.

    Parameters
    ----------
    first, second : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    names, others : ndarray
        The sorted labels of both.
    partner : ndarray of shape (n_names,)
        Position in ``others`` of each cluster's partner, -1 for none: one to one, with the
        most samples in common.

    Examples
    --------
    >>> from fnmf.choosing import matched_clusters
    >>> matched_clusters([0, 0, 1, 1], ["b", "b", "a", "b"])[2].tolist()
    [1, 0]
    """
    names, others, table = _contingency(first, second)
    partner = np.full(len(names), -1)
    rows, columns = linear_sum_assignment(-table)
    partner[rows] = columns
    return names, others, partner


def _contingency(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    names, a = np.unique(np.asarray(first), return_inverse=True)
    others, b = np.unique(np.asarray(second), return_inverse=True)
    table = np.zeros((len(names), len(others)))
    np.add.at(table, (a, b), 1)
    return names, others, table
