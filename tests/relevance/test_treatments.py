"""Which preparations are tried at all depends on the table."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from fnmf import FNMF
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.preparations import column_preparations, row_preparations
from fnmf.relevance.sample import SampleTable


@pytest.fixture
def counts():
    """Exponential values from 0 on, twelve columns."""
    return np.random.default_rng(0).exponential(size=(200, 12))


def table_of(X):
    return SampleTable(X.astype(np.float32), X.mean(axis=0))


def test_columns_like_each_other_keep_their_units(counts):
    assert column_preparations(table_of(counts), 3) == ("own", "typical", "gated")
    assert row_preparations(table_of(counts)) == ("unit", "own")


def test_one_column_that_drowns_the_others_brings_all_to_common_units(counts):
    counts[:, 0] *= 100
    assert column_preparations(table_of(counts), 3) == ("typical", "gated")
    # Counts have exposure, whatever one of them is like.
    assert row_preparations(table_of(counts)) == ("unit", "own")


def test_two_or_three_columns_drown_no_one(counts):
    counts[:, 0] *= 100
    assert "own" in column_preparations(table_of(counts[:, :3]), 3)


def test_columns_that_never_come_near_zero_are_also_measured_by_their_spread(counts):
    assert column_preparations(table_of(counts + 5), 3) == ("own", "typical", "gated", "spread")


def test_rows_of_measures_in_different_units_have_no_length(counts):
    assert row_preparations(table_of((counts + 5) * np.logspace(0, 4, 12))) == ("own",)


def test_a_table_as_it_comes_is_clustered_as_well_as_one_that_was_scaled():
    X, y = load_wine(return_X_y=True)
    model = FNMF(3, random_state=0).fit(X)
    assert {one["columns"] for one in model.chosen_} == {"spread", "range"}
    assert clustering_accuracy(y, model.labels_) > 0.94


def test_labels_do_not_depend_on_the_units_of_single_columns_once_these_are_measured_by_spread():
    X, _ = load_wine(return_X_y=True)
    factors = 2.0 ** np.random.default_rng(0).integers(-6, 7, X.shape[1])
    one, other = (
        FNMF(3, column_units="spread", row_norm="none", random_state=0).fit(Z).labels_
        for Z in (X, X * factors)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("row_norm", ["auto", "unit", "none"])
def test_spread_can_be_asked_for_with_any_treatment_of_rows(row_norm):
    X, _ = load_wine(return_X_y=True)
    model = FNMF(3, column_units="spread", row_norm=row_norm, random_state=0).fit(X)
    assert {one["columns"] for one in model.chosen_} == {"spread"}
