import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF

from fnmf.datasets import make_noisy_gaussians, make_planted_subspaces
from fnmf.metrics import clustering_accuracy


def kmeans(X, n_clusters):
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)


def test_toy_separates_in_two_dimensions_and_hides_in_seven():
    X, y = make_noisy_gaussians(random_state=0)
    assert X.shape == (900, 7)
    assert X.min() >= 0
    assert X[:, 2:].max() <= 3
    assert np.bincount(y).tolist() == [300, 300, 300]
    assert clustering_accuracy(y, kmeans(X[:, :2], 3)) > 0.99
    assert clustering_accuracy(y, kmeans(X, 3)) < 0.9


def test_toy_hides_from_plain_nmf_on_average():
    found = []
    for seed in range(8):
        X, y = make_noisy_gaussians(random_state=seed)
        model = NMF(3, init="random", solver="mu", random_state=seed, max_iter=2000)
        found.append(clustering_accuracy(y, kmeans(model.fit_transform(X), 3)))
    assert np.mean(found) < 0.9


def test_toy_noise_says_nothing_about_the_class():
    X, y = make_noisy_gaussians(random_state=0)
    means = np.stack([X[y == c, 2:].mean(axis=0) for c in range(3)])
    # The standard error of a mean of 300 uniform values of 0..3 is 0.05.
    assert np.abs(means - 1.5).max() < 0.25


def test_planted_features_are_raised_in_their_cluster_and_nowhere_else():
    X, y, features = make_planted_subspaces(random_state=0)
    assert (features.sum(axis=0) <= 1).all()
    for cluster, own in enumerate(features):
        inside = X[y == cluster]
        assert inside[:, own].min() >= 1
        assert inside[:, ~own].max() <= 1
    assert (X[:, ~features.any(axis=0)].mean(axis=0).std()) < 0.05


def test_planted_subspaces_need_enough_features():
    with pytest.raises(ValueError, match="n_features=30"):
        make_planted_subspaces(n_features=30)


@pytest.mark.parametrize("make", [make_noisy_gaussians, make_planted_subspaces])
def test_seeds_decide(make):
    np.testing.assert_array_equal(make(random_state=5)[0], make(random_state=5)[0])
    assert not np.array_equal(make(random_state=5)[0], make(random_state=6)[0])
