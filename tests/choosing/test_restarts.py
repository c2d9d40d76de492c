"""Agreement of clusterings with other starts."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

from fnmf.choosing import matched_clusters, restart_agreement


class Shifting(ClusterMixin, BaseEstimator):
    """Moves as many samples from cluster 0 to 1 as its seed says; names of clusters change too."""

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, y=None):
        labels = np.repeat([0, 1], len(X) // 2)
        labels[: self.random_state] = 1
        self.labels_ = 1 - labels if self.random_state % 2 else labels
        return self


def test_agreement_equals_its_definition():
    X = np.ones((20, 1))
    found = restart_agreement(Shifting().fit(X), X, 2)
    np.testing.assert_allclose(found.samples, [19 / 20, 18 / 20])
    # Jaccard of what is left: 9 and 8 of 10 samples; 10 of 11 and 12.
    np.testing.assert_allclose(found.clusters, [(0.9 + 0.8) / 2, (10 / 11 + 10 / 12) / 2])


def test_nothing_is_fitted_where_nothing_varies():
    class Fixed(Shifting):
        def __init__(self):
            pass

    assert restart_agreement(Shifting(), None, 0) is None
    assert restart_agreement(Fixed(), None, 3) is None


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_matching_undoes_a_renaming(n_clusters):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, n_clusters, 200)
    renamed = rng.permutation(n_clusters)
    names, others, partner = matched_clusters(labels, renamed[labels])
    np.testing.assert_array_equal(others[partner], renamed[names])


def test_a_cluster_too_many_has_no_partner():
    assert matched_clusters([0, 1, 2, 2], ["a", "a", "b", "b"])[2].tolist().count(-1) == 1
