"""Rows rescaled inside the kernels against the same rows rescaled beforehand."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.data import Scaling, view_of
from problems import factors_of, make_problem, make_state, options_of, run_view


def _scaling(n, d):
    rng = np.random.default_rng(0)
    columns = rng.uniform(0.5, 2, d)
    columns[d // 3] = 0
    return Scaling(rng.uniform(0.5, 2, n), rng.uniform(0.3, 0.9, d), columns)


def _rescaled(X, scaling):
    return scaling.rows[:, None] * np.minimum(X, scaling.caps) * scaling.columns


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_hold_the_rescaled_rows(dtype, as_input):
    X = make_problem(0, 21, 9).X.astype(dtype)
    scaling = _scaling(*X.shape)
    view = view_of(as_input(X)).scaled(scaling)
    block = view.block(4, 17)
    rows = block[0]
    if len(block) > 1:
        data, indices, pointers = block
        rows = sp.csr_array((data, indices, pointers - pointers[0]), shape=(13, 9)).toarray()
    np.testing.assert_allclose(rows, _rescaled(X, scaling)[4:17], rtol=1e-6)


@pytest.mark.parametrize("solver", ["mu", "mu-fast", "hals"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 17), (3, 1), (15, 300), (17, 16), (34, 33)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_iteration_sees_the_rescaled_rows(dtype, n, d, shared, solver):
    rng = np.random.default_rng(1)
    X = rng.uniform(0.1, 1, (n, d)).astype(dtype)
    scaling = _scaling(n, d)
    problem = make_problem(1, max(n, 4), max(d, 4))
    state = make_state(problem, 1)
    state = type(state)(state.U[:d], state.V[:n], state.P[:n], state.theta[:, :d])
    options = options_of(problem, shared, solver, learn=False)
    outcomes = []
    for view in (view_of(X).scaled(scaling), view_of(_rescaled(X, scaling).astype(dtype))):
        factors = factors_of(state, shared, dtype)
        outcomes.append(run_view(view, None, factors, options).factors)
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    for name in ("U", "V", "P"):
        ours, expected = (getattr(factors, name) for factors in outcomes)
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance, err_msg=name)
