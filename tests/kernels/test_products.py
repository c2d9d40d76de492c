"""Products of blocks with a few vectors, against NumPy on the same rows in double precision."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba.core import event

from fnmf import FNMF
from fnmf.data import Scaling, view_of
from fnmf.execution import Threads
from fnmf.factorization.solver import ExecutionContext
from fnmf.kernels.rows import descend_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 19, 3), (53, 37, 5), (40, 300, 11)])
@pytest.mark.parametrize("how", ["dense", "capped", "csr"])
def test_both_products_of_a_block(dtype, shape, how):
    n, d, c = shape
    rng = np.random.default_rng(n)
    X = np.where(rng.random((n, d)) < 0.6, rng.random((n, d)), 0).astype(dtype)
    scaling = Scaling(rng.random(n), rng.uniform(0.3, 1, d), rng.random(d))
    view = view_of(sp.csr_array(X) if how == "csr" else X, scaling if how == "capped" else None)
    Z = view.dense().exact(0, n)
    U, V = rng.random((d, c)).astype(dtype), rng.random((n, c)).astype(dtype)
    layout = ExecutionContext(view, Threads(1)).layout
    block, basis = layout.operands(view, 0, n), layout.pack_basis(U)
    products, cross = np.empty((n, c), dtype), np.zeros_like(basis)
    layout.kernels.project_block(*block, basis, products)
    layout.kernels.outer_block(*block, V, cross)
    close = {"rtol": 1e-5 if dtype == np.float32 else 1e-12}
    np.testing.assert_allclose(products, Z @ U, **close)
    np.testing.assert_allclose(layout.unpack_basis(cross, c), Z.T @ V, **close)


def test_descent_ends_at_the_least_squares_above_zero():
    rng = np.random.default_rng(0)
    A = rng.random((20, 4))
    expected = np.maximum(rng.normal(size=(6, 4)), 0)
    values = np.ones((6, 4), np.float32)
    descend_rows(values, expected @ A.T @ A, np.ones((1, 1)), (A.T @ A)[None], 2000)
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_numpy_integers_as_parameters_compile_nothing_anew():
    X = np.random.default_rng(0).random((60, 8)) + np.repeat(np.eye(3, 8), 20, axis=0)

    def fit(number):
        FNMF(number(3), max_iter=number(5), random_state=number(0), n_jobs=1).fit(X)

    fit(int)
    with event.install_recorder("numba:compile") as recorder:
        for number in (np.int64, np.int32, np.uint8):
            fit(number)
    assert not recorder.buffer
