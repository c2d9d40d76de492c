"""Data with missing cells, and a short fit of them."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fnmf import FNMF


def with_gaps(X, share, seed=0):
    X = np.array(X, float)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def fit(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return FNMF(**{"n_components": 3, "random_state": 0, "max_iter": 100} | parameters).fit(X)
