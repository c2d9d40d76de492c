"""Clusters in words, and the level of chance, against their definitions."""

import numpy as np
import pytest

from fnmf.describe import cluster_statistics, describe_clusters


@pytest.fixture
def customers():
    rng = np.random.default_rng(0)
    X = rng.uniform(3, 5, (90, 4))
    labels = np.repeat([0, 1, 2], 30)
    X[labels == 0, 0] += 6
    X[labels == 1, 1] = 0.1
    return X, labels


def test_sentences_name_what_differs_and_nothing_else(customers):
    X, labels = customers
    names = ["bread", "coffee", "noise", "more noise"]
    first, second, third = describe_clusters(X, labels, feature_names=names, unit="customers")
    assert str(first).startswith("30 customers: much bread")
    assert "hardly any coffee" in str(second)
    assert "noise" not in f"{first} {second} {third}"
    assert first.contrasts[0].mean == pytest.approx(X[:30, 0].mean())
    assert first.contrasts[0].rest == pytest.approx(X[30:, 0].mean())
    assert first.contrasts[0].effect == pytest.approx(
        (X[:30, 0].mean() - X[30:, 0].mean()) / X[:, 0].std()
    )
    assert first.share == pytest.approx(1 / 3)


def test_irrelevant_features_are_never_named(customers):
    X, labels = customers
    found = describe_clusters(X, labels, relevant=[False, True, False, False])
    assert all(c.feature == "feature 1" for cluster in found for c in cluster.contrasts)


def test_random_labels_have_nothing_to_say():
    rng = np.random.default_rng(1)
    found = describe_clusters(rng.random((300, 20)), rng.integers(0, 3, 300))
    assert [cluster.traits for cluster in found] == ["no feature sets them clearly apart"] * 3


def test_chance_keeps_up_with_the_number_of_features():
    rng = np.random.default_rng(2)
    X, labels = rng.random((200, 20_000)), rng.integers(0, 20, 200)
    stats = cluster_statistics(X, labels)
    # Three standard deviations alone would let six in a thousand through.
    assert np.mean(stats.explained > stats.chance) < 0.001
    found = describe_clusters(X, labels, statistics=stats)
    assert sum(len(cluster.contrasts) for cluster in found) < 0.001 * 20_000


@pytest.mark.parametrize(
    ("mean", "rest", "word"),
    [(9, 3, "much"), (4, 3, "more"), (3, 4, "less"), (2, 6, "little"), (0.1, 6, "hardly any")],
)
def test_words_follow_the_ratio(mean, rest, word):
    from fnmf.describe import Contrast

    assert Contrast("tea", 0, mean, rest, mean - rest).word == word


@pytest.mark.parametrize("tails", [False, True])
def test_chance_is_what_shuffling_gives(tails):
    rng = np.random.default_rng(0)
    X = rng.standard_exponential((60, 1)) ** (3 if tails else 1)
    sizes = np.array([30, 20, 6, 4])
    labels = np.repeat(np.arange(4), sizes)
    shares = [cluster_statistics(X[rng.permutation(60)], labels).explained[0] for _ in range(3000)]
    expected = np.mean(shares) + 3 * np.std(shares)
    assert cluster_statistics(X, labels).chance[0] == pytest.approx(expected, rel=0.12)


def test_one_sample_is_not_plural():
    found = describe_clusters(np.array([[1.0], [2.0]]), [0, 1])
    assert str(found[0]).startswith("1 sample:")


def test_wrong_names_are_told():
    with pytest.raises(ValueError, match="feature_names has 1 names, but X has 2"):
        describe_clusters(np.ones((2, 2)), [0, 1], feature_names=["a"])
