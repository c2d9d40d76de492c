"""Clusters about means, where every feature is weak and neighbours are mostly chance."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import fnmf
from fnmf import FNMF
from fnmf.data import view_of
from fnmf.execution import threads
from fnmf.kmeans import principal_kmeans
from fnmf.metrics import clustering_accuracy
from fnmf.statistics import cluster_means

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def documents(seed: int, n: int = 3000, words: int = 14, d: int = 1000, k: int = 5):
    """Half of the few words of a document come from its topic, half from anywhere."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    own = y[:, None] * (d // k) + rng.integers(0, d // k, (n, words // 2))
    columns = np.hstack([own, rng.integers(0, d, (n, words - words // 2))])
    rows = np.repeat(np.arange(n), words)
    return sp.csr_array((np.ones(n * words), (rows, columns.ravel())), shape=(n, d)), y


@pytest.fixture(scope="module")
def found():
    X, y = documents(0)
    return FNMF(5, random_state=0, max_iter=20).fit(X), X, y


def test_many_weak_features_are_found_together(found):
    model, _, y = found
    assert model.chosen_[0]["clusters"] == "means"
    assert model.structure_found_
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert np.count_nonzero(model.feature_weights_) > 900


def test_new_rows_go_to_the_nearest_mean(found, tmp_path):
    model, X, _ = found
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, topics = documents(1, n=500)
    assert clustering_accuracy(topics, model.predict(new)) > 0.95
    fnmf.save(model, tmp_path / "model.fnmf")
    again = fnmf.load(tmp_path / "model.fnmf")
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_storage_and_threads_change_no_label(found, n_jobs):
    model, X, _ = found
    dense = FNMF(5, random_state=0, max_iter=20, n_jobs=n_jobs).fit(X.toarray())
    np.testing.assert_array_equal(dense.labels_, model.labels_)


def test_noise_that_drowns_neighbours_leaves_means():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 3000)
    centres = rng.uniform(size=(10, 40))
    informative = np.abs(centres[y] + 0.6 * rng.standard_normal((3000, 40)))
    X = np.hstack([informative, rng.uniform(size=(3000, 160))])
    model = FNMF(10, random_state=0, max_iter=20).fit(X)
    plain = KMeans(10, n_init=3, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, model.labels_) > 0.95 * clustering_accuracy(y, plain)
    assert set(np.flatnonzero(model.feature_weights_[0])) == set(range(40))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_k_means_along_principal_directions_is_that_of_all_features(form):
    X, _ = make_blobs(300, 20, centers=6, random_state=0)
    X -= X.min()
    plain = KMeans(6, n_init=10, random_state=0).fit_predict(X)
    assert adjusted_rand_score(plain, principal_kmeans(form(X), 6, 0, 4)) == 1


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_means_of_clusters_are_those_of_their_rows(form):
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(size=(50, 4)), rng.integers(0, 3, 50)
    with threads(1) as runner:
        means, counts = cluster_means(view_of(form(X)), labels, 4, runner)
    np.testing.assert_array_equal(counts, np.bincount(labels, minlength=4))
    np.testing.assert_allclose(means[:3], [X[labels == a].mean(axis=0) for a in range(3)])
    assert not means[3].any()
