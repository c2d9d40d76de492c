"""scikit-learn's own battery, without expected failures."""

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from fnmf import (
    FNMF,
    DeepFNMF,
    MiniBatchFNMF,
    RelevanceClusterer,
    SemiFNMF,
    SemiMiniBatchFNMF,
    SemiRelevanceClusterer,
)

ESTIMATORS = [
    FNMF(max_iter=100),
    FNMF(assignment="shared", solver="hals", graph=None, max_iter=50),
    FNMF(weighting="paper", solver="mu", max_iter=200),
    FNMF(weighting="paper", assignment="shared", init="random", max_iter=200),
    FNMF(
        weighting="paper",
        solver="hals",
        graph=None,
        init="nndsvda",
        normalize_components=False,
        max_iter=200,
    ),
    FNMF(weighting="uniform", solver="hals", max_iter=200),
    MiniBatchFNMF(max_iter=100, sample_size=200, batch_size=100),
    RelevanceClusterer(),
    RelevanceClusterer(3),
    SemiFNMF(max_iter=200),
    # Checks compare predictions as numbers: no class has a name of ours.
    SemiMiniBatchFNMF(2, max_iter=100, sample_size=200, batch_size=100),
    SemiRelevanceClusterer(),
    DeepFNMF(layers=(4, 3, 2)),
]


@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
# Checks on random numbers: a selector rightly selects nothing of them, and clusters are a choice.
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.filterwarnings("ignore::fnmf.exceptions.AmbiguousClustersWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_estimator_check(estimator, check):
    check(estimator)
