"""Single passes over rows, against NumPy on the same rows in double precision."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.data import Scaling, view_of
from fnmf.kernels.csr import dense_products
from fnmf.kernels.rescale import cluster_sums, column_sums, row_distances, rows_of
from fnmf.statistics import column_squares, row_squares, sums_by_cluster

N, D, K = 53, 37, 4


@pytest.fixture(params=[np.float32, np.float64])
def data(request):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, D)) < 0.4, rng.random((N, D)), 0).astype(request.param)
    scaling = Scaling(rng.random(N), rng.uniform(0.3, 1, D), rng.random(D))
    return X, scaling, rng.integers(0, K - 1, N)


def scaled(X, scaling):
    """As the working type sees them, then in double precision."""
    rows, caps, columns = (a.astype(X.dtype) for a in (scaling.rows, scaling.caps, scaling.columns))
    return (np.minimum(X, caps) * columns * rows[:, None]).astype(float)


@pytest.mark.parametrize("with_scaling", [True, False])
def test_sums_by_feature_and_cluster(data, with_scaling):
    X, scaling, labels = data
    part = view_of(X, scaling if with_scaling else None)
    Z = scaled(X, scaling) if with_scaling else X.astype(float)
    mean = Z.mean(axis=0)
    values, squares, positive = column_sums(rows_of(part))
    np.testing.assert_allclose(values, Z.sum(axis=0))
    np.testing.assert_allclose(squares, (Z**2).sum(axis=0))
    np.testing.assert_array_equal(positive, (Z > 0).sum(axis=0))
    sums, squares, fourth = cluster_sums(rows_of(part), labels, mean, K)
    for a in range(K):
        np.testing.assert_allclose(sums[a], (Z - mean)[labels == a].sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(squares[a], ((Z - mean)[labels == a] ** 2).sum(axis=0))
    np.testing.assert_allclose(fourth, ((Z - mean) ** 4).sum(axis=0))


def test_distances_to_centres(data):
    X, scaling, labels = data
    rng = np.random.default_rng(1)
    centres, weights = rng.random((K, D)), rng.random((3, D))
    part, Z = view_of(X, scaling), scaled(X, scaling)
    found = row_distances(rows_of(part), centres, labels, weights)
    np.testing.assert_allclose(found, (Z - centres[labels]) ** 2 @ weights.T)
    found = row_distances(rows_of(part), centres[:1], np.empty(0, np.int64), weights)
    np.testing.assert_allclose(found, (Z - centres[0]) ** 2 @ weights.T)


def test_dense_and_sparse_rows_have_the_same_sums(data):
    X, scaling, labels = data
    dense, sparse = view_of(X, scaling), view_of(sp.csr_array(X), scaling)
    np.testing.assert_allclose(row_squares(dense), row_squares(sparse), rtol=1e-6)
    np.testing.assert_allclose(column_squares(dense), column_squares(sparse), rtol=1e-6)
    mean = scaled(X, scaling).mean(axis=0)
    one = sums_by_cluster(rows_of(dense), labels, K, mean)
    other = sums_by_cluster(sparse.double(0, N), labels, K, mean)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_products_of_sparse_rows(data):
    X, _, _ = data
    rows, others = sp.csr_array(X), sp.csr_array(X[:20].T)
    own = rows.indptr, rows.indices, rows.data
    found = dense_products(*own, others.indptr, others.indices, others.data, 20)
    np.testing.assert_allclose(found, X @ X[:20].T, rtol=1e-5, atol=1e-6)
