"""One iteration of the engine equals the oracle, and no block of it raises the objective."""

from dataclasses import replace

import numpy as np
import pytest

import oracle
from problems import VIEWS, as_view, make_problem, make_state, options_of, run_engine, state_of

SOLVERS = ("mu", "mu-fast", "hals")
BLOCKS = ("V", "P", "theta", "U")


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_iterations_equal_the_oracle_on_every_view(solver, shared, kind, tmp_path):
    problem = make_problem(1, smoothness=0.3)
    expected = state = make_state(problem, 1, shared=shared)
    for _ in range(5):
        expected = oracle.iterate(problem, expected, solver, shared)
    options = options_of(problem, shared, solver, max_iter=5)
    found = state_of(
        run_engine(as_view(problem.X, kind, tmp_path), problem, state, options).factors
    )
    for name in BLOCKS:
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-11, err_msg=name
        )


@pytest.mark.parametrize("n_components", [1, 2, 5, 6, 11])
@pytest.mark.parametrize("n_weightings", [1, 2, 4, 7])
@pytest.mark.parametrize("kind", ["c", "csr"])
def test_any_number_of_components_and_weightings_equals_the_oracle(
    n_components, n_weightings, kind, tmp_path
):
    problem = make_problem(2, n=21, d=9, scale_free=True)
    for shared in (False, True):
        state = make_state(problem, 2, n_components, n_weightings, shared)
        for solver in SOLVERS:
            expected = oracle.iterate(problem, state, solver, shared)
            options = options_of(problem, shared, solver)
            result = run_engine(as_view(problem.X, kind, tmp_path), problem, state, options)
            found = state_of(result.factors)
            for name in BLOCKS:
                np.testing.assert_allclose(
                    getattr(found, name), getattr(expected, name), rtol=1e-7, atol=1e-10
                )


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 3), (3, 17), (4, 16), (5, 1), (9, 33)])
@pytest.mark.parametrize("kind", ["c", "csr"])
def test_small_shapes_equal_the_oracle(shape, kind, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 1, shape)
    problem = oracle.Problem(X, np.zeros((shape[0],) * 2), smoothness=0.0)
    state = make_state(problem, 3, n_components=1)
    expected = oracle.iterate(problem, state, "mu", shared=False)
    result = run_engine(
        as_view(X, kind, tmp_path), problem, state, options_of(problem, False, "mu")
    )
    found = state_of(result.factors)
    for name in BLOCKS:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)


@pytest.mark.parametrize("n", [3, 15, 17, 34])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_tails_of_batches_and_panels_equal_the_oracle(solver, shared, n, tmp_path):
    problem = make_problem(4, n=n, d=300)
    state = make_state(problem, 4, n_components=18, shared=shared)
    expected = oracle.iterate(problem, state, solver, shared)
    options = options_of(problem, shared, solver)
    found = state_of(run_engine(as_view(problem.X, "c", tmp_path), problem, state, options).factors)
    for name in BLOCKS:
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-7, atol=1e-10, err_msg=name
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["c", "csr"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale_free", [False, True])
def test_no_single_block_update_raises_the_objective(
    scale_free, solver, shared, kind, dtype, tmp_path
):
    for number, (diversity, smoothness) in enumerate(
        [(1.0, 1.0), (1e-3, 1e-3), (1e-3, 1e3), (1e3, 1e-3), (1e3, 1e3), (1.0, 0.0)]
    ):
        for n_weightings in range(1, 6):
            seed = 10 * number + n_weightings
            problem = make_problem(
                seed, 18, 11, diversity=diversity, smoothness=smoothness, scale_free=scale_free
            )
            state = make_state(problem, seed, 3, n_weightings, shared)
            X = as_view(problem.X, kind, tmp_path, dtype)
            options = options_of(problem, shared, solver)
            for _ in range(3):
                after = state_of(run_engine(X, problem, state, options).factors)
                unscaled = after
                if scale_free:
                    plain = run_engine(X, problem, state, replace(options, normalize=False))
                    unscaled = _undo_rescaling(after, plain.factors.V.astype(np.float64))
                order = oracle.order(solver, shared)
                _check_blocks(problem, state, unscaled, order, np.finfo(dtype).eps)
                state = after


def _undo_rescaling(after, V):
    """The factors before the columns of U were set to unit length; V is known from there."""
    rows, columns = V.argmax(axis=0), np.arange(V.shape[1])
    top = V[rows, columns]
    norms = np.divide(after.V[rows, columns], top, out=np.ones_like(top), where=top > 0)
    np.testing.assert_allclose(after.V, V * norms, rtol=1e-5)
    return replace(after, V=V, U=after.U * norms)


def _check_blocks(problem, state, after, order, eps):
    for name in order:
        rows = range(len(state.theta)) if name == "theta" else [slice(None)]
        for row in rows:
            values = getattr(state, name).copy()
            values[row] = getattr(after, name)[row]
            moved = replace(state, **{name: values})
            # The numbers that cancel are each known to a few units in the last place.
            slack = 8 * eps * (oracle.magnitude(problem, state) + oracle.magnitude(problem, moved))
            rise = oracle.objective(problem, moved) - oracle.objective(problem, state)
            assert rise <= slack, (name, row, rise, slack)
            state = moved


@pytest.mark.parametrize("kind", ["c", "csr"])
@pytest.mark.parametrize("scale_free", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_history_equals_the_direct_objective(solver, shared, scale_free, kind, tmp_path):
    problem = make_problem(5, smoothness=0.5, scale_free=scale_free)
    state = make_state(problem, 5, shared=shared)
    X = as_view(problem.X, kind, tmp_path)
    for n_iter in (1, 2, 12):
        options = options_of(problem, shared, solver, max_iter=n_iter)
        result = run_engine(X, problem, state, options)
        direct = oracle.terms(problem, state_of(result.factors))
        assert len(result.history) == n_iter
        for term, value in direct.items():
            assert result.history[term][-1] == pytest.approx(value, rel=1e-8, abs=1e-12), term
        assert result.objective == result.history["total"][-1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale_free", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_history_falls(solver, shared, scale_free, dtype):
    problem = make_problem(6, smoothness=0.5, scale_free=scale_free)
    state = make_state(problem, 6, shared=shared)
    options = options_of(problem, shared, solver, max_iter=60)
    history = run_engine(problem.X.astype(dtype), problem, state, options).history["total"]
    slack = 8 * np.finfo(dtype).eps * oracle.magnitude(problem, state)
    assert (np.diff(history) <= slack).all()
    assert history[-1] < 0.9 * history[0]


@pytest.mark.parametrize("shared", [False, True])
def test_normalised_components_have_unit_length(shared):
    problem = make_problem(7, scale_free=True)
    state = make_state(problem, 7, shared=shared)
    options = options_of(problem, shared, "mu", max_iter=3)
    U = run_engine(problem.X, problem, state, options).factors.U
    np.testing.assert_allclose(np.linalg.norm(U, axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize("solver", ["mu", "mu-fast"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [False, True])
def test_zero_rows_of_the_factors_stay_finite_at_any_scale(solver, dtype, shared):
    # A feature can lose all weight, and with it its row of U, and win weight again later.
    problem = make_problem(8, smoothness=1.0)
    problem.X = problem.X * 2.0**20
    state = make_state(problem, 8, shared=shared)
    state.U[[0, 3]] = 0
    state.V[[1, 5]] = 0
    options = options_of(problem, shared, solver, max_iter=3)
    result = run_engine(problem.X.astype(dtype), problem, state, options)
    for values in (result.factors.U, result.factors.V, result.factors.P, result.factors.weights):
        assert np.isfinite(values).all()
    assert np.isfinite(result.objective)
