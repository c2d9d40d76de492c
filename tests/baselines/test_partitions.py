"""Rivals that use all features: spectral clustering, Leiden, consensus of k-means."""

import sys
from itertools import combinations

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from fnmf.baselines import ConsensusKMeans, Leiden, Spectral
from fnmf.baselines._consensus import agreements, mean_agreement
from fnmf.baselines._leiden import search_resolution
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:400]), y[:400]


def test_spectral_clusters_are_those_of_scikit_learn(digits):
    X, _ = digits
    peer = SpectralClustering(10, affinity="precomputed", random_state=0, n_init=10)
    # It warns of a graph in pieces, and then mixes their indicators.
    expected = peer.fit_predict(adaptive_neighbors(X, 20).toarray())
    model = Spectral(10, n_neighbors=20, random_state=0).fit(X)
    assert clustering_accuracy(expected, model.labels_) > 0.99
    given = Spectral(10, graph=adaptive_neighbors(X, 20), random_state=0).fit(X)
    np.testing.assert_array_equal(given.labels_, model.labels_)


def test_two_moons_are_told_apart():
    X, y = make_moons(200, noise=0.06, random_state=0)
    assert clustering_accuracy(y, Spectral(2, random_state=0).fit_predict(X)) == 1.0


def test_leiden_is_the_package_at_the_resolution_found(digits):
    igraph, leidenalg = pytest.importorskip("igraph"), pytest.importorskip("leidenalg")
    X, y = digits
    model = Leiden(10, random_state=3).fit(X)
    assert model.converged_
    assert set(model.labels_) == set(range(10))
    assert clustering_accuracy(y, model.labels_) > 0.75
    graph = igraph.Graph.Weighted_Adjacency(adaptive_neighbors(X, 5).toarray(), mode="max")
    expected = leidenalg.find_partition(
        graph,
        leidenalg.RBConfigurationVertexPartition,
        weights="weight",
        resolution_parameter=model.resolution_,
        seed=3,
    )
    ours = leidenalg.RBConfigurationVertexPartition(
        graph, model.labels_.tolist(), weights="weight", resolution_parameter=model.resolution_
    )
    assert ours.quality() == pytest.approx(expected.quality(), rel=0.01)
    given = Leiden(resolution=model.resolution_, random_state=3).fit(X)
    np.testing.assert_array_equal(given.labels_, model.labels_)


def test_a_number_of_communities_that_no_resolution_gives_is_said_aloud():
    pytest.importorskip("leidenalg")
    X, _ = make_blobs(60, centers=[[0, 0], [90, 0], [0, 90]], random_state=0)
    with pytest.warns(ConvergenceWarning, match="found 3 communities, not n_clusters=2"):
        model = Leiden(2, random_state=0).fit(X)
    assert model.converged_ is False


@pytest.mark.parametrize("wanted", [1, 3, 17, 60])
def test_the_search_for_a_resolution_finds_a_number_that_exists(wanted):
    def communities(resolution):
        return np.arange(100) % max(1, int(8 * resolution))

    resolution, labels = search_resolution(communities, wanted)
    assert labels.max() + 1 == wanted == max(1, int(8 * resolution))


def test_a_missing_package_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "leidenalg", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"fnmf\[leiden\]\""):
        Leiden(2).fit(np.random.default_rng(0).random((20, 3)))


def test_agreements_are_counted_over_the_runs_with_both_samples():
    X, _ = make_blobs(40, centers=3, cluster_std=3.0, random_state=0)
    agreement = agreements(X, 3, 7, 25, np.random.RandomState(0))
    # The same runs, counted pair by pair.
    from fnmf.kmeans import fit_kmeans

    generator = np.random.RandomState(0)
    runs = []
    for _ in range(7):
        part = np.sort(generator.permutation(40)[:25])
        seed = int(generator.randint(np.iinfo(np.int32).max))
        labels = fit_kmeans(X[part], 3, n_init=1, random_state=seed).labels_
        runs.append(dict(zip(part.tolist(), labels.tolist(), strict=True)))
    for i, j in combinations(range(40), 2):
        both = [run[i] == run[j] for run in runs if i in run and j in run]
        assert agreement[i, j] == pytest.approx(np.mean(both) if both else 0.0)
    np.testing.assert_array_equal(agreement, agreement.T)


def test_stability_is_the_mean_agreement_within_a_cluster():
    agreement = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    found = mean_agreement(agreement, np.array([0, 0, 1]))
    np.testing.assert_allclose(found, [0.5, 0.5, 1.0])


def test_consensus_depends_less_on_the_seed_than_single_runs(digits):
    from sklearn.cluster import KMeans

    X, _ = digits

    def spread(labels):
        return np.mean([clustering_accuracy(a, b) for a, b in combinations(labels, 2)])

    ours = [ConsensusKMeans(10, random_state=seed).fit_predict(X) for seed in range(3)]
    single = [KMeans(10, n_init=1, random_state=seed).fit_predict(X) for seed in range(3)]
    assert spread(ours) > spread(single)
