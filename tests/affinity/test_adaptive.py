"""The adaptive-neighbour graph against the quadratic problem that defines it."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq

from fnmf import MappedCSR
from fnmf.affinity import adaptive_neighbors, adaptive_weights, nearest_neighbors


def data(n=60, d=4, seed=0):
    return np.random.default_rng(seed).random((n, d))


def largest_gamma(distances, k):
    nearest = np.sort(distances)[: k + 1]
    return (k * nearest[k] - nearest[:k].sum()) / 2


def by_interior_point(distances, gamma):
    """min Σ d a + γ a² over the simplex."""
    a = cp.Variable(len(distances), nonneg=True)
    objective = cp.Minimize(distances @ a + gamma * cp.sum_squares(a))
    options = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12}
    cp.Problem(objective, [cp.sum(a) == 1]).solve(**options)
    return a.value


def by_root_finding(distances, gamma):
    """The same from its optimality condition: a = max(η - d / 2γ, 0) with sum 1."""
    scaled = distances / (2 * gamma)

    def excess(eta):
        return np.maximum(eta - scaled, 0).sum() - 1

    eta = brentq(excess, scaled.min(), scaled.min() + 2, xtol=1e-14)
    return np.maximum(eta - scaled, 0)


@pytest.mark.parametrize(
    # the (K + 1)-th entry is on the edge of being positive, where interior points are blunt
    ("solve", "atol"),
    [(by_root_finding, 1e-10), (by_interior_point, 1e-4)],
)
@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_rows_solve_the_quadratic_problem(k, seed, solve, atol):
    X = data(25, 3, seed)
    A = adaptive_neighbors(X, k, symmetric=False).toarray()
    for i in range(0, 25, 4):
        others = np.delete(np.arange(25), i)
        distances = ((X[i] - X[others]) ** 2).sum(axis=1)
        expected = solve(distances, largest_gamma(distances, k))
        np.testing.assert_allclose(A[i, others], expected, atol=atol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 5, 58])
def test_rows_sum_to_one_with_at_most_k_entries(k, dtype):
    A = adaptive_neighbors(data().astype(dtype), k, symmetric=False)
    assert A.dtype == dtype
    assert A.has_canonical_format
    assert (A.data > 0).all()
    assert (np.diff(A.indptr) <= k).all()
    np.testing.assert_allclose(A.sum(axis=1), 1, rtol=10 * np.finfo(dtype).eps)
    assert (A.diagonal() == 0).all()


def test_symmetric_graph_is_the_mean_of_both_directions():
    A = adaptive_neighbors(data(), symmetric=False).toarray()
    S = adaptive_neighbors(data())
    assert isinstance(S, sp.csr_array)
    assert S.has_canonical_format
    np.testing.assert_array_equal(S.toarray(), (A + A.T) / 2)
    np.testing.assert_array_equal(S.toarray(), S.T.toarray())


@pytest.mark.parametrize("factor", [2.0**-60, 0.25, 2.0**70])
def test_scaling_does_not_change_the_graph(factor):
    expected = adaptive_neighbors(data()).toarray()
    np.testing.assert_array_equal(adaptive_neighbors(data() * factor).toarray(), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_extreme_scales_keep_the_graph(factor, dtype):
    X = data().astype(dtype)
    expected = adaptive_neighbors(X).toarray()
    given = (X * dtype(factor)).astype(dtype)
    atol = 1e3 * np.finfo(dtype).eps
    np.testing.assert_allclose(adaptive_neighbors(given).toarray(), expected, atol=atol)


def test_shifting_does_not_change_the_graph():
    shifted = adaptive_neighbors(data() + 7.0).toarray()
    np.testing.assert_allclose(shifted, adaptive_neighbors(data()).toarray(), atol=1e-12)


def test_permuting_samples_permutes_the_graph():
    X, order = data(), np.random.default_rng(1).permutation(60)
    expected = adaptive_neighbors(X).toarray()[np.ix_(order, order)]
    np.testing.assert_array_equal(adaptive_neighbors(X[order]).toarray(), expected)


def test_equal_distances_share_the_weight_among_the_first_by_index():
    A = adaptive_neighbors(np.eye(8), 3, symmetric=False).toarray()
    for i in range(8):
        first = np.delete(np.arange(8), i)[:3]
        np.testing.assert_array_equal(np.flatnonzero(A[i]), first)
        np.testing.assert_array_equal(A[i, first], 1 / 3)


def test_no_duplicate_is_left_without_neighbours():
    X = data()
    X[20:40] = X[20]
    X[50:53] = 0
    A = adaptive_neighbors(sp.csr_array(X), symmetric=False)
    np.testing.assert_allclose(A.sum(axis=1), 1)
    np.testing.assert_array_equal(np.flatnonzero(A.toarray()[20]), [21, 22, 23, 24, 25])


def test_tie_at_the_last_place_gives_weight_zero_to_both():
    A = adaptive_neighbors([[0.0], [1.0], [-2.0], [2.0], [9.0]], 2, symmetric=False).toarray()
    np.testing.assert_array_equal(A[0], [0, 1, 0, 0, 0])


@pytest.mark.parametrize("form", ["csr", "mapped", "memmap", "fortran", "integers"])
def test_storage_does_not_change_the_graph(form, tmp_path):
    X = np.floor(data(90, 6) * 9) * (data(90, 6, 1) < 0.5)
    given = X
    if form == "csr":
        given = sp.csr_array(X)
    elif form == "mapped":
        MappedCSR.write(sp.csr_array(X), tmp_path)
        given = MappedCSR.open(tmp_path)
    elif form == "memmap":
        np.save(tmp_path / "X.npy", X)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif form == "fortran":
        given = np.asfortranarray(X)
    elif form == "integers":
        given = X.astype(np.int64)
    found = adaptive_neighbors(given)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), adaptive_neighbors(X).toarray())


def test_bits_do_not_depend_on_threads():
    X = data(1300, 7)
    one, two = adaptive_neighbors(X, n_jobs=1), adaptive_neighbors(X, n_jobs=2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.data, two.data)


def test_new_rows_get_weights_on_training_rows():
    X, new = data(), data(5, 4, 9)
    _, distances = nearest_neighbors(X, 6, queries=new)
    weights = adaptive_weights(distances)
    last = distances[:, -1:]
    expected = (last - distances[:, :-1]) / (5 * last - distances[:, :-1].sum(1, keepdims=True))
    np.testing.assert_allclose(weights, expected, rtol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=1), 1)


def test_weights_need_one_distance_more_than_neighbours():
    with pytest.raises(ValueError, match="K \\+ 1 >= 2 columns"):
        adaptive_weights(np.ones((3, 1)))


def test_too_few_samples_say_what_to_do():
    message = "n_neighbors=5 needs at least 7 samples, got n_samples=3; lower n_neighbors"
    with pytest.raises(ValueError, match=message):
        adaptive_neighbors(np.ones((3, 2)))


def test_verbose_tells_which_search_was_used(capsys):
    adaptive_neighbors(data(), verbose=1)
    assert "exact neighbour search of 60 samples" in capsys.readouterr().out


def test_verbose_reports_the_recall_of_an_approximate_search(capsys):
    pytest.importorskip("faiss", reason="faiss is not installed (extra: ann)")
    adaptive_neighbors(data(400), algorithm="faiss", verbose=1)
    out = capsys.readouterr().out
    assert "approximate (faiss)" in out
    assert "recall" in out
