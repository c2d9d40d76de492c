"""Known changes of the input change the result in a known way."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import non_negative_factorization

import oracle
from fnmf.data import _views, view_of
from problems import VIEWS, as_view, make_problem, make_state, options_of, run_engine

SOLVERS = ("mu", "mu-fast", "hals")
NAMES = ("U", "V", "P", "weights")


def same(found, expected, **tolerance):
    for name in NAMES:
        a, b = getattr(found.factors, name), getattr(expected.factors, name)
        if tolerance:
            np.testing.assert_allclose(a, b, err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(a, b, err_msg=name)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", ["mu", "mu-fast"])
def test_permuting_samples_permutes_the_result(solver, shared):
    problem = make_problem(1, smoothness=0.5)
    state = make_state(problem, 1, shared=shared)
    options = options_of(problem, shared, solver, max_iter=10)
    expected = run_engine(problem.X, problem, state, options)
    order = np.random.default_rng(0).permutation(len(problem.X))
    turned = replace(problem, X=problem.X[order], S=problem.S[np.ix_(order, order)])
    start = replace(state, V=state.V[order], P=state.P[order])
    found = run_engine(turned.X, turned, start, options)
    tolerance = {"rtol": 1e-8, "atol": 1e-12}
    np.testing.assert_allclose(found.factors.V, expected.factors.V[order], **tolerance)
    np.testing.assert_allclose(found.factors.U, expected.factors.U, **tolerance)
    np.testing.assert_allclose(found.factors.weights, expected.factors.weights, **tolerance)
    if not shared:
        np.testing.assert_allclose(found.factors.P, expected.factors.P[order], **tolerance)


@pytest.mark.parametrize("kind", ["c", "csr"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_permuting_features_permutes_the_result(solver, shared, kind, tmp_path):
    problem = make_problem(2, smoothness=0.5)
    state = make_state(problem, 2, shared=shared)
    options = options_of(problem, shared, solver, max_iter=10)
    expected = run_engine(as_view(problem.X, kind, tmp_path), problem, state, options)
    order = np.random.default_rng(0).permutation(problem.X.shape[1])
    turned = replace(problem, X=problem.X[:, order])
    start = replace(state, U=state.U[order], theta=state.theta[:, order])
    options = options_of(turned, shared, solver, max_iter=10)
    found = run_engine(as_view(turned.X, kind, tmp_path), turned, start, options)
    tolerance = {"rtol": 1e-8, "atol": 1e-12}
    np.testing.assert_allclose(found.factors.V, expected.factors.V, **tolerance)
    np.testing.assert_allclose(found.factors.P, expected.factors.P, **tolerance)
    np.testing.assert_allclose(found.factors.U, expected.factors.U[order], **tolerance)
    np.testing.assert_allclose(
        found.factors.weights, expected.factors.weights[:, order], **tolerance
    )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_equals_dense(solver, shared):
    problem = make_problem(3, smoothness=0.5)
    state = make_state(problem, 3, shared=shared)
    options = options_of(problem, shared, solver, max_iter=20)
    dense = run_engine(problem.X, problem, state, options)
    same(run_engine(sp.csr_array(problem.X), problem, state, options), dense, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_views_of_the_same_kind_agree_bit_for_bit(solver, shared, dtype, tmp_path):
    problem = make_problem(4, smoothness=0.5)
    state = make_state(problem, 4, shared=shared)
    options = options_of(problem, shared, solver, max_iter=5)
    for reference, others in (("c", VIEWS[1:4]), ("csr", VIEWS[5:])):
        expected = run_engine(
            as_view(problem.X, reference, tmp_path, dtype), problem, state, options
        )
        for kind in others:
            X = as_view(problem.X, kind, tmp_path, dtype)
            same(run_engine(X, problem, state, options), expected)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["c", "csr"])
def test_threads_do_not_change_a_bit(solver, shared, kind, tmp_path, monkeypatch):
    problem = make_problem(5, n=250, smoothness=0.5)
    state = make_state(problem, 5, shared=shared)
    options = options_of(problem, shared, solver, max_iter=5)
    X = as_view(problem.X, kind, tmp_path, np.float32)
    monkeypatch.setattr(_views, "_SMALL", 1)
    monkeypatch.setattr(_views, "_ENTRIES_PER_FEATURE", 0)
    assert len(view_of(X).blocks()) > 10
    expected = run_engine(X, problem, state, options)
    for n_jobs in (2, 3, 8):
        same(run_engine(X, problem, state, options, n_jobs), expected)


def test_number_of_blocks_changes_rounding_only(monkeypatch):
    problem = make_problem(6, n=150, smoothness=0.5)
    state = make_state(problem, 6)
    options = options_of(problem, False, "mu", max_iter=5)
    expected = run_engine(problem.X, problem, state, options)
    monkeypatch.setattr(_views, "_SMALL", 1)
    monkeypatch.setattr(_views, "_ENTRIES_PER_FEATURE", 0)
    same(run_engine(problem.X, problem, state, options), expected, rtol=1e-9, atol=1e-13)


def test_blocks_cover_every_row_once(monkeypatch):
    for small in (1, 100, 1 << 18):
        monkeypatch.setattr(_views, "_SMALL", small)
        for n in (1, 3, 4, 5, 127, 1000):
            blocks = view_of(np.ones((n, 7))).blocks()
            rows = np.concatenate([np.arange(start, stop) for start, stop in blocks])
            np.testing.assert_array_equal(rows, np.arange(n))


@pytest.mark.parametrize("kind", ["c", "csr"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("normalize", [False, True])
def test_scaling_the_data_scales_the_result(solver, shared, kind, normalize, tmp_path):
    """A power of two changes no rounding: all results but the scale agree to the last bit."""
    factor = 2.0**10
    problem = make_problem(7, smoothness=0.5)
    state = make_state(problem, 7, shared=shared)
    options = options_of(problem, shared, solver, normalize=normalize, max_iter=6)
    expected = run_engine(as_view(problem.X, kind, tmp_path), problem, state, options)
    # With components of unit length the codes carry the scale, and smoothness keeps its meaning.
    scaled = replace(problem, X=factor * problem.X, diversity=factor**2 * problem.diversity)
    if normalize:
        start = replace(state, V=factor * state.V)
    else:
        start = replace(state, U=factor * state.U)
        scaled.smoothness *= factor**2
    options = options_of(scaled, shared, solver, normalize=normalize, max_iter=6)
    found = run_engine(as_view(scaled.X, kind, tmp_path), scaled, start, options)
    np.testing.assert_allclose(found.factors.P, expected.factors.P, rtol=1e-11)
    np.testing.assert_allclose(found.factors.weights, expected.factors.weights, atol=1e-12)
    product = expected.factors.V @ expected.factors.U.T
    np.testing.assert_allclose(
        found.factors.V @ found.factors.U.T, factor * product, rtol=1e-10, atol=1e-10
    )
    assert found.objective == pytest.approx(factor**2 * expected.objective, rel=1e-10)


@pytest.mark.parametrize("kind", ["c", "csr"])
@pytest.mark.parametrize("assignment_shared", [False, True])
def test_one_uniform_weighting_without_graph_is_plain_nmf(assignment_shared, kind, tmp_path):
    problem = make_problem(8, smoothness=0.0)
    X = problem.X[:, problem.live]
    problem = oracle.Problem(X, np.zeros_like(problem.S), smoothness=0.0)
    d = X.shape[1]
    state = make_state(problem, 8, n_weightings=1, shared=assignment_shared)
    state.theta[:] = 1 / d
    options = options_of(problem, assignment_shared, "mu-fast", learn=False, max_iter=25)
    found = run_engine(as_view(X, kind, tmp_path), problem, state, options).factors
    W, H, _ = non_negative_factorization(
        X / d,
        W=state.V.copy(),
        H=state.U.T.copy(),
        n_components=4,
        init="custom",
        solver="mu",
        max_iter=25,
        tol=0,
    )
    # scikit-learn floors its denominators; an empty sample ends at 0 in both.
    np.testing.assert_allclose(found.V, W, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(found.U.T, H, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_empty_graph_and_no_smoothness_are_the_same(solver):
    problem = make_problem(9, smoothness=3.0)
    state = make_state(problem, 9)
    without = replace(problem, S=np.zeros_like(problem.S))
    relaxed = replace(problem, smoothness=0.0)
    found = run_engine(problem.X, without, state, options_of(without, False, solver, max_iter=8))
    expected = run_engine(problem.X, relaxed, state, options_of(relaxed, False, solver, max_iter=8))
    same(found, expected)


def test_single_precision_follows_double_precision():
    problem = make_problem(10, smoothness=0.5)
    state = make_state(problem, 10)
    for solver in SOLVERS:
        options = options_of(problem, False, solver, max_iter=5)
        single = run_engine(problem.X.astype(np.float32), problem, state, options)
        assert single.factors.U.dtype == single.factors.V.dtype == np.float32
        double = run_engine(problem.X, problem, state, options)
        same(single, double, rtol=5e-3, atol=1e-4)
