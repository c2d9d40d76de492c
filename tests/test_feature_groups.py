"""Groups of features count as one column each."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from fnmf import FNMF
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
