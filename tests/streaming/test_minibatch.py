"""MiniBatchFNMF: streams of any form, numbers that stay, memory that does not grow."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from fnmf import MiniBatchFNMF
from fnmf.metrics import clustering_accuracy
from fnmf.streaming._renewal import _numbered_as

pytestmark = pytest.mark.filterwarnings("ignore")
D, C = 30, 3


def rows_of(labels, seed, informative=slice(0, 6)):
    """Noise in all features but six, two for each of three clusters."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (len(labels), D))
    X[:, informative] = rng.uniform(0, 0.3, (len(labels), 6))
    X[:, informative] += np.eye(C).repeat(2, axis=1)[labels]
    return X


def batch(seed, n=200, **options):
    labels = np.random.default_rng(seed + 1000).integers(0, C, n)
    return rows_of(labels, seed, **options), labels


def model(**parameters):
    given = {"random_state": 0, "n_jobs": 1, "batch_size": 200, "sample_size": 400}
    return MiniBatchFNMF(C, **{**given, **parameters})


@pytest.fixture(scope="module")
def streamed():
    found = model()
    for seed in range(6):
        found.partial_fit(batch(seed)[0])
    return found


def test_a_stream_is_clustered_and_its_features_found(streamed):
    X, y = batch(100)
    assert clustering_accuracy(y, streamed.predict(X)) > 0.97
    assert roc_auc_score(np.arange(D) < 6, streamed.feature_importances_) > 0.99
    assert streamed.n_samples_seen_ == 1200
    assert streamed.n_steps_ == 6
    assert streamed.transform(X).shape == (200, C)


def test_sparse_batches_give_what_dense_ones_give():
    dense, sparse = model(), model()
    for seed in range(3):
        X = np.where(batch(seed)[0] > 0.2, batch(seed)[0], 0)
        dense.partial_fit(X)
        sparse.partial_fit(sp.csr_array(X))
    X = np.where(batch(9)[0] > 0.2, batch(9)[0], 0)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(sp.csr_array(X)))
    np.testing.assert_allclose(
        dense.feature_importances_, sparse.feature_importances_, rtol=1e-6, atol=1e-9
    )


def test_rows_one_by_one_wait_until_there_are_enough():
    X, y = batch(0, n=40)
    found = model()
    for row in X[:6]:
        found.partial_fit(row[None])
    with pytest.raises(NotFittedError, match="has seen 6 rows, and needs at least 7"):
        found.predict(X)
    for row in X[6:]:
        found.partial_fit(row[None])
    assert found.n_samples_seen_ == found.n_steps_ == 40
    assert clustering_accuracy(y, found.predict(X)) > 0.6


def test_a_batch_that_lacks_a_cluster_does_no_harm(streamed):
    found = copy.deepcopy(streamed)
    X, _ = batch(100)
    before = found.predict(X)
    found.partial_fit(rows_of(np.zeros(50, int), 7))
    assert np.mean(found.predict(X) == before) > 0.98


def test_numbers_stay_through_renewals():
    found = model(forget_factor=0.8)
    X, _ = batch(100)
    seen = []
    for seed in range(12):
        found.partial_fit(batch(seed)[0])
        seen.append(found.predict(X))
    assert found.n_renewals_ >= 3
    assert all(np.mean(one == seen[-1]) > 0.97 for one in seen[2:])


@pytest.mark.parametrize("before", [8, 12])
def test_relevance_follows_a_change_within_the_memory(before):
    found = model(forget_factor=0.9)  # ten batches
    for seed in range(before):
        found.partial_fit(batch(seed)[0])
    for seed in range(before, before + 11):
        found.partial_fit(batch(seed, informative=slice(20, 26))[0])
    now = np.isin(np.arange(D), np.arange(20, 26))
    assert roc_auc_score(now, found.feature_importances_) > 0.95
    X, y = batch(100, informative=slice(20, 26))
    assert clustering_accuracy(y, found.predict(X)) > 0.95


def test_memory_does_not_grow():
    found = model(sample_size=60, batch_size=30, forget_factor=0.9, max_iter=20)
    sizes = []
    for seed in range(40):
        found.partial_fit(batch(seed, n=30)[0])
        sizes.append(len(pickle.dumps(found)))
    assert max(sizes[20:]) <= 1.05 * max(sizes[5:20])


def test_same_seed_same_result():
    X = batch(0)[0]
    one, other = model().fit(X), model(n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_fit_begins_anew_and_keeps_labels():
    X, y = batch(0, n=500)
    found = model().partial_fit(X[:, ::-1])
    assert clustering_accuracy(y, found.fit_predict(X)) > 0.95
    assert found.n_samples_seen_ == 500
    assert not hasattr(found.partial_fit(X[:10]), "labels_")


def test_a_huge_batch_is_taken_bit_by_bit():
    X = np.vstack([batch(seed)[0] for seed in range(3)])
    whole, parts = model().partial_fit(X), model()
    for start in range(0, len(X), 200):
        parts.partial_fit(X[start : start + 200])
    np.testing.assert_array_equal(whole.components_, parts.components_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"forget_factor": 1.5}, "forget_factor=1.5 is more than 1"),
        ({"forget_factor": 0.0}, "forget_factor=0.0 is out of range"),
        ({"batch_size": 0}, "batch_size=0 is too small"),
        ({"sample_size": 5}, "sample_size=5 is too small; 7 rows"),
        ({"row_norm": "l1"}, "row_norm='l1' is not known"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        model(**parameters).partial_fit(batch(0)[0])


def test_a_stream_cannot_change_its_number_of_clusters():
    found = model().partial_fit(batch(0)[0]).set_params(n_clusters=5)
    with pytest.raises(ValueError, match="has 3 clusters, and 5 are asked for now"):
        found.partial_fit(batch(1)[0])


def test_dask_arrays_are_sent_elsewhere():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"partial_fit\(block.compute\(\)\) for block in X.blocks"):
        model().fit(da.ones((10, D)))


def test_extreme_units_change_nothing():
    ordinary, extreme = model(), model()
    for seed in range(2):
        ordinary.partial_fit(batch(seed)[0])
        extreme.partial_fit(np.ldexp(batch(seed)[0], 400))
    X = batch(9)[0]
    np.testing.assert_array_equal(ordinary.predict(X), extreme.predict(np.ldexp(X, 400)))


def test_renewals_wait_once_the_sample_is_full():
    found = model(forget_factor=0.99)  # 20,000 rows
    renewals = []
    for seed in range(12):
        found.partial_fit(batch(seed)[0])
        renewals.append(found.n_renewals_)
    # At 200 rows, at 800 with a full sample of 400, and not at 3,200 of the same kind.
    assert renewals == [1, 1, 1] + [2] * 9
    assert found.cluster_sizes_.sum() == pytest.approx(200 * (1 - 0.99**12) / 0.01)


def test_means_that_decide_are_numbered_with_their_clusters(streamed):
    fitted = streamed._stream.fitted
    means = np.arange(C * D, dtype=float).reshape(C, D)
    swapped = (fitted.labels + 1) % C
    found = _numbered_as(replace(fitted, centres=means), swapped, fitted, C)
    np.testing.assert_array_equal(found.labels, swapped)
    np.testing.assert_array_equal(found.centres[(np.arange(C) + 1) % C], means)
