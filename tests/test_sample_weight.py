"""A sample of weight 2 is two equal samples, one of weight 0 is not there."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine

from fnmf import FNMF, RelevanceClusterer, load, save
from fnmf.affinity import small_graph
from fnmf.data import distinct_rows, view_of
from fnmf.execution import threads
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy
from fnmf.relevance.defaults import DEFAULTS
from fnmf.relevance.sample import SampleTable
from fnmf.statistics import cluster_moments, column_means, mean_square

pytestmark = pytest.mark.filterwarnings("ignore")


class WithAnchors(FNMF):
    """Anchors for few rows."""

    _defaults = replace(DEFAULTS, exact_rows=100, n_anchors=60)


def data_with_weights(name: str) -> tuple[np.ndarray, int, np.ndarray]:
    """A real set, its number of classes, and weights from 0 to 3."""
    load_set = {"wine": load_wine, "digits": load_digits}[name]
    X, y = load_set(return_X_y=True)
    X, y = X[:300], y[:300]
    return X, len(np.unique(y)), np.random.default_rng(0).integers(0, 4, len(X))


@pytest.mark.parametrize("name", ["wine", "digits"])
@pytest.mark.parametrize(
    "make",
    [
        FNMF,
        WithAnchors,
        lambda k, **p: FNMF(k, solver="hals", row_norm="unit", **p),
        lambda k, **p: FNMF(k, weighting="paper", assignment="shared", max_iter=50, **p),
        lambda k, **p: FNMF(k, graph=None, **p),
        lambda k, **p: FNMF("auto", consensus=2, **p),
        RelevanceClusterer,
    ],
    ids=["default", "anchors", "hals", "paper", "no graph", "auto", "clusters"],
)
def test_weight_is_repetition(name, make):
    X, k, weights = data_with_weights(name)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), weights))
    weighted = make(k, random_state=0).fit(X, sample_weight=weights)
    twice = make(k, random_state=0).fit(X[rows])
    assert np.array_equal(weighted.predict(X), twice.predict(X))
    assert np.array_equal(weighted.labels_[rows], twice.labels_)
    assert np.allclose(weighted.transform(X), twice.transform(X))
    assert weighted.labels_.shape == weighted.sample_confidence_.shape == (len(X),)


def test_weights_of_one_change_nothing_and_of_zero_leave_out():
    X, k, weights = data_with_weights("digits")
    plain, ones = FNMF(k, random_state=0).fit(X), FNMF(k, random_state=0)
    ones.fit(X, sample_weight=np.ones(len(X)))
    assert np.array_equal(plain.embedding_, ones.embedding_)
    there = weights > 0
    without = FNMF(k, random_state=0).fit(X[there])
    zeros = FNMF(k, random_state=0).fit(X, sample_weight=there)
    assert np.array_equal(without.embedding_, zeros.embedding_[there])
    assert np.array_equal(zeros.labels_, without.predict(X))
    assert not zeros.sample_confidence_[~there].any()


@pytest.mark.parametrize("make", [FNMF, RelevanceClusterer])
def test_weight_is_repetition_where_cells_and_whole_rows_are_missing(make):
    X, k, weights = data_with_weights("wine")
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.2, np.nan, X)
    weights[:6] = [0, 2, 0, 1, 3, 1]
    X[[0, 3, 4]] = np.nan
    rows = np.repeat(np.arange(len(X)), weights)
    weighted = make(k, random_state=0).fit(X, sample_weight=weights)
    twice = make(k, random_state=0).fit(X[rows])
    assert weighted.rows_without_values_.tolist() == [0, 3, 4]
    np.testing.assert_array_equal(weighted.labels_[rows], twice.labels_)
    np.testing.assert_array_equal(weighted.predict(X), twice.predict(X))
    np.testing.assert_array_equal(weighted.labels_, twice.predict(X))
    assert not weighted.sample_confidence_[weights == 0].any()


def test_sparse_rows_with_weights_as_dense_ones():
    X, k, weights = data_with_weights("digits")
    dense = FNMF(k, random_state=0).fit(X, sample_weight=weights)
    sparse = FNMF(k, random_state=0).fit(sp.csr_array(X), sample_weight=weights)
    assert np.array_equal(dense.labels_, sparse.labels_)


@pytest.mark.parametrize("solver", ["mu", "hals"])
@pytest.mark.parametrize(
    "weighting", ["uniform", "paper", np.ones(6)], ids=["uniform", "paper", "own"]
)
def test_weights_in_the_objective_are_those_of_repeated_samples(solver, weighting):
    """Rows that are not taken together: a graph and a start of one's own keep them apart."""
    rng = np.random.default_rng(0)
    X, weights = rng.random((40, 6)), rng.integers(1, 4, 40)
    all_rows = np.repeat(np.arange(40), weights)
    S, V, U = adaptive_neighbors(X, 4), rng.random((40, 3)), rng.random((3, 6))
    given = {"solver": solver, "weighting": weighting, "representation": "clusters"}
    given |= {"smoothness": 0.3, "tol": 1e-9, "max_iter": 3000}
    one = FNMF(3, graph=S, init=(V, U), **given).fit(X, sample_weight=weights)
    whole = sp.csr_array(S.toarray()[np.ix_(all_rows, all_rows)])
    other = FNMF(3, graph=whole, init=(V[all_rows], U), **given).fit(X[all_rows])
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-4)
    assert np.allclose(one.components_, other.components_, atol=2e-3)
    assert np.allclose(one.embedding_[all_rows], other.embedding_, atol=2e-3)


@pytest.mark.parametrize("kind", ["dense", "sparse", "missing"])
def test_statistics_of_weighted_rows_are_those_of_repeated_ones(kind):
    rng = np.random.default_rng(0)
    X, weights = rng.poisson(1, (50, 7)).astype(float), rng.integers(1, 4, 50)
    labels = rng.integers(0, 3, 50)
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    from fnmf.affinity import completed

    with threads(1) as runner:

        def seen(rows, own):
            if kind == "sparse":
                rows = sp.csr_array(rows)
            view = completed(rows, runner, DEFAULTS) if kind == "missing" else view_of(rows)
            mean = column_means(view.weighing(own), runner)
            found = labels if own is not None else np.repeat(labels, weights)
            moments = cluster_moments(view, found, 3, mean, runner)
            # Cells are filled from neighbours, of which repeated rows have others.
            if kind == "missing":
                return mean, moments.within, moments.kurtosis
            table = SampleTable.of(view, mean, np.arange(view.shape[0]))
            sampled = table.moments(found, 3)
            size = mean_square(view, runner)
            return mean, moments.within, moments.kurtosis, size, table.spread, sampled.within

        pairs = zip(
            seen(X, weights.astype(float)), seen(np.repeat(X, weights, axis=0), None), strict=True
        )
        for weighted, repeated in pairs:
            assert np.allclose(weighted, repeated, rtol=1e-5, atol=1e-8)


def test_equal_weights_scale_the_graph():
    X = np.random.default_rng(0).random((60, 3))
    once, thrice = small_graph(X, 5), small_graph(X, 5, np.full(60, 3.0))
    assert np.allclose(3 * once.toarray(), thrice.toarray())


def test_distinct_rows_do_not_depend_on_order_or_storage():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 4)).astype(float)
    X[:3, 0], X[3, 1] = np.nan, -0.0
    order = rng.permutation(200)
    found, moved = distinct_rows(view_of(X)), distinct_rows(view_of(X[order]))
    assert np.array_equal(X[found.rows], X[order][moved.rows], equal_nan=True)
    assert np.array_equal(found.weights, moved.weights)
    assert found.weights.sum() == 200
    assert np.array_equal(X[found.rows][found.groups], X + 0.0, equal_nan=True)
    known = np.nan_to_num(X)
    dense, sparse = distinct_rows(view_of(known)), distinct_rows(view_of(sp.csr_array(known)))
    assert np.array_equal(dense.rows, sparse.rows)
    assert distinct_rows(view_of(rng.random((50, 40)))) is None


def test_weights_far_below_one_are_shares():
    X, k, weights = data_with_weights("wine")
    counts = FNMF(k, random_state=0).fit(X, sample_weight=np.where(weights > 0, 1.0, 0.5))
    shares = FNMF(k, random_state=0).fit(X, sample_weight=np.where(weights > 0, 1e-3, 5e-4))
    assert np.array_equal(counts.labels_, shares.labels_)
    assert shares.structure_found_


def test_a_model_of_repeated_rows_is_kept_whole(tmp_path):
    X, k, weights = data_with_weights("wine")
    model = FNMF(k, random_state=0).fit(X, sample_weight=weights)
    save(model, tmp_path / "model.fnmf")
    again = load(tmp_path / "model.fnmf")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.graph_rows_, model.graph_rows_)
    twice = FNMF(k, random_state=0).fit(np.repeat(X, 2, axis=0))
    sizes = [cluster.size for cluster in twice.describe_clusters()]
    assert sum(sizes) == 2 * len(X)
    assert twice.explain(5).cluster == twice.labels_[5]


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (np.ones(3), "sample_weight"),
        (-np.ones(178), "[Nn]egative"),
        (np.zeros(178), "[Ss]ample.weight"),
    ],
)
def test_weights_that_cannot_be(weights, told):
    with pytest.raises(ValueError, match=told):
        FNMF(3).fit(load_wine().data, sample_weight=weights)


def test_one_repeated_row_among_many_features_changes_no_cluster():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1200)
    X = 4.0 * rng.random((3, 120))[y] + rng.random((1200, 120))
    repeated = X.copy()
    repeated[-1], y[-1] = repeated[0], y[0]
    model = RelevanceClusterer(3, random_state=0).fit(repeated)
    assert clustering_accuracy(y, model.labels_) > 0.98
    assert model.labels_[0] == model.labels_[-1]


def test_explanations_name_samples_where_equal_ones_are_kept_once():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 4)) + 6 * (k == np.arange(4)) for k in range(3)])
    X = np.vstack([X, X[:20]])[rng.permutation(110)]
    model = RelevanceClusterer(3, random_state=0).fit(X)
    for sample in (0, 57):
        nearest = model.explain(sample).nearest
        gaps = np.linalg.norm(X - X[sample], axis=1)
        assert all(model.labels_[one.index] == one.cluster for one in nearest)
        assert all(0 < gaps[one.index] < 3 for one in nearest)
        new = model.explain(X[[sample]]).nearest
        assert gaps[new[0].index] == 0
        assert [one.index for one in new[1:]] == [one.index for one in nearest[:4]]
