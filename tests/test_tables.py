"""Ordinary tables: mixed columns, uneven groups, few columns, rows that repeat each other."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_moons,
)
from sklearn.metrics import adjusted_rand_score

from fnmf import FNMF, RelevanceClusterer
from fnmf._weights import CountedRows, tell_empty_clusters
from fnmf.data import DistinctRows
from fnmf.exceptions import AmbiguousClustersWarning, NoStructureWarning, WeightCollapseWarning
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.choice import Choice
from fnmf.relevance.table_columns import column_groups


def clusters(X, k, seed=0):
    return RelevanceClusterer(k, random_state=seed).fit(X)


def useless(kind, n, seed=0):
    """Columns that say nothing."""
    rng = np.random.default_rng(seed)
    return {
        "flag": lambda: rng.integers(0, 2, (n, 1)),
        "ten flags": lambda: rng.integers(0, 2, (n, 10)),
        "category": lambda: np.eye(7)[rng.integers(0, 7, n)],
        "integer": lambda: rng.integers(0, 100, (n, 1)),
        "date": lambda: rng.integers(15000, 20000, (n, 1)),
    }[kind]()


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("kind", ["flag", "category", "date"])
def test_a_useless_column_changes_next_to_nothing(load, kind):
    X, y = load(return_X_y=True)
    k = len(np.unique(y))
    before = clustering_accuracy(y, clusters(X, k).labels_)
    model = clusters(np.hstack([X, useless(kind, len(X))]), k)
    assert clustering_accuracy(y, model.labels_) >= before - 0.03
    assert (model.feature_relevance_[X.shape[1] :] < 0.05).all()


def test_an_unrelated_category_does_not_become_the_clusters():
    rng = np.random.default_rng(5)
    y, region = rng.integers(5, size=600), rng.integers(5, size=600)
    X = 1.5 * rng.normal(size=(5, 12))[y] + rng.normal(size=(600, 12))
    model = clusters(np.hstack([X, np.eye(5)[region]]), 5)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert adjusted_rand_score(region, model.labels_) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_uneven_groups_in_two_columns_are_found(seed):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [1000, 50, 50])
    X = np.array([[0, 0], [15, 0], [0, 15.0]])[y] + rng.normal(size=(1100, 2))
    assert adjusted_rand_score(y, clusters(X, 3, seed).labels_) > 0.98


def two_by_two(rng):
    y = rng.integers(4, size=1200)
    return np.array([[0, 0], [30, 0], [0, 30], [30, 30.0]])[y] + rng.normal(size=(1200, 2)), y


def one_of_ten(rng):
    y = np.repeat([0, 1], 300)
    return rng.normal(size=(600, 10)) + 10 * y[:, None] * (np.arange(10) == 0), y


def test_two_columns_with_far_modes_are_structure():
    X, y = two_by_two(np.random.default_rng(0))
    model = clusters(X, 4)
    assert model.structure_found_
    assert adjusted_rand_score(y, model.labels_) > 0.98


def test_a_single_column_with_far_modes_is_structure_and_that_is_told():
    X, y = one_of_ten(np.random.default_rng(0))
    with pytest.warns(WeightCollapseWarning, match="rest on 1 of 10 columns"):
        model = clusters(X, 2)
    assert model.structure_found_
    assert adjusted_rand_score(y, model.labels_) > 0.98


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_many_columns_of_chance_are_no_structure(kind):
    """Some of them explain each other by chance, and halves of these agree."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = getattr(rng, kind)(size=(300, 24))
        with pytest.warns(NoStructureWarning):
            model = clusters(X - X.min(axis=0), 2 + seed, seed)
        assert model.structure_found_ is False


def test_one_column_with_two_modes_is_found_among_many_of_chance():
    rng = np.random.default_rng(1)
    y = np.arange(300) % 2
    X = np.hstack([10.0 * y[:, None] + rng.normal(size=(300, 1)), rng.normal(size=(300, 24))])
    model = clusters(X - X.min(axis=0), 2)
    assert model.structure_found_
    assert clustering_accuracy(y, model.labels_) > 0.99


def lines(rng):
    y = np.repeat(np.arange(4), 300)
    return (10.0 * y + rng.normal(size=1200))[:, None], y


def segments(rng):
    y = np.repeat(np.arange(5), 300)
    return np.c_[rng.random(1500) * 100, 20.0 * y + 0.1 * rng.normal(size=1500)], y


SHAPES = {
    "lines": lines,
    "segments": segments,
    "moons": lambda rng: make_moons(1000, noise=0.03, random_state=0),
    "circles": lambda rng: make_circles(2000, noise=0.02, factor=0.5, random_state=0),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 2])
def test_connected_parts_of_the_graph_are_not_cut(shape, seed):
    X, y = SHAPES[shape](np.random.default_rng(0))
    model = clusters(X, len(np.unique(y)), seed)
    count, parts = connected_components(model.graph_, directed=False)
    assert count == len(np.unique(y))
    assert adjusted_rand_score(parts, model.labels_) == 1
    assert (model.predict(X) == model.labels_).mean() > 0.99


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("row", [[0.1, 0.2, 0.3, 0.7], [0.3]])
def test_constant_rows_are_no_structure(row):
    model = clusters(np.tile(row, (300, 1)), 3)
    assert model.structure_found_ is False
    assert len(np.unique(model.labels_)) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_equal_rows_have_equal_labels_with_fewer_distinct_rows_than_clusters():
    rng = np.random.default_rng(0)
    names = rng.integers(3, size=300)
    model = clusters(rng.random((3, 4))[names], 5)
    for name in range(3):
        assert len(np.unique(model.labels_[names == name])) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_of_two_groupings_that_are_equally_good_is_not_solid():
    rng = np.random.default_rng(0)
    both = rng.integers(2, size=(2, 600))
    X = np.hstack([4.0 * own[:, None] + rng.normal(size=(600, 3)) for own in both])
    assert clusters(X, 2).cluster_stability_.min() < 0.75


def test_candidates_of_equal_worth_that_disagree_are_told(monkeypatch):
    X, _ = load_iris(return_X_y=True)
    monkeypatch.setattr(Choice, "rivals", lambda self, share: [np.arange(len(self.labels)) % 3])
    with pytest.warns(AmbiguousClustersWarning, match="equally well"):
        model = clusters(X, 3)
    assert model.cluster_stability_.max() < 0.5


def test_a_table_with_flags_and_small_integers_is_fitted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    X = np.hstack(
        [
            3.0 * y[:, None] + rng.normal(size=(3000, 3)) + 10,
            rng.integers(0, 2, (3000, 8)),
            rng.integers(0, 5, (3000, 6)),
        ]
    )
    model = FNMF(3, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.9


def test_many_features_of_few_categories_are_a_table():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=400)
    known = rng.random((400, 10)) < 0.6
    levels = np.where(known, (y[:, None] + np.arange(10)) % 4, rng.integers(4, size=(400, 10)))
    model = clusters(np.eye(4)[levels].reshape(400, 40), 3)
    assert set(model.column_kinds_) == {"category"}
    assert clustering_accuracy(y, model.labels_) > 0.95


def levels_of(rng, y, n_columns, concentration):
    """Categories, one-hot, with levels of their own distribution in each cluster."""
    columns = []
    for _ in range(n_columns):
        n_levels = rng.integers(3, 7)
        shares = rng.dirichlet([concentration] * n_levels, y.max() + 1)
        drawn = np.array([rng.choice(n_levels, p=shares[cluster]) for cluster in y])
        columns.append(np.eye(n_levels)[:, np.unique(drawn)][drawn])
    return columns


def test_features_of_a_category_are_found_wherever_they_stand():
    rng = np.random.default_rng(0)
    columns = levels_of(rng, np.zeros(300, np.intp), 8, 1.0)
    given = np.repeat(range(8), [column.shape[1] for column in columns])
    order = rng.permutation(len(given))
    found = column_groups(np.hstack(columns)[:, order])
    assert adjusted_rand_score(given[order], found) == 1


def test_flags_that_say_something_count_alike():
    rng = np.random.default_rng(1)
    y = rng.choice(4, 600, p=[0.4, 0.3, 0.2, 0.1])
    flags = rng.random((600, 14)) < rng.beta(0.5, 0.5, (4, 14))[y]
    X = np.hstack([flags, rng.random((600, 10)) < 0.5]).astype(float)
    model = FNMF(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
    weights = model.feature_weights_.ravel()
    assert len(np.unique(weights[weights > 0])) == 1


@pytest.mark.parametrize("seed", range(3))
def test_categories_among_useless_numbers_make_the_clusters(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(4, 600, p=[0.4, 0.3, 0.2, 0.1])
    X = np.hstack([*levels_of(rng, y, 8, 0.4), rng.gamma(2, 50, (600, 6))])
    assert clustering_accuracy(y, clusters(X, 4).labels_) > 0.9


def test_flags_that_say_nothing_do_not_become_the_clusters():
    """Two of them beside ten columns of which each tells a little."""
    rng = np.random.default_rng(0)
    names = rng.integers(2, size=600)
    X = rng.normal(size=(2, 10))[names] + rng.normal(size=(600, 10))
    flags = (rng.random((600, 2)) < 0.5).astype(float)
    model = clusters(np.hstack([X, flags]), 2)
    assert adjusted_rand_score(names, model.labels_) > 0.8
    assert (model.feature_qvalues_[10:] > 0.1).all()


@pytest.mark.parametrize("seed", range(4))
def test_useless_columns_that_measure_one_thing_do_not_become_the_clusters(seed):
    """Pairs explain each other; what explains nothing else counts less than what does."""
    rng = np.random.default_rng(seed)
    n, k = 500, 4
    y = rng.integers(k, size=n)
    told = rng.normal(0, 2, (k, 6))[y] + rng.normal(size=(n, 6))
    twice = np.repeat(rng.normal(size=(n, 3)), 2, axis=1) + rng.normal(0, 0.3, (n, 6))
    X = np.hstack([told, twice, rng.normal(size=(n, 4))])
    model = clusters(X - X.min(axis=0), k)
    assert clustering_accuracy(y, model.labels_) >= 0.9
    assert model.feature_relevance_[6:].max() < 0.1


def test_columns_that_go_together_because_of_the_clusters_make_them():
    """All that tells of two groups correlates, and nothing else tells of anything."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.hstack([6.0 * y[:, None] + rng.normal(size=(60, 4)), rng.normal(size=(60, 12))])
    model = clusters(X - X.min(axis=0), 2)
    assert clustering_accuracy(y, model.labels_) == 1
    assert model.structure_found_


def test_copies_of_a_flag_are_no_category():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.c_[4 * y[:, None] + rng.normal(size=(200, 4)), rng.integers(0, 2, 200)]
    kinds = clusters(np.c_[X - X.min(axis=0), X[:, [4, 4]]], 2).column_kinds_
    assert list(kinds) == 4 * ["continuous"] + 3 * ["flag"]


def test_two_rows_far_from_all_others_are_no_cluster():
    rng = np.random.default_rng(5)
    y = rng.permutation(np.repeat([0, 1], (90, 60)))
    X = rng.normal(0, 2, (2, 6))[y] + rng.normal(size=(150, 6))
    X[:2] -= 60
    model = clusters(X - X.min(axis=0), 2)
    assert clustering_accuracy(y, model.labels_) > 0.85


def test_clusters_of_all_rows_are_those_that_halves_of_the_sample_find():
    # The partition of all rows with the largest modularity cuts a long cluster instead.
    rng = np.random.default_rng([2, 0])
    n, k, d = int(rng.choice([400, 1000, 2000])), int(rng.integers(2, 6)), int(rng.integers(2, 9))
    sizes = np.maximum(rng.dirichlet([3] * k), 0.05)
    y, X, centres = (
        rng.choice(k, n, p=sizes / sizes.sum()),
        np.empty((n, d)),
        rng.normal(0, 3.2, (k, d)),
    )
    for a in range(k):
        own = y == a
        turn, spread = rng.normal(size=(d, d)) / np.sqrt(d), rng.uniform(0.3, 2, d)
        X[own] = centres[a] + (rng.normal(size=(own.sum(), d)) * spread) @ np.linalg.qr(turn)[0]
    model = RelevanceClusterer(k, random_state=0).fit(X - X.min(axis=0))
    assert clustering_accuracy(y, model.labels_) >= 0.75


@pytest.mark.parametrize("model", [FNMF, RelevanceClusterer])
def test_fewer_distinct_rows_than_clusters_are_no_structure(model):
    """All three clusters are found, equal rows get equal labels, and two are said to be empty."""
    rng = np.random.default_rng(0)
    distinct = rng.random((3, 4))
    which = rng.integers(3, size=300)
    with pytest.warns(NoStructureWarning, match="2 of 5 clusters have no sample"):
        fitted = model(5, random_state=0).fit(distinct[which])
    assert fitted.structure_found_ is False
    assert adjusted_rand_score(which, fitted.labels_) == 1
    assert (fitted.feature_qvalues_ == 1).all()
    assert model(3, random_state=0).fit(distinct[which]).structure_found_ is True


def test_an_empty_cluster_of_many_distinct_rows_says_nothing_about_structure():
    fitted = SimpleNamespace(labels=np.array([0, 1, 1, 0]), feature_qvalues=np.zeros(2))
    counted = CountedRows(np.eye(4), DistinctRows(np.arange(3), np.ones(3), np.array([0, 1, 2, 0])))
    assert tell_empty_clusters(fitted, 3, counted) is fitted


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("n_columns", [2, 3])
def test_columns_of_few_values_that_share_nothing_are_no_structure(levels, n_columns):
    """Rows that repeat each other are few, whatever they stand for."""
    X = np.random.default_rng(0).integers(levels, size=(2000, n_columns)).astype(float)
    with pytest.warns(NoStructureWarning):
        assert RelevanceClusterer(levels + 1, random_state=0).fit(X).structure_found_ is False
