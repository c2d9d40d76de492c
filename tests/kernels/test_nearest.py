"""The nearest rows from products, against all distances sorted."""

import numpy as np
import pytest

from fnmf.affinity._kernels import few_nearest


def sorted_distances(X, Y, k, others):
    """Everything measured and sorted; of equals the first ones count."""
    gaps = ((X[:, None, :].astype(float) - Y[None].astype(float)) ** 2).sum(axis=2)
    if others:
        np.fill_diagonal(gaps, np.inf)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(gaps, order, axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40, 203])
@pytest.mark.parametrize("whole", [True, False], ids=["ties", "no ties"])
def test_rows_are_those_of_a_sort(dtype, count, whole):
    rng = np.random.default_rng(count)
    X = rng.integers(0, 3, (30, 4)) if whole else rng.random((30, 4))
    Y = rng.integers(0, 3, (count, 4)) if whole else rng.random((count, 4))
    X, Y = X.astype(dtype), Y.astype(dtype)
    lengths, squares = ((rows.astype(float) ** 2).sum(axis=1) for rows in (X, Y))
    for k in {1, min(6, count), count}:
        indices, distances = few_nearest(np.ascontiguousarray(X @ Y.T), squares, lengths, k, False)
        expected, gaps = sorted_distances(X, Y, k, others=False)
        np.testing.assert_allclose(distances, gaps, atol=1e-5 if dtype == np.float32 else 1e-12)
        if whole or dtype == np.float64:
            np.testing.assert_array_equal(indices, expected)


@pytest.mark.parametrize("k", [1, 5, 30, 58])
def test_no_row_is_its_own_neighbour(k):
    X = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    squares = (X**2).sum(axis=1)
    indices, distances = few_nearest(X @ X.T, squares, squares, k, True)
    expected, gaps = sorted_distances(X, X, k, others=True)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(distances, gaps)


def test_rows_of_zeros_have_neighbours_too():
    nothing = np.zeros((5, 40))
    indices, distances = few_nearest(nothing, np.zeros(40), np.zeros(5), 3, False)
    np.testing.assert_array_equal(indices, np.tile(np.arange(3), (5, 1)))
    assert not distances.any()
