"""One X: blocks, rows by index and subsets agree whatever holds them."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.data import BATCH, Scaling, view_of, working_dtype
from problems import VIEWS, as_view, make_problem

N, D = 45, 9


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def scaling():
    rng = np.random.default_rng(1)
    columns = rng.uniform(0.5, 2, D)
    columns[[2, 5]] = 0
    return Scaling(rng.uniform(0.5, 2, N), rng.uniform(0.2, 0.8, D), columns)


@pytest.fixture(params=[kind for kind in VIEWS if kind != "csc"])
def view(request, tmp_path):
    return view_of(as_view(make_problem(0, N, D).X, request.param, tmp_path))


def expected(scaled, kept):
    X = make_problem(0, N, D).X
    if scaled:
        s = scaling()
        X = s.rows[:, None] * np.minimum(X, s.caps) * s.columns
    return X[:, kept]


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("drop", [False, True])
def test_every_way_to_ask_gives_the_same_rows(view, scaled, drop):
    if scaled:
        view = view.scaled(scaling(), drop=drop)
    whole = expected(scaled, view.kept)
    some = np.array([40, 3, 3, 17])
    close = {"rtol": 1e-15, "atol": 0}
    np.testing.assert_allclose(dense(view.exact(7, 31)), whole[7:31], **close)
    np.testing.assert_allclose(dense(view.take(some)), whole[some], **close)
    np.testing.assert_allclose(dense(view.rows(7, 31)), whole[7:31], **close)
    np.testing.assert_allclose(dense(view.matrix(view.block(7, 31))), whole[7:31], **close)
    np.testing.assert_allclose(dense(view.double(7, 31)), whole[7:31], **close)
    chosen = view.subset(some)
    assert chosen.shape == (4, whole.shape[1])
    np.testing.assert_allclose(dense(chosen.exact(0, 4)), whole[some], **close)
    np.testing.assert_allclose(dense(chosen.matrix(chosen.block(1, 3))), whole[some[1:3]], **close)


def test_dropped_features_are_those_of_factor_zero(view):
    kept = view.scaled(scaling(), drop=True).kept
    np.testing.assert_array_equal(kept, np.arange(D) if view.sparse else [0, 1, 3, 4, 6, 7, 8])


def test_the_mean_is_that_of_the_rows(view):
    X = expected(False, np.arange(D))
    assert view.mean() == pytest.approx(X.mean(), rel=1e-14)


def test_exact_rows_are_free_to_be_changed(view):
    before = dense(view.exact(0, N)).copy()
    for rows in (view.exact(0, N), view.take(np.arange(N)), view.double(0, N)):
        values = rows.data if sp.issparse(rows) else rows
        values[:] = -1
    np.testing.assert_array_equal(dense(view.exact(0, N)), before)


@pytest.mark.parametrize(
    ("given", "working"),
    [
        ("f4", "f4"),
        ("f8", "f8"),
        ("u1", "f4"),
        ("i2", "f4"),
        ("f2", "f4"),
        ("i4", "f8"),
        ("?", "f4"),
    ],
)
def test_one_rule_for_number_types(given, working):
    assert working_dtype(np.dtype(given)) == np.dtype(working)


def test_blocks_are_whole_batches():
    for start, stop in view_of(np.ones((1000, 700))).blocks()[:-1]:
        assert (stop - start) % BATCH == 0
