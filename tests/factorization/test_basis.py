"""The multiplicative step of the basis where numbers end."""

import numpy as np
import pytest

from fnmf.factorization.solver._basis import update_basis


@pytest.mark.parametrize("solver", ["mu", "mu-fast"])
def test_codes_too_small_to_be_squared_leave_the_basis_as_it_is(solver):
    U = np.array([[0.5, 0.25], [1.0, 2.0]])
    cross = np.array([[1e-22, 1e-22], [0.0, 1e-22]])
    found = update_basis(U, cross, np.zeros((1, 2, 2)), None, solver)
    np.testing.assert_array_equal(found, [[0.5, 0.25], [0.0, 2.0]])


def test_a_step_is_the_ratio_of_both_sides_of_the_normal_equations():
    rng = np.random.default_rng(0)
    X, U, V = rng.random((9, 5)), rng.random((5, 2)), rng.random((9, 2))
    found = update_basis(U, X.T @ V, (V.T @ V)[None], None, "mu-fast")
    np.testing.assert_allclose(found, U * (X.T @ V) / (U @ (V.T @ V)))
