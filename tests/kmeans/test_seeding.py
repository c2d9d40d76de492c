"""k-means with our own k-means++ against scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import load_digits

from fnmf.kmeans import fit_kmeans, plus_plus


@pytest.mark.parametrize("n_clusters", [1, 2, 10, 37])
def test_chooses_the_rows_that_scikit_learn_chooses(n_clusters: int) -> None:
    X = load_digits().data
    for seed in range(5):
        ours = plus_plus(X, n_clusters, np.random.RandomState(seed))
        theirs, _ = kmeans_plusplus(X, n_clusters, random_state=np.random.RandomState(seed))
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_same_clusters_as_scikit_learn(as_input: type) -> None:
    X = load_digits().data[:300]
    rows = as_input(X)
    if sp.issparse(rows):
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    ours = fit_kmeans(rows, 10, n_init=3, random_state=0)
    theirs = KMeans(10, n_init=3, random_state=0).fit(rows)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.get_params() == theirs.get_params()


def test_as_many_clusters_as_rows() -> None:
    X = np.random.default_rng(0).random((6, 3)).astype(np.float32)
    assert len(np.unique(fit_kmeans(X, 6, n_init=2, random_state=0).labels_)) == 6
