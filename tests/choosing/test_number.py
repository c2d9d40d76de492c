"""How many clusters, and what the picture of it holds."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf import FNMF, choose_n_components
from fnmf._choose import NumberOfClusters
from fnmf.choosing.scores import Numbers, _merged
from fnmf.datasets import make_planted_subspaces


@pytest.fixture(scope="module")
def clustered():
    X, y, _ = make_planted_subspaces(240, 4, n_features=80, random_state=1)
    return X, y


@pytest.fixture(scope="module")
def choice(clustered):
    return choose_n_components(clustered[0], range(2, 8), random_state=0)


def test_planted_number_is_found(choice):
    assert choice.n_components == 4
    assert choice.interval[0] <= 4 <= choice.interval[1]
    assert choice.price(4) == 0
    assert all(choice.price(k) > 0 for k in (2, 3, 5, 6, 7))
    assert str(choice).startswith("4 clusters")


def test_noise_features_do_not_change_it(clustered):
    X, _ = clustered
    noise = np.random.RandomState(0).uniform(0, 2, (len(X), 3 * X.shape[1]))
    found = choose_n_components(np.hstack([X, noise]), range(2, 8), random_state=0)
    assert found.n_components == 4


@pytest.mark.parametrize(("noise", "best"), [(0.001, 4), (0.1, 3)])
def test_the_fewest_whose_score_may_be_the_highest_are_best(noise, best):
    k, nothing = np.arange(2, 6), np.zeros(4)
    # Six graphs that differ by the same in turn, so that means are as they are meant.
    turns = noise * np.linalg.qr(np.vander(np.arange(6.0), 5))[0][:, 1:5]
    inside = np.array([0.5, 0.78, 0.8, 0.7]) + turns - turns.mean(axis=0)
    found = Numbers(k, inside, np.zeros((6, 4)), nothing, np.zeros((4, 1), np.int64))
    assert k[found.highest] == 4
    assert found.best == best


def test_shuffled_columns_are_one_cluster(clustered):
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.permutation(column) for column in clustered[0].T])
    found = choose_n_components(X, range(2, 8), random_state=0)
    assert found.n_components == 1
    assert "nothing beyond chance" in str(found)


def test_answer_depends_on_neither_threads_nor_storage(clustered, choice):
    X, _ = clustered
    for data, jobs in ((X, 2), (sp.csr_array(X), 1)):
        other = choose_n_components(data, range(2, 8), random_state=0, n_jobs=jobs)
        assert np.array_equal(other.labels, choice.labels)
        assert np.allclose(other.scores["score"], choice.scores["score"])


def test_labels_of_every_number_have_so_many_clusters(choice):
    for k, labels in zip(choice.scores["k"], choice.labels, strict=True):
        assert len(np.unique(labels)) == k
        assert np.bincount(labels).min() == choice.scores["smallest"][choice.scores["k"] == k]


def test_clusters_within_clusters_are_said_to_be():
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(6), 40)
    centres = np.hstack([rng.uniform(0, 6, (3, 20))[np.arange(6) // 2], rng.uniform(0, 2, (6, 20))])
    X = np.abs(centres[y] + 0.3 * rng.normal(size=(240, 40)))
    found = choose_n_components(X, range(2, 10), random_state=0)
    assert found.n_components == 6
    assert found.also == (3,)
    assert str(found).endswith("3 too: clusters within clusters")
    model = FNMF("auto", random_state=0).fit(X)
    assert model.k_also_ == (3,)
    assert str(NumberOfClusters.recalled(model)) == str(found)


def test_a_number_between_is_begun_from_the_larger_one():
    """Two of four blocks are tied: three clusters must be those two together, and the others."""
    block = np.ones((30, 30)) - np.eye(30)
    graph = np.kron(np.eye(4), block)
    graph[:30, 30:60] = graph[30:60, :30] = 0.3
    labels = np.repeat(np.arange(4), 30)
    merged = _merged(sp.csr_array(graph), labels, 4)
    assert np.array_equal(merged, np.repeat([0, 0, 1, 2], 30))


def test_auto_is_the_same_fit_as_the_number_given(clustered):
    X, _ = clustered
    auto = FNMF("auto", random_state=0).fit(X)
    given = FNMF(auto.n_components_, random_state=0).fit(X)
    assert auto.n_components_ == 4
    assert auto.k_interval_[0] <= 4 <= auto.k_interval_[1]
    assert np.array_equal(auto.labels_, given.labels_)
    assert auto.transform(X[:3]).shape == (3, 4)
    assert not hasattr(given, "k_scores_")


def test_auto_follows_a_given_number_of_clusters(clustered):
    model = FNMF("auto", n_clusters=3, random_state=0).fit(clustered[0])
    assert model.n_components_ == 3
    assert not hasattr(model, "k_scores_")


def test_few_samples_are_one_cluster():
    assert choose_n_components(np.eye(8)).n_components == 1


@pytest.mark.parametrize(("numbers", "told"), [([1], "no number above 1"), ([2.5], "integer")])
def test_numbers_that_make_no_sense_are_refused(clustered, numbers, told):
    with pytest.raises((TypeError, ValueError), match=told):
        choose_n_components(clustered[0], numbers)


def test_unknown_word_for_the_number_is_refused(clustered):
    with pytest.raises(TypeError, match='an integer or "auto"'):
        FNMF("many").fit(clustered[0])


def test_price_of_a_number_that_was_not_scored(choice):
    with pytest.raises(ValueError, match="was not scored"):
        choice.price(12)


def test_picture_shows_every_number_and_every_cluster(choice):
    root = ET.fromstring(choice.to_svg())
    name = "{http://www.w3.org/2000/svg}"
    titles = [e.text for e in root.iter(f"{name}title")]
    assert titles[0] == f"Number of clusters: {choice}"
    for k in choice.scores["k"]:
        assert any(title.startswith(f"{k} clusters: score") for title in titles)
    bars = [title for title in titles if title.endswith("samples")]
    assert len(bars) == choice.scores["k"].sum()
