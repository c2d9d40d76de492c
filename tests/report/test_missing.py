"""Missing cells in the report: counted, tested against the clusters, drawn as gaps."""

import numpy as np
import pytest

from fnmf.describe import cluster_statistics, describe_clusters
from fnmf.reporting._columns import Columns
from fnmf.reporting._missing import missing_cells

LABELS = np.repeat([0, 1, 2], [100, 60, 40])


def told(X, names="ab"):
    return missing_cells(cluster_statistics(X, LABELS), list(names), ["1", "2", "3"])


def test_nothing_missing_is_nothing_to_tell():
    assert told(np.random.default_rng(0).random((200, 2))) is None


def test_cells_missing_at_random_do_not_set_clusters_apart():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 2)) < 0.2, np.nan, rng.random((200, 2)))
    found = told(X)
    assert found["apart"] == "They are spread evenly over the clusters."
    assert found["rows"][0]["count"] == np.isnan(X).sum(axis=0).max()


def test_a_column_missing_in_one_cluster_is_named_with_its_shares():
    X = np.random.default_rng(0).random((200, 2))
    X[100:145, 1] = np.nan
    found = told(X)
    assert "in b: b is missing in 75% of cluster 2 and 0% of cluster 1" in found["apart"]
    assert [row["apart"] for row in found["rows"]] == [True]
    assert found["text"] == "45 of 400 cells are missing (11.2%)."


def test_a_cluster_without_any_value_of_a_column_is_not_told_by_it():
    X = np.random.default_rng(0).random((200, 2)) + 50
    X[LABELS == 1, 0] = np.nan
    stats = cluster_statistics(X, LABELS)
    assert stats.means[1, 0] == pytest.approx(np.nanmean(X[:, 0]))
    for one in describe_clusters(X, LABELS, relevant=[True, True]):
        assert one.contrasts == ()


def test_a_missing_category_has_no_position():
    X = np.array([[1.0, 0.0, 3.0], [np.nan, np.nan, np.nan], [0.0, 1.0, 4.0]])
    columns = Columns.of(["x=a", "x=b", "y"], ["x", "x", "y"])
    np.testing.assert_array_equal(columns.table(X), [[0, 3], [np.nan, np.nan], [1, 4]])
