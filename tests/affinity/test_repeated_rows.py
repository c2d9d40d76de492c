"""Nearest rows where rows repeat each other: found among the distinct ones, and the same."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.affinity import _exact, nearest_neighbors
from fnmf.affinity._repeated import neighbors_among_repeated
from fnmf.data import repeated_rows, view_of
from fnmf.execution import threads


def _data(kind, rng):
    if kind == "grid":
        return rng.integers(3, size=(900, 3)) * 0.1
    if kind == "mostly zero":
        X = np.zeros((700, 5))
        X[rng.choice(700, 90, replace=False), rng.integers(5, size=90)] = rng.random(90)
        return X
    if kind == "all equal":
        return np.ones((50, 4))
    return rng.random((60, 6))[rng.integers(60, size=1500)]


@pytest.mark.parametrize("kind", ["grid", "mostly zero", "all equal", "repeated"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("k", [1, 6, 41])
def test_as_if_all_pairs_were_measured(kind, sparse, k):
    X = _data(kind, np.random.default_rng(0))
    given = view_of(sp.csr_array(X) if sparse else X)
    frame, rows = _exact.make_frame(given, given), np.arange(len(X))
    with threads(1) as runner:
        mine = neighbors_among_repeated(given, *repeated_rows(given), k, frame, runner)
        plain = _exact.exact_neighbors(given, given, rows, rows, k, frame, runner)
    for one, other in zip(mine, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_that_differ_are_searched_as_they_are():
    X = np.random.default_rng(0).random((300, 4))
    X[10:40] = X[50]
    assert repeated_rows(view_of(X)) is None
    assert (nearest_neighbors(X, 5)[1][10:40] == 0).all()
