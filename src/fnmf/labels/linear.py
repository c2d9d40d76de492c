"""Labels read off the features: logistic regression, with what it says of labels unseen."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from fnmf.labels.pool import log_shares

# Iterations of the logistic regression, and its tolerance: it is one opinion of several.
_ITERATIONS, _TOLERANCE = 100, 1e-3
# Inverse penalties that held-out labels choose from, and which of them without any. Twelve sets at
# 10 % and 30 %: .814 .872, .809 .869 without 10; without 0.01, or with 100, nothing changes.
_STRENGTHS, _USUAL = (0.01, 0.1, 1.0, 10.0), 2
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
    rows: np.ndarray,
    factors: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    part: np.ndarray | None,
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
    part : ndarray of shape (l,) or None
        Which labels are held out together, to choose the penalty, -1 never; ``None`` if none can.

    Returns
    -------
    linear : Linear
        Fitted to all labels.
    held_out : ndarray of shape (l, k)
        Log probabilities of the labelled rows, each without its own label, if any is held out.
    """
    used = factors > 0
    X = ((rows[:, used] - rows[:, used].mean(axis=0)) * factors[used]).astype(np.float32)
    said = np.zeros((len(_STRENGTHS), len(rows), n_classes))
    best = _USUAL
    if part is not None:
        for number in np.unique(part[part >= 0]):
            out = part == number
            found = _regressions(X[~out], codes[~out], n_classes, _STRENGTHS)
            for place, (slopes, level) in enumerate(found):
                said[place, out] = log_shares(X[out] @ slopes + level)
        best = int(said[:, np.arange(len(codes)), codes].sum(axis=1).argmax())
    steep, level = next(_regressions(X, codes, n_classes, _STRENGTHS[best:]))
    slopes = np.zeros((len(factors), n_classes))
    slopes[used] = factors[used, None] * steep
    return Linear(slopes, level - rows.mean(axis=0) @ slopes), said[best]


def _regressions(
    X: np.ndarray, codes: np.ndarray, n_classes: int, strengths: tuple[float, ...]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Slopes (d, k) and levels (k,) at each inverse penalty, each from where the last one ended."""
    classes = np.unique(codes)
    model = LogisticRegression(max_iter=_ITERATIONS, tol=_TOLERANCE, warm_start=True)
    for strength in strengths:
        slopes, level = np.zeros((X.shape[1], n_classes)), np.full(n_classes, _ABSENT)
        if len(classes) < 2 or not X.shape[1]:
            level[classes] = 0
        else:
            with warnings.catch_warnings():
                # How far it has come is judged by what it says of labels it has not seen; that
                # classes have few labels is known. ConvergenceWarning is a UserWarning.
                warnings.simplefilter("ignore", UserWarning)
                model.set_params(C=strength).fit(X, codes)
            # Of two classes there is one row of slopes, for the second.
            both = np.array(((-0.5, 0.5),)) if len(classes) == 2 else np.eye(len(classes))
            slopes[:, classes] = model.coef_.T @ both
            level[classes] = model.intercept_ @ both
        yield slopes, level
