"""Simplex problems against a general solver, and the sparse eigenvectors against dense ones."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.baselines._rank import bipartite_components, components
from fnmf.baselines._simplex import minimise_rows, nonnegative_rows, project_block, project_rows
from fnmf.baselines._spectral import (
    indicators,
    laplacian,
    polar_factor,
    random_orthonormal,
    smallest_eigenvectors,
)


def rows_of(rng, n_rows=40):
    """Rows of different lengths, with ties, wide ranges and single entries."""
    rows = [rng.normal(0, 10.0 ** rng.integers(-2, 2), rng.integers(1, 12)) for _ in range(n_rows)]
    rows += [np.zeros(6), np.array([3.0]), np.array([1.0, 1.0, -5.0]), np.array([2.0, 1.0])]
    return np.concatenate([[0], np.cumsum([len(row) for row in rows])]), np.concatenate(rows)


def quadratic_program(linear, curvature):
    x = cp.Variable(len(linear))
    cost = 0.5 * cp.sum(cp.multiply(curvature, cp.square(x))) - linear @ x
    cp.Problem(cp.Minimize(cost), [x >= 0, cp.sum(x) == 1]).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    return x.value


def test_projection_solves_the_quadratic_program():
    indptr, values = rows_of(np.random.default_rng(0))
    found = project_rows(indptr, values)
    for a, b in itertools.pairwise(indptr):
        shifted = values[a:b] - values[a:b].max()
        oracle = quadratic_program(shifted, np.ones(b - a))
        np.testing.assert_allclose(found[a:b], oracle, atol=1e-6)
        assert abs(found[a:b].sum() - 1) < 1e-12
        assert (found[a:b] >= 0).all()


def test_projection_satisfies_its_optimality_conditions_to_rounding():
    rng = np.random.default_rng(1)
    values = rng.normal(size=500)
    x = project_rows(np.array([0, 500]), values)
    multiplier = (x - values)[x > 0]
    assert np.ptp(multiplier) < 1e-14
    assert (values[x == 0] + multiplier.mean() <= 1e-14).all()


@pytest.mark.parametrize("offset", [-1e12, 1e12])
def test_projection_does_not_depend_on_a_common_offset(offset):
    values = np.array([0.0, 0.25, 0.5])
    np.testing.assert_allclose(
        project_rows(np.array([0, 3]), values + offset),
        project_rows(np.array([0, 3]), values),
        atol=1e-3,
    )


def test_weighted_problem_solves_the_quadratic_program():
    rng = np.random.default_rng(2)
    indptr, values = rows_of(rng)
    values = np.clip(values, -20, 20)
    curvature = 10.0 ** rng.uniform(-1, 1, len(values))
    found = minimise_rows(indptr, values, curvature)
    for a, b in itertools.pairwise(indptr):
        oracle = quadratic_program(values[a:b], curvature[a:b])
        np.testing.assert_allclose(found[a:b], oracle, atol=1e-6)
        assert abs(found[a:b].sum() - 1) < 1e-12


def test_weighted_problem_with_unit_curvature_is_the_projection():
    indptr, values = rows_of(np.random.default_rng(3))
    np.testing.assert_allclose(
        minimise_rows(indptr, values, np.ones_like(values)),
        project_rows(indptr, values),
        atol=1e-12,
    )


def test_blocks_of_dense_rows_give_the_own_position_the_distance_zero():
    rng = np.random.default_rng(4)
    scores = -rng.random((4, 9))
    counts, columns, weights = project_block(scores.copy(), 2, 3)
    start = 0
    for r, n in enumerate(counts):
        exact = scores[r].copy()
        exact[2 + r] = 0.0
        row = np.zeros(9)
        row[columns[start : start + n]] = weights[start : start + n]
        np.testing.assert_allclose(row, project_rows(np.array([0, 9]), exact), atol=1e-15)
        assert row[2 + r] == row.max()
        start += n


def random_graph(rng, sizes, degree=6):
    """Components of the given sizes, each connected by a ring and random edges."""
    blocks = []
    for size in sizes:
        W = sp.csr_array(rng.random((size, size)) * (rng.random((size, size)) < degree / size))
        ring = sp.coo_array((rng.random(size), (np.arange(size), (np.arange(size) + 1) % size)))
        blocks.append(sp.csr_array(W + sp.csr_array(ring, shape=(size, size))))
    graph = sp.csr_array(sp.block_diag(blocks, format="csr"))
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


@pytest.mark.parametrize("sizes", [(300,), (150, 90, 60), (200, 40, 30, 20, 10), (24, 12)])
@pytest.mark.parametrize("factorise", [True, False])
def test_sparse_eigenvectors_span_the_space_of_the_dense_ones(sizes, factorise, monkeypatch):
    if not factorise:
        monkeypatch.setattr("fnmf.baselines._spectral._FACTORISE_UP_TO", 0)
    graph = random_graph(np.random.default_rng(len(sizes)), sizes)
    n_found, labels = components(graph)
    assert n_found == len(sizes)
    L = laplacian(graph)
    F = smallest_eigenvectors(L, 6, indicators(labels))
    np.testing.assert_allclose(F.T @ F, np.eye(6), atol=1e-8)
    W = ((graph + graph.T) / 2).toarray()
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    assert values[len(sizes) - 1] < 1e-12 < values[len(sizes)]
    dense = vectors[:, :6]
    np.testing.assert_allclose(F @ F.T, dense @ dense.T, atol=1e-7)
    warm = smallest_eigenvectors(L, 6, indicators(labels), F)
    np.testing.assert_allclose(warm @ warm.T, dense @ dense.T, atol=1e-7)


def test_many_components_give_the_indicators_of_the_largest():
    graph = random_graph(np.random.default_rng(0), (10, 30, 20))
    _, labels = components(graph)
    F = smallest_eigenvectors(laplacian(graph), 2, indicators(labels))
    np.testing.assert_allclose(F[10:40, 0], 30**-0.5)
    np.testing.assert_allclose(F[40:, 1], 20**-0.5)
    assert (F[:10] == 0).all()


def test_bipartite_components_count_columns_without_edges_only_when_asked():
    weights = sp.csr_array(np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0, 1.0, 0]]))
    n_found, rows, columns = bipartite_components(weights, count_empty_columns=False)
    assert (n_found, rows.tolist(), columns.tolist()) == (1, [0, 0, 0], [0, 0, -1])
    assert bipartite_components(weights, count_empty_columns=True)[0] == 2


def test_polar_factor_is_the_best_orthonormal_matrix():
    rng = np.random.default_rng(0)
    N = rng.normal(size=(20, 4))
    V = polar_factor(N)
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-12)
    rivals = [random_orthonormal(20, 4, rng) for _ in range(50)]
    assert np.sum(V * N) > max(np.sum(R * N) for R in rivals)
    np.testing.assert_allclose(np.sum(V * N), np.linalg.svd(N)[1].sum())


def test_nonnegative_least_squares_agree_with_scipy():
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    U, X = rng.normal(size=(12, 5)), rng.normal(size=(30, 12))
    everything = np.tile(np.arange(5), (30, 1))
    found = nonnegative_rows(X @ U, U.T @ U, everything, 1e-12)
    np.testing.assert_allclose(found, [nnls(U, x)[0] for x in X], atol=1e-9)
