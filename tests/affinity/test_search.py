"""Neighbour search against brute force over all pairs."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf import FNMF, MappedCSR
from fnmf._settings import Settings
from fnmf.affinity import _adaptive, estimate_recall, nearest_neighbors


def all_pairs(X, k, queries=None):
    """Every distance from differences; stable sorting breaks ties by index."""
    X = np.asarray(X, dtype=np.float64)
    Q = X if queries is None else np.asarray(queries, dtype=np.float64)
    D = np.array([((row - X) ** 2).sum(axis=1) for row in Q])
    if queries is None:
        np.fill_diagonal(D, np.inf)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(D, indices, axis=1)


def grid_data(n, d, seed=0, levels=3):
    """Small integers: distances are exact in floating point, ties and duplicates are common."""
    return np.random.default_rng(seed).integers(0, levels, size=(n, d)).astype(float)


def same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (40, 3, 39), (700, 5, 6), (1300, 17, 4)])
def test_agrees_with_all_pairs(n, d, k):
    X = np.random.default_rng(n).random((n, d))
    indices, distances = nearest_neighbors(X, k)
    expected_indices, expected = all_pairs(X, k)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected, rtol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(600, 2), (1200, 6), (300, 30)])
def test_ties_go_to_the_smaller_index(n, d, sparse):
    X = grid_data(n, d)
    given = sp.csr_array(X) if sparse else X
    same(nearest_neighbors(given, 7), all_pairs(X, 7))


@pytest.mark.parametrize("sparse", [False, True])
def test_duplicates_have_distance_zero_and_self_is_left_out_by_index(sparse):
    X = np.random.default_rng(3).random((400, 9))
    X[100:300] = X[7]
    indices, distances = nearest_neighbors(sp.csr_array(X) if sparse else X, 5)
    copies = np.r_[7, 100:300]
    assert (distances[copies] == 0).all()
    for row in copies:
        np.testing.assert_array_equal(indices[row], copies[copies != row][:5])


def test_no_digits_are_lost_far_from_the_origin():
    X = np.random.default_rng(0).random((500, 4)) + 1e6
    indices, distances = nearest_neighbors(X, 6)
    expected_indices, expected = all_pairs(X, 6)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected, rtol=1e-13)


def test_tight_clusters_far_apart_are_resolved():
    rng = np.random.default_rng(1)
    X = np.repeat(rng.random((20, 8)), 30, axis=0) * 1e3 + 1e-7 * rng.standard_normal((600, 8))
    same_indices, _ = all_pairs(X, 6)
    np.testing.assert_array_equal(nearest_neighbors(X, 6)[0], same_indices)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_extreme_scales_do_not_change_the_neighbours(scale):
    X = np.random.default_rng(2).random((300, 5))
    np.testing.assert_array_equal(nearest_neighbors(X * scale, 4)[0], nearest_neighbors(X, 4)[0])


def test_one_huge_outlier_does_not_disturb_the_rest():
    X = np.random.default_rng(2).random((300, 5))
    X[11] = 1e12
    np.testing.assert_array_equal(nearest_neighbors(X, 4)[0], all_pairs(X, 4)[0])


@pytest.mark.parametrize("layout", ["fortran", "read-only", "strided", "memmap", "integers"])
def test_memory_layout_does_not_matter(layout, tmp_path):
    X = grid_data(530, 6, levels=50)
    given = X
    if layout == "fortran":
        given = np.asfortranarray(X)
    elif layout == "read-only":
        given = X.copy()
        given.flags.writeable = False
    elif layout == "strided":
        given = np.repeat(X, 2, axis=1)[:, ::2]
    elif layout == "memmap":
        np.save(tmp_path / "X.npy", X)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif layout == "integers":
        given = X.astype(np.int32)
    before = X.copy()
    same(nearest_neighbors(given, 5), nearest_neighbors(X, 5))
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, "mapped"])
def test_sparse_equals_dense_bit_for_bit(form, dtype, tmp_path):
    rng = np.random.default_rng(5)
    X = sp.csr_array(rng.random((450, 70)) * (rng.random((450, 70)) < 0.08))
    X = X.astype(dtype)
    if form == "mapped":
        MappedCSR.write(X, tmp_path)
        given = MappedCSR.open(tmp_path)
    else:
        given = form(X)
    found = nearest_neighbors(given, 6)
    assert found[1].dtype == dtype
    same(found, nearest_neighbors(X.toarray(), 6))


def test_sparse_rows_with_unsorted_columns_are_read_rightly_and_left_alone():
    X = sp.csr_array(([1.0, 2.0, 5.0], [2, 0, 1], [0, 2, 3, 3]), shape=(3, 3))
    same(nearest_neighbors(X, 2), all_pairs(X.toarray(), 2))
    np.testing.assert_array_equal(X.indices, [2, 0, 1])


def test_float32_is_searched_in_full_and_returned_as_float32():
    X = np.random.default_rng(4).random((900, 12)).astype(np.float32)
    indices, distances = nearest_neighbors(X, 6)
    expected_indices, expected = all_pairs(X, 6)
    assert distances.dtype == np.float32
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected, rtol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_bits_do_not_depend_on_threads(sparse):
    X = np.random.default_rng(6).random((1700, 20))
    given = sp.csr_array(X) if sparse else X
    one = nearest_neighbors(given, 5, n_jobs=1)
    for n_jobs in (2, 3, -1):
        same(nearest_neighbors(given, 5, n_jobs=n_jobs), one)


@pytest.mark.parametrize("sparse_queries", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_queries_keep_references_equal_to_them(sparse, sparse_queries):
    X, Q = grid_data(300, 5, levels=4), grid_data(40, 5, seed=1, levels=4)
    Q[3] = X[17]
    found = nearest_neighbors(
        sp.csr_array(X) if sparse else X, 4, queries=sp.csr_array(Q) if sparse_queries else Q
    )
    same(found, all_pairs(X, 4, Q))
    assert found[1][3, 0] == 0


def test_each_query_row_is_answered_on_its_own():
    X = np.random.default_rng(8).random((800, 6))
    Q = np.random.default_rng(9).random((30, 6))
    whole = nearest_neighbors(X, 3, queries=Q)
    single = [nearest_neighbors(X, 3, queries=row[None]) for row in Q]
    np.testing.assert_array_equal(whole[0], np.vstack([indices for indices, _ in single]))
    np.testing.assert_allclose(whole[1], np.vstack([far for _, far in single]), rtol=1e-14)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((3, 2)), {"n_neighbors": 3}, "n_neighbors=3 needs at least 4 samples"),
        (np.ones((3, 2)), {"n_neighbors": 0}, "n_neighbors=0 is too small"),
        (np.array([[np.nan], [1.0]]), {}, "X contains NaN or infinity"),
        (sp.csr_array([[np.inf], [1.0]]), {}, "X contains NaN or infinity"),
        (np.ones(3), {}, "1 dimension"),
        (np.array([["a"], ["b"]]), {}, "array of numbers"),
        (np.ones((0, 2)), {}, r"shape \(0, 2\)"),
        (np.ones((3, 2)), {"queries": np.ones((1, 3))}, "queries has 3 features, but X has 2"),
        (np.ones((3, 2)), {"algorithm": "kdtree"}, "algorithm='kdtree' is not known"),
    ],
)
def test_bad_input_is_named(X, options, message):
    with pytest.raises(ValueError, match=message):
        nearest_neighbors(X, **{"n_neighbors": 1, **options})


def test_indices_out_of_range_never_reach_the_kernels():
    X = sp.csr_array(np.eye(4))
    X.indices[2] = 1000
    with pytest.raises(ValueError, match="malformed"):
        nearest_neighbors(X, 1)


def test_only_the_user_decides_on_the_approximate_search():
    parameters = {"n_components": 2, "n_neighbors": 5}
    asked = {graph: FNMF(graph=graph, **parameters) for graph in ("adaptive", "approximate")}
    found = {graph: Settings.of(one.get_params()).search for graph, one in asked.items()}
    assert found == {"adaptive": "exact", "approximate": "faiss"}
    with pytest.raises(ValueError, match="algorithm"):
        nearest_neighbors(np.eye(4), 1, algorithm="auto")


@pytest.mark.parametrize("options", [{"weighting": "paper"}, {"solver": "hals"}])
def test_a_fit_never_looks_for_faiss(options, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    X = np.random.default_rng(0).random((30_100, 2))
    monkeypatch.setattr(_adaptive, "exact_neighbors", reached)
    with pytest.raises(ReachedError):
        FNMF(2, **options).fit(X)


class ReachedError(Exception):
    pass


def reached(*_):
    raise ReachedError


def test_missing_faiss_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r'pip install "fnmf\[ann\]"'):
        nearest_neighbors(np.random.default_rng(0).random((50, 3)), 2, algorithm="faiss")


def test_recall_counts_the_neighbours_found():
    X = np.random.default_rng(0).random((120, 4))
    indices, _ = nearest_neighbors(X, 4)
    assert estimate_recall(X, indices) == 1.0
    far = nearest_neighbors(X, 119)[0][:, -2:]
    half = np.hstack([indices[:, :2], far])
    assert estimate_recall(X, half) == 0.5
    with pytest.raises(ValueError, match="indices has shape"):
        estimate_recall(X, indices[:10])
