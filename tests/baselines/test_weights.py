"""Competitors with weights: a sample of weight 2 is there twice, one of weight 0 is not there."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs

import fnmf
from fnmf.baselines import GNMF, NMF, RNMF, EntropyKMeans, KMeans
from fnmf.graph import adaptive_neighbors

pytestmark = pytest.mark.filterwarnings("ignore")
FACTORISATIONS = [NMF, RNMF, GNMF]
RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(1, 4, 60)
ROWS = np.repeat(np.arange(60), WEIGHTS)
X = load_digits().data[:60]
START = RNG.random((60, 3)), RNG.random((3, 64))


def fitted(method, rows, weights=None, **parameters):
    given = {"max_iter": 200, "random_state": 0} if method in FACTORISATIONS else {}
    return method(3, **{"random_state": 0, **given, **parameters}).fit(rows, sample_weight=weights)


def graphs():
    graph = adaptive_neighbors(X, 5)
    return graph, sp.csr_array(graph.toarray()[np.ix_(ROWS, ROWS)])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", FACTORISATIONS)
def test_weight_is_repetition_from_the_same_start(method, form):
    one, other = {}, {}
    if method is GNMF:
        one["graph"], other["graph"] = graphs()
    V, U = START
    weighted = fitted(method, form(X), WEIGHTS, init=(V, U), **one)
    repeated = fitted(method, form(X[ROWS]), init=(V[ROWS], U), **other)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-5)
    np.testing.assert_allclose(weighted.embedding_[ROWS], repeated.embedding_, rtol=1e-3, atol=1e-3)
    # Weights mean something: without them the basis is another one.
    plain = fitted(method, form(X), init=(V, U), **one)
    assert np.abs(plain.components_ - weighted.components_).max() > 1e-3


@pytest.mark.parametrize("method", [*FACTORISATIONS, KMeans, EntropyKMeans])
def test_samples_of_weight_0_are_not_there(method, tmp_path):
    there = np.arange(60) % 4 > 0
    zeros, without = fitted(method, X, there.astype(float)), fitted(method, X[there])
    np.testing.assert_array_equal(zeros.labels_[there], without.labels_)
    if method in FACTORISATIONS:
        np.testing.assert_allclose(zeros.embedding_[there], without.embedding_)
        np.testing.assert_allclose(zeros.transform(X), without.transform(X))
        np.testing.assert_allclose(zeros.embedding_[~there], without.transform(X[~there]))
    else:
        np.testing.assert_array_equal(zeros.labels_, without.predict(X))
    fnmf.save(zeros, tmp_path / "model.fnmf")
    again = fnmf.load(tmp_path / "model.fnmf")
    use = "transform" if method in FACTORISATIONS else "predict"
    np.testing.assert_array_equal(getattr(again, use)(X), getattr(zeros, use)(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", [KMeans, EntropyKMeans])
def test_weight_is_repetition_where_starts_find_the_same_clusters(method, form):
    rows = make_blobs(60, 4, centers=3, cluster_std=0.5, random_state=0)[0]
    given = {"entropy": 20.0} if method is EntropyKMeans else {}
    weighted = fitted(method, form(rows), WEIGHTS, **given)
    repeated = fitted(method, form(rows[ROWS]), **given)
    for centres in weighted.cluster_centers_:
        nearest = np.abs(repeated.cluster_centers_ - centres).max(axis=1).min()
        assert nearest == pytest.approx(0, abs=1e-9)
    if method is KMeans:
        np.testing.assert_allclose(weighted.scale_, repeated.scale_)
    else:
        assert weighted.objective_ == pytest.approx(repeated.objective_)


@pytest.mark.parametrize("method", FACTORISATIONS)
def test_weights_of_one_change_nothing(method):
    plain, ones = fitted(method, X), fitted(method, X, np.ones(60))
    np.testing.assert_array_equal(plain.embedding_, ones.embedding_)


@pytest.mark.parametrize("graph", ["adaptive", "binary"])
def test_equal_weights_change_no_factors(graph):
    plain, twice = fitted(GNMF, X, graph=graph), fitted(GNMF, X, np.full(60, 2.0), graph=graph)
    factor = 4 if graph == "binary" else 2
    np.testing.assert_allclose(twice.graph_.toarray(), factor * plain.graph_.toarray())
    if graph == "adaptive":
        np.testing.assert_allclose(plain.embedding_, twice.embedding_, rtol=1e-6, atol=1e-8)
        assert twice.objective_ == pytest.approx(2 * plain.objective_)
