"""Three groups, and small models of them."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from fnmf import FNMF

N, D, C, M = 60, 9, 3, 2
VARIANTS = [
    {},
    {"assignment": "shared"},
    {"solver": "mu-fast", "init": "random"},
    {"solver": "hals", "init": "nndsvda"},
    {"graph": None, "normalize_components": False},
    {"weighting": "uniform"},
    {"n_weightings": 1, "solver": "hals", "graph": None},
]


def make_blobs():
    """Three groups on nine features; feature 4 is zero everywhere, sample 7 is empty."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % C
    X = rng.uniform(0, 0.3, (N, D)) + np.eye(C).repeat(3, axis=1)[y]
    X[:, 4] = 0
    X[7] = 0
    return X.astype(np.float32).astype(np.float64), y


def model(**parameters):
    settings = {"n_components": C, "n_weightings": M, "random_state": 0, "max_iter": 60}
    # Spelled out where the defaults follow measurements.
    settings |= {"weighting": "paper", "diversity": 1.0, "smoothness": 10.0}
    return FNMF(**{**settings, **parameters})


def fit(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model(**parameters).fit(X)


def expected_failures(estimator):
    """Checks that ask for the same random start of weighted and of repeated samples.

    Competitors draw it row by row, as scikit-learn's KMeans does, which fails them too;
    ``tests/baselines/test_weights.py`` begins both at the same place.
    """
    if not has_fit_parameter(estimator, "sample_weight"):
        return {}
    checks = ("dense", "sparse")
    reason = "the random start is drawn row by row"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in checks}
