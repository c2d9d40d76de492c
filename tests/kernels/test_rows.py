"""The assignment of a sample to the weightings: exact on the simplex."""

import itertools

import numpy as np
import pytest

from fnmf.kernels.lanes import quads
from fnmf.kernels.rows import assign_row

TINY = np.finfo(np.float64).tiny


def assign(residuals, dtype=np.float64):
    size = len(residuals)
    rows = np.zeros((1, quads(size)), dtype)
    rows[0, :size] = residuals
    out = np.full((1, size), np.nan, dtype)
    assign_row(rows, 0, dtype(np.finfo(dtype).tiny), out, 0)
    return out[0]


def grid_on_simplex(size, parts):
    """All points of the simplex whose coordinates are multiples of 1/parts."""
    for bars in itertools.combinations(range(parts + size - 1), size - 1):
        edges = (-1, *bars, parts + size - 1)
        yield np.diff(edges) - 1


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_assignment_beats_every_point_of_a_grid(size):
    rng = np.random.default_rng(size)
    points = np.array(list(grid_on_simplex(size, 24))) / 24
    for _ in range(20):
        q = rng.uniform(0.01, 1, size) * 10.0 ** rng.integers(-3, 4, size)
        p = assign(q)
        costs = (points**2) @ q
        assert p @ (q * p) <= costs.min() * (1 + 1e-14)
        # The best grid point lies within the spacing of the grid.
        assert np.abs(points[costs.argmin()] - p).max() <= 1 / 24


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_assignment_is_inverse_to_the_residual_and_sums_to_one(dtype):
    rng = np.random.default_rng(0)
    for scale in (1e-30, 1.0, 1e30):
        q = (scale * rng.uniform(0.5, 2, 5)).astype(dtype)
        p = assign(q, dtype)
        np.testing.assert_allclose(p * q, np.full(5, (p * q)[0]), rtol=8 * np.finfo(dtype).eps)
        assert abs(p.sum(dtype=np.float64) - 1) <= 4 * np.finfo(dtype).eps


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ([0.0, 1.0, 2.0], [1, 0, 0]),
        ([0.0, 3.0, 0.0], [0.5, 0, 0.5]),
        ([0.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]),
        ([TINY / 4, 1.0], [1, 0]),
        ([1.0], [1]),
        ([0.0], [1]),
    ],
)
def test_zero_residuals_take_all_the_mass_in_equal_shares(q, expected):
    np.testing.assert_array_equal(assign(q), expected)


def test_extreme_ratios_neither_overflow_nor_lose_mass():
    p = assign([1e-300, 1e300])
    np.testing.assert_array_equal(p, [1, 0])
    p = assign([1e-307, 2e-307])
    np.testing.assert_allclose(p, [2 / 3, 1 / 3], rtol=1e-15)
