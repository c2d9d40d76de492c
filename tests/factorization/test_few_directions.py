"""Codes of rows with more components than features begin where entries in turn would end."""

import numpy as np
import pytest

from fnmf.affinity import Attraction
from fnmf.factorization.solver import Projected, solve_rows
from fnmf.factorization.solver._encode import _from_few_directions


def _problem(n=40, d=3, c=12):
    rng = np.random.default_rng(0)
    U, X = rng.random((d, c)), rng.random((n, d))
    rows = Projected((X @ U)[:, None], (X * X).sum(axis=1, keepdims=True), np.zeros((n, 1)))
    return rows, (U.T @ U)[None], Attraction(0.1 * rng.random((n, c)), 0.05 + rng.random(n))


def test_codes_are_those_of_entries_in_turn():
    rows, grams, held = _problem()
    given = rows, grams, np.ones(1)
    slow, _ = solve_rows(*given, shared=True, held=held, tolerance=1e-13)
    quick, _ = solve_rows(*given, shared=True, held=held, rank=3)
    np.testing.assert_allclose(quick, slow, atol=1e-8 * slow.max())


@pytest.mark.parametrize("some", [np.arange(1), np.arange(5, 23)])
def test_a_row_does_not_depend_on_the_others(some):
    rows, grams, (pull, drag) = _problem()
    cross = rows.crosses[:, 0] + pull
    whole = _from_few_directions(cross, drag, grams[0], 3)
    part = _from_few_directions(cross[some], drag[some], grams[0], 3)
    np.testing.assert_array_equal(part, whole[some])


def test_rows_without_drag_begin_at_zero():
    rows, grams, (pull, drag) = _problem()
    drag[7] = 0
    assert not _from_few_directions(rows.crosses[:, 0] + pull, drag, grams[0], 3)[7].any()
