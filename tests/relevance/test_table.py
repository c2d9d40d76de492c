"""The sample that is explored: sums, scaling, copies and kinship of features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score

from fnmf.data import view_of
from fnmf.relevance.candidates import duplicate_weights, redundancy
from fnmf.relevance.crossfit import agreement, association
from fnmf.relevance.preparations import duplicate_groups
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.search import candidate_score


def table_of(X: np.ndarray, *, sparse: bool = False) -> SampleTable:
    form = sp.csr_array(X) if sparse else X
    return SampleTable(form.astype(np.float32), np.ones(X.shape[1]))


def data(n: int = 120, d: int = 7, filled: float = 0.6) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < filled)


@pytest.mark.parametrize("sparse", [False, True])
def test_moments_are_those_of_the_clusters(sparse):
    X, labels = data(), np.arange(120) % 3
    found = table_of(X, sparse=sparse).moments(labels, 3)
    for a in range(3):
        members = X[labels == a]
        np.testing.assert_allclose(found.shifts[a], members.mean(0) - X.mean(0), atol=1e-6)
        np.testing.assert_allclose(found.within[a], 40 * members.var(0), atol=1e-4)
    np.testing.assert_allclose(found.total, 120 * X.var(0), atol=1e-4)


@pytest.mark.parametrize("unit", [False, True])
def test_dense_and_sparse_rows_have_the_same_distances(unit):
    X, factors = data(), np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 3.0])
    dense = table_of(X).scaled(factors, unit)
    sparse = table_of(X, sparse=True).scaled(factors, unit).toarray()
    gaps = [((Z[:, None] - Z) ** 2).sum(axis=2) for Z in (dense, sparse)]
    np.testing.assert_allclose(*gaps, atol=1e-5)


def test_storage_of_the_data_does_not_show_in_the_table():
    X = data(filled=0.02)
    typical = X.sum(0) / np.maximum((X > 0).sum(0), 1)
    chosen = np.arange(50)
    tables = [SampleTable.of(view_of(form), typical, chosen) for form in (X, sp.csr_array(X))]
    assert all(table.sparse for table in tables)
    np.testing.assert_array_equal(*(table.rows.toarray() for table in tables))


def test_copies_up_to_factor_and_shift_are_one_group():
    X = data()
    X = np.column_stack([X, 3 * X[:, 0], X[:, 0] + 1, np.ones(120), np.zeros(120)])
    groups = duplicate_groups(table_of(X))
    assert groups[0] == groups[7] == groups[8]
    assert len(np.unique(groups)) == 9
    np.testing.assert_allclose(duplicate_weights(groups)[[0, 1, 7]], [1 / 3, 1, 1 / 3])


@pytest.mark.parametrize("sparse", [False, True])
def test_independence_comes_from_squared_correlations(sparse):
    X = data()
    X = np.column_stack([X, X[:, 0] + 0.1 * data()[:, 1]])
    squares = (np.corrcoef(X.T) ** 2).sum(axis=1)
    expected = 1 / np.maximum(squares - 7 / 120, 1)
    found = redundancy(table_of(X, sparse=sparse))
    np.testing.assert_allclose(found.independence, expected, rtol=1e-3)
    assert found.related.tolist() == [True, *[False] * 6, True]


def test_features_of_one_cluster_are_related_and_shuffled_ones_are_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [450, 50])
    real = rng.uniform(size=(500, 4)) + (y == 1)[:, None]
    noise = rng.permuted(np.tile(real, 50), axis=0)
    related = redundancy(table_of(np.hstack([real, noise]))).related
    assert related[:4].all()
    assert related[4:].mean() < 0.02


def test_association_of_independent_labels_is_chance_and_of_equal_ones_is_not():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 1000)
    chance = [association(labels, rng.integers(0, 5, 1000), 5) for _ in range(200)]
    assert abs(np.mean(chance)) < 0.25
    assert np.std(chance) == pytest.approx(1, abs=0.25)
    assert association(labels, (labels + 1) % 5, 5) > 100


@pytest.mark.parametrize("seed", range(30))
def test_agreement_is_the_adjusted_mutual_information_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    k, n = rng.integers(1, 12), rng.integers(5, 600)
    one, others = rng.integers(k, size=n), rng.integers(k, size=n)
    # Names may be left out, and a labelling may have a single cluster.
    for other in (np.where(rng.random(n) < 0.7, one, others), 3 * one, others, np.zeros(n, int)):
        expected = adjusted_mutual_info_score(one, other)
        assert agreement(one, other) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_judge_prefers_explaining_more_and_hanging_together_better():
    assert candidate_score(0.9, 5.0, "own", "graph", True) > candidate_score(
        0.9, 4.0, "own", "graph", True
    )
    assert candidate_score(0.95, 5.0, "own", "graph", True) > candidate_score(
        0.9, 5.0, "own", "graph", True
    )
    # A collapse hangs together perfectly and explains next to nothing.
    assert candidate_score(0.8, 6.0, "own", "graph", False) > candidate_score(
        0.999, 1.5, "own", "graph", False
    )


@pytest.mark.parametrize("share", [1.0, 0.02])
def test_shuffling_keeps_the_values_of_every_feature(share):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 30)) * (rng.uniform(size=(40, 30)) < share)
    table = SampleTable.of(view_of(X), np.ones(30), np.arange(40))
    assert table.sparse == (share < 1)
    other = table.shuffled(np.random.RandomState(0))
    before, after = (t.rows.toarray() if t.sparse else t.rows for t in (table, other))
    np.testing.assert_array_equal(np.sort(after, axis=0), np.sort(before, axis=0))
    assert (after != before).any()
