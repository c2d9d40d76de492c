"""The steps of U and V follow the gradient of the objective and end where it says."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import oracle
from fnmf.data import view_of
from fnmf.execution import Threads
from fnmf.factorization.solver import ExecutionContext
from fnmf.factorization.solver._basis import hessian_times, update_basis
from fnmf.factorization.solver._sweeps import Sweeps
from fnmf.factorization.terms import RULES
from problems import factors_of, make_problem, make_state, options_of, run_engine, state_of

SOLVERS = ("mu", "mu-fast", "hals")


def sweeps_on(problem, options, kind="dense"):
    X = sp.csr_array(problem.X) if kind == "sparse" else problem.X
    objective = options.objective(sp.csr_array(problem.S), np.dtype(np.float64))
    return Sweeps(ExecutionContext(view_of(X), Threads(1)), objective, RULES[options.solver])


def numerical_gradient(problem, state, name):
    """Central differences: exact up to rounding, as the objective is quadratic in U and in V."""
    values = getattr(state, name)
    gradient = np.empty_like(values)
    h = 2.0**-6
    for index in np.ndindex(values.shape):
        ends = []
        for step in (h, -h):
            moved = values.copy()
            moved[index] += step
            ends.append(oracle.objective(problem, replace(state, **{name: moved})))
        gradient[index] = (ends[0] - ends[1]) / (2 * h)
    return gradient


def kkt_residual(problem, state, name):
    """‖min(value, gradient)‖: zero exactly at the points that satisfy the conditions."""
    above, below = (oracle.parts_of_u if name == "U" else oracle.parts_of_v)(problem, state)
    return np.linalg.norm(np.minimum(getattr(state, name), 2 * (below - above)))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_sums_give_the_gradient_of_u(kind, shared):
    problem = make_problem(1, n=14, d=7)
    factors = factors_of(make_state(problem, 1, 3, 2, shared), shared)
    sweeps = sweeps_on(problem, options_of(problem, shared, "mu"), kind)
    sweeps.refresh_ties(factors.V)
    if shared:
        sums = sweeps.shared(factors)
        targets = sweeps.effective_weights(factors)[:, None] * sums.codes_cross
        grams = factors.P[0, :, None, None] ** 2 * sums.codes_gram
    else:
        targets, grams = sweeps.codes(factors)
    found = 2 * (hessian_times(factors.U, grams, None) - targets)
    expected = numerical_gradient(problem, state_of(factors), "U")
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", ["mu", "mu-fast"])
def test_multiplicative_step_of_v_follows_the_gradient(solver, shared):
    problem = make_problem(2, n=14, d=7, smoothness=0.7)
    state = make_state(problem, 2, 3, 2, shared)
    _, below = oracle.parts_of_v(problem, state)
    ratio = 1 - numerical_gradient(problem, state, "V") / (2 * below)
    V = run_engine(problem.X, problem, state, options_of(problem, shared, solver)).factors.V
    expected = state.V * (np.sqrt(np.maximum(ratio, 0)) if solver == "mu" else ratio)
    np.testing.assert_allclose(V, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["U", "V"])
def test_gradient_of_the_oracle_is_the_numerical_one(name):
    problem = make_problem(3, n=11, d=6, smoothness=2.0)
    state = make_state(problem, 3, 3, 3)
    above, below = (oracle.parts_of_u if name == "U" else oracle.parts_of_v)(problem, state)
    expected = numerical_gradient(problem, state, name)
    np.testing.assert_allclose(2 * (below - above), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("solver", "rounds"), [("mu", 4000), ("mu-fast", 4000), ("hals", 100)])
def test_repeated_steps_of_u_reach_the_least_squares_solution(solver, rounds):
    problem = make_problem(4, n=30, d=8)
    state = make_state(problem, 4, 3, 2)
    squares = state.P**2
    Y = problem.X * (squares @ state.theta)
    totals = squares.sum(axis=1)
    gram = (state.V.T * totals) @ state.V
    U = state.U
    for _ in range(rounds):
        U = update_basis(U, Y.T @ state.V, gram[None], None, solver)
    # Feature by feature: Σ_i s_i (y_ik / s_i − v_i·u_k)².
    root = np.sqrt(totals)
    expected = [nnls(root[:, None] * state.V, Y[:, k] / root)[0] for k in range(len(U))]
    np.testing.assert_allclose(U, expected, atol=1e-6)


@pytest.mark.parametrize(("solver", "rounds"), [("mu", 4000), ("mu-fast", 4000), ("hals", 100)])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_repeated_steps_of_v_reach_the_least_squares_solution_with_graph(solver, rounds, kind):
    problem = make_problem(5, n=12, d=8, smoothness=0.4)
    state = make_state(problem, 5, 3, 1, shared=True)
    factors = factors_of(state, True)
    sweeps = sweeps_on(problem, options_of(problem, True, solver, learn=False), kind)
    for _ in range(rounds):
        sweeps.refresh_ties(factors.V)
        if solver == "hals":
            sweeps.solve_codes(factors)
        sweeps.shared(factors)
    # All rows at once: data term and edges of the graph as one least-squares problem in vec(V).
    n, c = state.V.shape
    blocks = [np.kron(np.eye(n), state.U)]
    targets = [(problem.X * state.theta[0]).ravel()]
    for i, j in zip(*np.nonzero(np.triu(problem.S)), strict=True):
        edge = np.zeros(n)
        edge[i], edge[j] = 1, -1
        edge *= np.sqrt(problem.smoothness * problem.S[i, j])
        blocks.append(np.kron(edge, np.eye(c)))
        targets.append(np.zeros(c))
    expected = nnls(np.vstack(blocks), np.concatenate(targets))[0].reshape(n, c)
    np.testing.assert_allclose(factors.V, expected, atol=2e-5)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_kkt_residual_falls(solver, shared):
    # Without a graph: with one, and no normalisation, shrinking V and growing U never ends.
    problem = make_problem(6, smoothness=0.0)
    state = make_state(problem, 6, 3, 2, shared)
    residuals = []
    for n_iter in (1, 30, 900):
        options = options_of(problem, shared, solver, learn=False, max_iter=n_iter)
        end = state_of(run_engine(problem.X, problem, state, options).factors)
        residuals.append(kkt_residual(problem, end, "U") + kkt_residual(problem, end, "V"))
    assert residuals[1] < 0.5 * residuals[0]
    assert residuals[2] < 0.5 * residuals[1]


@pytest.mark.parametrize("solver", ["mu", "mu-fast"])
def test_fixed_points_of_the_multiplicative_rule_are_kkt_points(solver):
    problem = make_problem(7, n=20, d=7, smoothness=0.0)
    state = make_state(problem, 7, 2, 1, shared=True)
    # Coordinate descent ends at a point that satisfies the conditions to rounding …
    options = options_of(problem, True, "hals", learn=False, max_iter=3000)
    fixed = state_of(run_engine(problem.X, problem, state, options).factors)
    assert kkt_residual(problem, fixed, "U") + kkt_residual(problem, fixed, "V") < 1e-10
    # … which the multiplicative rule does not leave; from another point it moves.
    step = options_of(problem, True, solver, learn=False)
    after = run_engine(problem.X, problem, fixed, step).factors
    np.testing.assert_allclose(after.U, fixed.U, atol=1e-8)
    np.testing.assert_allclose(after.V, fixed.V, atol=1e-8)
    moved = run_engine(problem.X, problem, state, step).factors
    assert np.abs(moved.U - state.U).max() > 1e-3
