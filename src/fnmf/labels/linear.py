"""Labels read off the features: least squares and logistic regression, each with what it says of
labels that it has not seen."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV

# Penalties tried, and factors that turn scores into probabilities.
_PENALTIES = np.logspace(-3, 4, 15)
_FACTORS = np.exp(np.linspace(0, 4, 17))
# Iterations of the logistic regression, and its tolerance: it is one opinion of several.
_ITERATIONS, _TOLERANCE = 100, 1e-3
# Log odds of a class that a part of the labels does not have.
_ABSENT = -10.0
# Without labels to spare for a comparison.
_USUAL = 3.0
_TINY = 1e-12


class Linear(NamedTuple):
    """Log odds of the classes as a linear function of the features.

    Attributes
    ----------
    slopes : ndarray of shape (d, k)
        Of each feature.
    level : ndarray of shape (k,)
        Where all features are 0.
    held_out : ndarray of shape (l, k)
        Scores of the labelled rows, each without its own label.
    """

    slopes: np.ndarray
    level: np.ndarray
    held_out: np.ndarray


def least_squares(rows: np.ndarray, factors: np.ndarray, values: np.ndarray) -> Linear:
    """Fit labels of some rows.

    Parameters
    ----------
    rows : ndarray of shape (l, d)
        Labelled rows.
    factors : ndarray of shape (d,)
        Units in which slopes are penalised alike; features of factor 0 are left out.
    values : ndarray of shape (l, k)
        1 for the class of a row, 0 for others.
    """
    used = factors > 0
    slopes, k = np.zeros((len(factors), values.shape[1])), values.shape[1]
    mean = rows.mean(axis=0)
    X = (rows[:, used] - mean[used]) * factors[used]
    size = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    level, held = np.broadcast_to(values.mean(axis=0), (k,)), values.mean(axis=0)
    if not used.any() or size <= _TINY or len(rows) < 3:
        return Linear(slopes, level, np.broadcast_to(held, values.shape))
    model = RidgeCV(_PENALTIES, scoring="neg_mean_squared_error", store_cv_results=True)
    model.fit(X / size, values)
    place = int(np.flatnonzero(model.alpha_ == _PENALTIES)[0])
    scores = model.cv_results_.reshape(len(rows), k, len(_PENALTIES))[:, :, place]
    factor = _factor(scores, values) if len(rows) > k else _USUAL
    slopes[used] = factor * factors[used, None] * model.coef_.reshape(k, -1).T / size
    level = factor * model.intercept_ - mean @ slopes
    return Linear(slopes, level, factor * scores)


def logistic(
    rows: np.ndarray, factors: np.ndarray, codes: np.ndarray, n_classes: int, part: np.ndarray
) -> Linear:
    """The same by logistic regression; labels are held out by ``part``, (l,)."""
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
    return Linear(slopes, level - rows.mean(axis=0) @ slopes, held)


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


def _factor(scores: np.ndarray, values: np.ndarray) -> float:
    """By which scores are multiplied so that their softmax is right about rows left out."""

    def loss(factor: float) -> float:
        logs = factor * scores
        top = logs.max(axis=1, keepdims=True)
        sums = np.log(np.exp(logs - top).sum(axis=1, keepdims=True)) + top
        return float(np.sum(values * (sums - logs)))

    return float(min(_FACTORS, key=loss))
