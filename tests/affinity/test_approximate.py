"""The approximate search: recall, exact distances, the same answer for any threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.affinity._exact import nearest_candidates
from fnmf.affinity._projection import affordable_dimensions
from fnmf.data import as_view
from fnmf.graph import estimate_recall, nearest_neighbors

pytest.importorskip("faiss", reason="faiss is not installed (extra: ann)")


def clustered(n, d, spread=0.15, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.random((20, d))
    return np.abs(centres[rng.integers(20, size=n)] + spread * rng.standard_normal((n, d)))


@pytest.mark.parametrize("d", [8, 64, 200])
def test_finds_nearly_all_neighbours(d):
    X = clustered(6000, d).astype(np.float32)
    indices, _ = nearest_neighbors(X, 5, algorithm="faiss")
    assert estimate_recall(X, indices) >= 0.97
    assert (indices != np.arange(len(X))[:, None]).all()


def test_finds_nearly_all_neighbours_of_sparse_rows():
    rng = np.random.default_rng(0)
    X = sp.csr_array(clustered(3000, 120) * (rng.random((20, 120)) < 0.2)[np.arange(3000) % 20])
    indices, _ = nearest_neighbors(X, 5, algorithm="faiss")
    assert estimate_recall(X, indices) >= 0.97


def test_distances_are_exact_and_rising():
    X = clustered(3000, 90)
    indices, distances = nearest_neighbors(X, 5, algorithm="faiss")
    expected = ((X[:, None] - X[indices]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_bits_do_not_depend_on_threads_or_repetition():
    X = clustered(5000, 80).astype(np.float32)
    first = nearest_neighbors(X, 5, algorithm="faiss", n_jobs=1)
    for n_jobs in (1, 2):
        again = nearest_neighbors(X, 5, algorithm="faiss", n_jobs=n_jobs)
        np.testing.assert_array_equal(again[0], first[0])
        np.testing.assert_array_equal(again[1], first[1])


def test_memory_map_gives_what_the_array_gives(tmp_path):
    X = clustered(3000, 100).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = nearest_neighbors(mapped, 5, algorithm="faiss")
    expected = nearest_neighbors(X, 5, algorithm="faiss")
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_projected_rows_still_find_nearly_all(monkeypatch):
    monkeypatch.setattr("fnmf.affinity._projection._SMALL_CODE_BYTES", 0)
    rng = np.random.default_rng(0)
    X = np.abs(clustered(5000, 20) @ rng.standard_normal((20, 300)))
    indices, _ = nearest_neighbors(X, 5, algorithm="faiss")
    assert estimate_recall(X, indices) >= 0.97


def test_narrow_codes_still_find_nearly_all(monkeypatch):
    monkeypatch.setattr("fnmf.affinity._approximate._WIDE_CODES_UP_TO", 0)
    X = clustered(4000, 30)
    indices, _ = nearest_neighbors(X, 5, algorithm="faiss")
    assert estimate_recall(X, indices) >= 0.97


@pytest.mark.parametrize("n", [7, 60])
def test_few_samples_and_many_duplicates_are_answered_in_full(n):
    X = np.ones((n, 3))
    X[: n // 2] = 0
    _, distances = nearest_neighbors(X, 5, algorithm="faiss")
    np.testing.assert_array_equal(distances, nearest_neighbors(X, 5)[1])


def test_queries_find_references_equal_to_them():
    X = clustered(4000, 12)
    indices, distances = nearest_neighbors(X, 3, queries=X[100:200], algorithm="faiss")
    assert np.mean(indices[:, 0] == np.arange(100, 200)) >= 0.97
    assert (distances[:, 0] == 0).mean() >= 0.97


def test_too_low_recall_is_said_with_the_remedy(monkeypatch):
    monkeypatch.setattr("fnmf.affinity._approximate._CANDIDATES", ((4, 2),))
    monkeypatch.setattr("fnmf.affinity._projection._FEWEST_DIMENSIONS", 2)
    monkeypatch.setattr("fnmf.affinity._projection._SMALL_CODE_BYTES", 0)
    X = np.random.default_rng(0).random((3000, 40))
    with pytest.warns(UserWarning, match=r'algorithm="exact"'):
        indices, _ = nearest_neighbors(X, 5, algorithm="faiss")
    assert indices.shape == (3000, 5)


@pytest.mark.parametrize("d", [3, 64, 130])
def test_rows_read_in_place_give_the_bits_of_rows_that_are_copied(d):
    X = clustered(2500, d).astype(np.float32)
    expected = nearest_neighbors(X, 4, algorithm="faiss")
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        found = nearest_neighbors(other, 4, algorithm="faiss")
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_equal_distances_go_to_the_smaller_index_and_own_row_is_left_out():
    X = np.random.default_rng(0).integers(0, 2, size=(300, 5)).astype(float)
    rows = np.arange(300)
    candidates = np.random.default_rng(1).permuted(np.tile(rows, (300, 1)), axis=1)
    candidates[:, 7] = -1
    found = nearest_candidates(as_view(X), as_view(X), rows, rows, candidates, 4, 1.0)
    distances = ((X[:, None] - X[candidates]) ** 2).sum(axis=2)
    distances[(candidates < 0) | (candidates == rows[:, None])] = np.inf
    order = np.lexsort((candidates, distances), axis=-1)[:, :4]
    np.testing.assert_array_equal(found[0], np.take_along_axis(candidates, order, axis=1))
    np.testing.assert_array_equal(found[1], np.take_along_axis(distances, order, axis=1))


def test_codes_take_a_small_share_of_wide_data():
    for n, d in [(100_000, 784), (1_000_000, 784), (30_000, 2048), (2_000_000, 4096)]:
        assert affordable_dimensions(n, d) <= 0.03 * 4 * d
