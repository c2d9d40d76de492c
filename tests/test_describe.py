"""Clusters in words, and the level of chance, against their definitions."""

import numpy as np
import pytest

from fnmf.describe import contrast_clusters, describe_clusters
from fnmf.display import trait
from fnmf.statistics import cluster_statistics


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
    here, others = np.median(X[:30, 0]), np.median(X[30:, 0])
    assert str(first).startswith(f"30 customers: bread {here:.2g} (others {others:.2g})")
    assert "coffee 0.1 (others 4.1)" in str(second)
    assert [one.title for one in (first, second)] == ["high bread", "low coffee"]
    assert "standard deviations" in first.contrasts[0].detail
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


def test_negative_values_and_backward_scales_are_told_as_they_are():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    X = np.column_stack([np.where(labels, -38.0, 120.0), np.where(labels, 94.0, 10.0)])
    X += rng.normal(0, 1, X.shape)
    first, second = describe_clusters(X, labels, feature_names=["balance_eur", "days_since"])
    assert "balance_eur −38 (others 120)" in str(second)
    assert "days_since 10 (others 94)" in str(first)
    assert {c.direction for c in second.contrasts} == {"higher", "lower"}


def test_shares_are_told_of_flags_and_one_value_of_a_category():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    names = ["news=yes", "region=a", "region=b", "region=c"]
    X = np.column_stack([labels == 0, *(labels == k for k in range(3))]).astype(float)
    X[::10] = rng.integers(0, 2, (12, 4))
    found = describe_clusters(X, labels, feature_names=names)
    for cluster in found:
        columns = [c.feature.partition("=")[0] for c in cluster.contrasts]
        assert len(columns) == len(set(columns))
    assert "%" in str(found[0])
    assert {c.measure for cluster in found for c in cluster.contrasts} == {"share"}


def test_counts_whose_medians_are_equal_are_told_by_their_means():
    X = np.zeros((60, 1))
    X[:12, 0] = 5
    first = describe_clusters(X, np.repeat([0, 1], 30), relevant=[True])[0]
    assert first.contrasts[0].measure == "mean"
    assert str(first.contrasts[0]) == "feature 0 2 (others 0)"


def test_any_two_clusters_can_be_compared(customers):
    X, labels = customers
    names = ["bread", "coffee", "noise", "more noise"]
    found = contrast_clusters(X, labels, 0, 2, feature_names=names)
    assert [c.feature for c in found] == ["bread"]
    assert found[0].others == pytest.approx(np.median(X[labels == 2, 0]))
    assert found[0].direction == "higher"
    with pytest.raises(ValueError, match="9 is no cluster"):
        contrast_clusters(X, labels, 0, 9)


def test_equal_titles_get_what_tells_them_apart():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    X = rng.normal(0, 0.1, (120, 2))
    X[labels == 0, 0] -= 9
    X[labels == 1, 1] += 2
    X[labels == 2, 1] -= 2
    titles = [one.title for one in describe_clusters(X, labels, feature_names=["a", "b"])]
    assert len(set(titles)) == 3
    assert titles[0] == "low a"


@pytest.mark.parametrize(
    ("feature", "high", "low"),
    [
        ("visits_per_month", "many visits per month", "few visits per month"),
        ("days_since_last_order", "last order long ago", "recent last order"),
        ("n_children", "many children", "few children"),
        ("basket_eur", "high basket", "low basket"),
        ("vibration_mm_s", "high vibration", "low vibration"),
        ("vitamin_c", "high vitamin c", "low vitamin c"),
        ("newsletter=yes", "newsletter yes", "newsletter no"),
        ("home_region=north", "home region north", "home region not north"),
        ("feature 3", "high feature 3", "low feature 3"),
        ("_", "high _", "low _"),
        ("kg", "high kg", "low kg"),
    ],
)
def test_a_column_and_a_direction_are_words(feature, high, low):
    told = [trait(feature, higher=True), trait(feature, higher=False)]
    assert told == [high, low]


def test_descriptions_show_themselves_in_a_notebook_and_as_a_frame(customers):
    X, labels = customers
    found = describe_clusters(X, labels, feature_names=["<b>", "coffee", "x", "y"])
    page = found._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "30 samples (33%)" in page
    frame = found.to_frame()
    assert {"cluster", "name", "feature", "here", "others", "effect"} <= set(frame.columns)
    assert frame.loc[frame["feature"] == "coffee", "here"].min() == pytest.approx(0.1)


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
