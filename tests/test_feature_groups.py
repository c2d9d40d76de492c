"""Groups of features count as one column each."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from fnmf import FNMF, RelevanceClusterer
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.table_columns import column_groups


def test_known_groups_stay_together_beside_those_that_are_found():
    rng = np.random.default_rng(0)
    category = np.eye(3)[rng.integers(0, 3, 100)]
    rows = np.hstack([category, rng.random((100, 3))])
    found = column_groups(rows, known=np.array([0, 1, 2, 3, 4, 3]))
    assert len(np.unique(found[:3])) == 1
    assert found[3] == found[5]
    assert len(np.unique(found)) == 3


def test_a_useless_category_of_many_levels_changes_little_as_one_group():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(1)
    levels = np.eye(12)[rng.integers(0, 12, len(X))]
    # The last level is left out, so that nothing tells that these are one category.
    table = np.hstack([minmax_scale(X), levels[:, :-1]])
    groups = [f"column {k}" for k in range(13)] + ["category"] * 11
    model = FNMF(3, random_state=0, feature_groups=groups).fit(table)
    assert clustering_accuracy(y, model.labels_) > 0.9
    weights = model.feature_weights_.max(axis=0)[13:]
    assert np.all(weights == weights[0]) or np.count_nonzero(weights) in (0, 11)


@pytest.mark.parametrize("groups", [np.arange(5), [[0] * 13], [0.5] * 13])
def test_groups_that_do_not_fit_are_refused(groups):
    X = minmax_scale(load_wine().data)
    with pytest.raises(ValueError, match="feature_groups"):
        FNMF(3, feature_groups=groups).fit(X)
    with pytest.raises(ValueError, match="feature_groups"):
        FNMF("auto", feature_groups=groups).fit(X)


def test_names_and_numbers_of_groups_give_the_same_fit():
    X = minmax_scale(load_wine().data)
    numbers = np.arange(13) // 2
    one = FNMF(3, random_state=0, feature_groups=numbers).fit(X)
    other = FNMF(3, random_state=0, feature_groups=[f"g{k}" for k in numbers]).fit(X)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_relevance_of_a_group_is_the_mean_of_its_features():
    X = minmax_scale(load_wine().data)
    groups = ["a"] * 6 + ["b"] * 7
    model = FNMF(3, random_state=0, feature_groups=groups).fit(X)
    found = model.group_relevance_
    assert list(found) == ["a", "b"]
    assert found["b"] == pytest.approx(model.feature_relevance_[6:].mean())
    assert not hasattr(FNMF(3, random_state=0).fit(X), "group_relevance_")


def test_clusters_alone_know_groups_too():
    X = minmax_scale(load_wine().data)
    groups = ["a"] * 6 + ["b"] * 7
    model = RelevanceClusterer(3, random_state=0, feature_groups=groups).fit(X)
    both = FNMF(3, random_state=0, feature_groups=groups).fit(X)
    assert model.group_relevance_ == pytest.approx(both.group_relevance_, abs=0.02)
    with pytest.raises(ValueError, match="feature_groups has shape"):
        model.set_params(feature_groups=groups[:3]).fit(X)


def test_groups_of_unlike_size_and_units_weigh_alike_and_may_be_missing():
    """Two views tell different classes apart; the larger one must not decide alone."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 4
    wide = 1000 * (rng.random((240, 120)) + 1.2 * np.eye(2)[y // 2].repeat(60, axis=1))
    narrow = rng.random((240, 30)) + 1.2 * np.eye(2)[y % 2].repeat(15, axis=1)
    rows, groups = np.hstack([wide, narrow]), ["wide"] * 120 + ["narrow"] * 30
    model = FNMF(4, random_state=0, feature_groups=groups).fit(rows)
    assert clustering_accuracy(y, model.labels_) > 0.95
    alone = RelevanceClusterer(4, random_state=0, feature_groups=groups).fit(rows)
    assert clustering_accuracy(y, alone.labels_) > 0.95
    weights = model.feature_weights_.max(axis=0)
    assert weights[:120].sum() == pytest.approx(weights[120:].sum(), rel=0.3)
    gaps = rows.copy()
    gaps[:60, :120], gaps[60:120, 120:] = np.nan, np.nan
    lacking = FNMF(4, random_state=0, feature_groups=groups).fit(gaps)
    # Rows that lack a view can be told apart by the other one alone.
    found = lacking.labels_
    assert clustering_accuracy(y[120:], found[120:]) > 0.95
