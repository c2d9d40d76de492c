"""Labels read off the features: logistic regression, with what it says of labels unseen."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

# Iterations of the logistic regression, and its tolerance: it is one opinion of several.
_ITERATIONS, _TOLERANCE = 100, 1e-3
# Log odds of a class that a part of the labels does not have.
_ABSENT = -10.0


class Linear(NamedTuple):
    """Log odds of the classes as a linear function of the features.

    Attributes
    ----------
    slopes : ndarray of shape (d, k)
        Of each feature.
    level : ndarray of shape (k,)
        Where all features are 0.
    """

    slopes: np.ndarray
    level: np.ndarray


def logistic(
    rows: np.ndarray, factors: np.ndarray, codes: np.ndarray, n_classes: int, part: np.ndarray
) -> tuple[Linear, np.ndarray]:
    """Fit labels of some rows.

    Parameters
    ----------
    rows : ndarray of shape (l, d)
        Labelled rows.
    factors : ndarray of shape (d,)
        Units in which slopes are penalised alike; features of factor 0 are left out.
    codes : ndarray of shape (l,)
        Their classes.
    n_classes : int
        Of all rows.
    part : ndarray of shape (l,)
        Which labels are held out together.

    Returns
    -------
    linear : Linear
        Fitted to all labels.
    held_out : ndarray of shape (l, k)
        Scores of the labelled rows, each without its own label.
    """
    used = factors > 0
    X = (rows[:, used] - rows[:, used].mean(axis=0)) * factors[used]
    held = np.zeros((len(rows), n_classes))
    for number in np.unique(part):
        out = part == number
        if not out.all():
            slopes, level = _regression(X[~out], codes[~out], n_classes)
            held[out] = X[out] @ slopes + level
    found, level = _regression(X, codes, n_classes)
    slopes = np.zeros((len(factors), n_classes))
    slopes[used] = factors[used, None] * found
    return Linear(slopes, level - rows.mean(axis=0) @ slopes), held


def _regression(X: np.ndarray, codes: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (d, k) and levels (k,)."""
    slopes, level = np.zeros((X.shape[1], n_classes)), np.full(n_classes, _ABSENT)
    classes = np.unique(codes)
    if len(classes) < 2 or not X.shape[1]:
        level[classes] = 0
        return slopes, level
    model = LogisticRegression(max_iter=_ITERATIONS, tol=_TOLERANCE)
    with warnings.catch_warnings():
        # How far it has come is judged by what it says of labels it has not seen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, codes)
    if len(classes) == 2:
        slopes[:, classes] = np.outer(model.coef_[0], (-0.5, 0.5))
        level[classes] = model.intercept_[0] * np.array((-0.5, 0.5))
    else:
        slopes[:, classes], level[classes] = model.coef_.T, model.intercept_
    return slopes, level
