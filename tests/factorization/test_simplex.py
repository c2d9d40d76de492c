"""The exact simplex solver against a general solver and against rational arithmetic."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from fnmf.factorization.terms._paper import _minimise


def minimise_on_simplex(curvature, slope):
    return _minimise(np.asarray(curvature, float), np.asarray(slope, float))


def by_general_solver(a, b):
    theta = cp.Variable(len(a))
    cost = cp.sum(cp.multiply(a, cp.square(theta))) + b @ theta
    cp.Problem(cp.Minimize(cost), [theta >= 0, cp.sum(theta) == 1]).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, max_iter=200
    )
    return theta.value


def by_rational_arithmetic(a, b):
    """The active set by trial, in fractions: no rounding at all. Floats are fractions."""
    a, b = [Fraction(float(x)) for x in a], [Fraction(float(x)) for x in b]
    flat = [k for k in range(len(a)) if a[k] == 0]
    cap = min((b[k] for k in flat), default=None)
    theta = [Fraction(0)] * len(a)
    order = sorted((k for k in range(len(a)) if a[k] > 0), key=lambda k: b[k])
    level = None
    for count in range(1, len(order) + 1):
        active = order[:count]
        trial = (1 + sum(b[k] / (2 * a[k]) for k in active)) / sum(1 / (2 * a[k]) for k in active)
        if trial > b[active[-1]]:
            level = trial
    if cap is not None and (level is None or level > cap):
        level = cap
    for k in order:
        theta[k] = max(level - b[k], Fraction(0)) / (2 * a[k])
    if cap is not None:
        lowest = [k for k in flat if b[k] == cap]
        for k in lowest:
            theta[k] = (1 - sum(theta[k] for k in order)) / len(lowest)
    return np.array([float(t) for t in theta])


def random_problem(rng):
    """Curvatures of one size or many, some zero, some equal; slopes with ties."""
    d = int(rng.integers(1, 25))
    a = 10.0 ** rng.uniform(-rng.integers(0, 13), 0, size=d)
    b = rng.normal(size=d) * 10.0 ** rng.integers(-6, 7)
    kind = rng.integers(6)
    if kind == 1:
        a[rng.uniform(size=d) < 0.4] = 0
    elif kind == 2:
        a[:] = a[0]
    elif kind == 3:
        b = np.round(b / np.abs(b).max() * 2) if d > 1 else b
    elif kind == 4:
        a[rng.uniform(size=d) < 0.5] = 0
        b = rng.integers(-1, 2, size=d).astype(float)
    elif kind == 5:
        # All features active, though their curvatures differ by many orders of magnitude.
        b = 1 - 2 * a * rng.dirichlet(np.ones(d))
    return a, b


@pytest.mark.parametrize("seed", range(40))
def test_equals_a_general_quadratic_solver(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 15))
    a, b = rng.uniform(0.5, 5, size=d), rng.normal(size=d) * 2
    if seed % 4 == 0:
        a[:] = a[0]
    if seed % 5 == 0:
        a[0] = 0
    elif seed % 3 == 0:
        b = np.round(b)
    np.testing.assert_allclose(minimise_on_simplex(a, b), by_general_solver(a, b), atol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("seed", range(100))
def test_equals_rational_arithmetic(seed, scale):
    a, b = random_problem(np.random.default_rng(seed))
    found = minimise_on_simplex(a * scale, b * scale)
    np.testing.assert_allclose(found, by_rational_arithmetic(a * scale, b * scale), atol=1e-12)
    assert (found >= 0).all()
    assert abs(found.sum() - 1) < 1e-12


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([3.0], [-7.0], [1.0]),
        ([0.0], [5.0], [1.0]),
        ([0.0, 0.0], [0.0, 0.0], [0.5, 0.5]),
        ([0.0, 0.0, 0.0], [2.0, 1.0, 1.0], [0.0, 0.5, 0.5]),
        ([1.0, 1.0], [0.0, 0.0], [0.5, 0.5]),
        ([1.0, 3.0], [0.0, 0.0], [0.75, 0.25]),
        # The flat feature takes what the curved one does not want: 2 a θ = 1 at θ = 0.5.
        ([1.0, 0.0], [0.0, 1.0], [0.5, 0.5]),
        # A flat feature with the lowest slope takes all, however small the other's curvature.
        ([0.0, 1e-20], [0.0, 1.0], [1.0, 0.0]),
        ([1e-200, 0.0], [1.0, 0.0], [0.0, 1.0]),
        # Nearly flat beside curved: half each, to the last digits.
        ([1.0, 1e-12], [0.0, 1.0], [0.5, 0.5]),
        ([1e-150, 1e150], [1e150, 0.0], [0.5, 0.5]),
        ([1e300, 1e300], [1e-300, 0.0], [0.5, 0.5]),
    ],
)
def test_problems_solved_by_hand(a, b, expected):
    np.testing.assert_allclose(minimise_on_simplex(np.array(a), np.array(b)), expected, atol=1e-11)


def test_neither_shift_of_slopes_nor_common_scale_matters():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.1, 1, 9), rng.integers(-4, 5, 9).astype(float)
    expected = minimise_on_simplex(a, b)
    np.testing.assert_allclose(minimise_on_simplex(a, b + 1024), expected, atol=1e-13)
    np.testing.assert_array_equal(minimise_on_simplex(a * 2.0**40, b * 2.0**40), expected)


def test_does_not_modify_its_arguments():
    a, b = np.array([1.0, 0.0, 2.0]), np.array([3.0, 1.0, -2.0])
    kept = a.copy(), b.copy()
    minimise_on_simplex(a, b)
    np.testing.assert_array_equal(a, kept[0])
    np.testing.assert_array_equal(b, kept[1])
