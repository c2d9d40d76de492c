"""How sure samples, clusters and features are."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest
from sklearn.metrics import adjusted_rand_score

from fnmf import FNMF, load, save
from fnmf.affinity import graph_votes
from fnmf.datasets import make_planted_subspaces
from fnmf.exceptions import NoStructureWarning
from fnmf.relevance.crossfit import cluster_recovery, quick_partition, row_halves
from fnmf.relevance.defaults import DEFAULTS
from fnmf.relevance.weights import adjusted, chance_probabilities
from fnmf.statistics import Moments


@pytest.fixture(scope="module")
def clustered():
    X, y, features = make_planted_subspaces(240, 3, n_features=90, random_state=2)
    return X, y, features.any(axis=0)


@pytest.fixture(scope="module")
def model(clustered):
    return FNMF(3, random_state=0).fit(clustered[0])


def test_votes_of_neighbours_leave_the_sample_itself_out():
    graph = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0.0]]))
    votes = graph_votes(graph, np.array([0, 1, 1, 0]), 2)
    # One step from 0 leads to 1; two steps lead to 2, or back, which does not count.
    assert np.allclose(votes[0], [0, 1])
    # Half of the steps from 1 lead to 0 and half to 2; all second steps lead back.
    assert np.allclose(votes[1], [0.5, 0.5])
    assert np.allclose(votes[3], 0)


@pytest.mark.parametrize("graph", ["adaptive", None])
@pytest.mark.parametrize("weighting", ["relevance", "uniform"])
def test_every_sample_has_a_confidence_and_another_cluster(clustered, weighting, graph):
    fitted = FNMF(3, weighting=weighting, graph=graph, random_state=0).fit(clustered[0])
    assert np.all((fitted.sample_confidence_ >= 0) & (fitted.sample_confidence_ <= 1))
    assert np.all(fitted.second_labels_ != fitted.labels_)
    assert set(fitted.second_labels_) <= {0, 1, 2}


def test_samples_in_the_wrong_cluster_are_less_sure():
    X, y, _ = make_planted_subspaces(300, 3, 10, 40, lift=0.35, random_state=0)
    fitted = FNMF(3, random_state=0).fit(X)
    majority = np.array([np.bincount(y[fitted.labels_ == c]).argmax() for c in range(3)])
    right = majority[fitted.labels_] == y
    assert 0.5 < right.mean() < 1
    assert fitted.sample_confidence_[right].mean() > fitted.sample_confidence_[~right].mean()


def test_planted_clusters_are_solid_and_arbitrary_ones_are_not(model, clustered):
    assert model.cluster_stability_.shape == (3,)
    assert np.all(model.cluster_stability_ >= 0.75)
    X = clustered[0]
    pairs = row_halves(X, 5, 2, 0)
    random = np.random.RandomState(0).randint(3, size=len(X))
    again = cluster_recovery(
        pairs,
        random,
        [],
        3,
        lambda half, mine: quick_partition(half.graph, 3, 0, DEFAULTS, (mine,)),
    )
    assert np.all(again < 0.6)
    # What another clustering of equal worth does not have is not solid either.
    found = cluster_recovery([], model.labels_, [np.where(model.labels_ == 2, 2, 0)], 3, None)
    assert found[2] == 1
    assert found.min() <= 0.5


def test_planted_features_are_found_at_the_stated_rate(model, clustered):
    found = model.feature_qvalues_ <= 0.1
    real = clustered[2]
    assert found[real].mean() >= 0.9
    assert (found & ~real).sum() <= 0.2 * found.sum()


def test_nothing_is_relevant_where_nothing_was_found():
    X = np.random.RandomState(0).uniform(size=(150, 30))
    with pytest.warns(NoStructureWarning):
        fitted = FNMF(4, random_state=0).fit(X)
    assert np.all(fitted.feature_qvalues_ == 1)


def test_probabilities_of_chance_are_uniform_for_independent_features():
    rng = np.random.RandomState(0)
    X, labels = rng.gamma(2, size=(200, 1000)), rng.randint(4, size=200)
    centred = X - X.mean(axis=0)
    members = np.eye(4)[labels].T
    moments = Moments.from_sums(
        members.sum(axis=1),
        X.mean(axis=0),
        members @ centred,
        members @ centred**2,
        (centred**4).sum(axis=0),
    )
    assert kstest(chance_probabilities(moments), "uniform").pvalue > 0.01


def test_adjusted_probabilities_follow_benjamini_and_hochberg():
    p = np.array([0.01, 0.04, 0.03, 0.5])
    assert np.allclose(adjusted(p), [0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_consensus_agrees_with_clear_clusters(clustered):
    X, y, _ = clustered
    fitted = FNMF(3, consensus=3, random_state=0).fit(X)
    assert adjusted_rand_score(y, fitted.labels_) > 0.95
    assert np.all(fitted.cluster_stability_ > 0.9)
    assert np.array_equal(fitted.labels_, FNMF(3, consensus=3, random_state=0).fit(X).labels_)


def test_consensus_takes_a_graph_of_the_users(clustered):
    X, y, _ = clustered
    graph = FNMF(3, random_state=0).fit(X).graph_
    fitted = FNMF(3, graph=graph, consensus=2, random_state=0).fit(X)
    assert adjusted_rand_score(y, fitted.labels_) > 0.9


def test_consensus_of_less_than_two_is_refused(clustered):
    with pytest.raises(ValueError, match="consensus"):
        FNMF(3, consensus=1).fit(clustered[0])


def test_all_of_it_survives_a_model_file(tmp_path, clustered):
    fitted = FNMF("auto", random_state=0).fit(clustered[0])
    save(fitted, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    for name in ("sample_confidence_", "second_labels_", "cluster_stability_", "feature_qvalues_"):
        assert np.array_equal(getattr(again, name), getattr(fitted, name))
    assert again.n_components_ == fitted.n_components_
    assert np.array_equal(again.k_scores_, fitted.k_scores_)
    assert tuple(again.k_interval_) == fitted.k_interval_
