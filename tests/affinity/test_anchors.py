"""Ties through anchors against the graph they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from fnmf.affinity import (
    Nearest,
    adaptive_weights,
    anchor_mass,
    cluster_by_anchors,
    nearest_anchors,
    vote,
)
from fnmf.affinity._moves import resolution
from fnmf.data import view_of
from fnmf.execution import threads
from fnmf.factorization.solver import ExecutionContext
from fnmf.factorization.solver._pull import pull_of
from fnmf.factorization.terms import AnchorTies


def samples(n: int = 60, d: int = 5) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.8)


@pytest.mark.parametrize("sparse", [False, True])
def test_nearest_anchors_agree_with_all_distances(sparse):
    X = samples()
    anchors = X[::6]
    data = sp.csr_array(X) if sparse else X
    with threads(1) as runner:
        found = nearest_anchors(view_of(data), anchors, 3, runner)
    gaps = ((X[:, None] - anchors) ** 2).sum(axis=2)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(found.indices, order[:, :3])
    expected = adaptive_weights(np.take_along_axis(gaps, order, 1))
    np.testing.assert_allclose(found.shares, expected, atol=1e-5)


def test_pull_is_the_product_with_the_graph_never_made():
    X, V = samples(), np.random.default_rng(1).uniform(size=(60, 3))
    anchors = X[::6]
    with threads(2) as runner:
        nearest = nearest_anchors(view_of(X), anchors, 3, runner)
        mass = anchor_mass(nearest, len(anchors), view_of(X), runner)
        pull = pull_of(AnchorTies(*nearest, mass, 2.0), ExecutionContext(view_of(X), runner))
        roughness = pull.refresh(V, None)
        again = pull.refresh(V, pull.on_block.sums(V, *pull.rows))
    factors = np.array([1.0, 2.0, 0.5])
    pull.rescale(factors)
    out, degree = pull.on_block.pulled(*pull.rows)
    Z = np.zeros((60, len(anchors)))
    np.put_along_axis(Z, nearest.indices.astype(int), nearest.shares, axis=1)
    S = Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T
    np.testing.assert_allclose(S.sum(axis=1), degree)
    np.testing.assert_allclose(out, S @ V * factors, atol=1e-12)
    np.testing.assert_allclose(roughness, 2 * np.diag(V.T @ (np.eye(60) - S) @ V), atol=1e-9)
    np.testing.assert_array_equal(again, roughness)


def test_vote_follows_the_larger_share():
    nearest = (np.array([[0, 1, 2]]), np.array([[0.4, 0.3, 0.3]]))
    from fnmf.affinity import Nearest

    assert vote(Nearest(*nearest), np.array([0, 1, 1])).tolist() == [1]


def test_no_single_move_of_a_held_sample_is_better_than_the_end():
    rng = np.random.default_rng(0)
    n, count, k = 40, 8, 3
    indices = np.array([rng.permutation(count)[:2] for _ in range(n)], np.int32)
    shares = rng.dirichlet(np.ones(2), n)
    Z = np.zeros((n, count))
    np.put_along_axis(Z, indices.astype(np.int64), shares, axis=1)
    S = Z / np.maximum(Z.sum(axis=0), 1e-12) @ Z.T

    def value(labels):
        """Modularity from its definition; all degrees are 1."""
        same = labels[:, None] == labels
        return ((S - resolution(k) / n) * same).sum() / n

    of_anchors, nearest = np.arange(count) % k, Nearest(indices, shares)
    view = view_of(np.ones((n, 1)))
    with threads(1) as runner:
        mass = anchor_mass(nearest, count, view, runner)
        found = cluster_by_anchors(nearest, mass, of_anchors, view, runner)
    best = value(found)
    assert best > value(vote(nearest, of_anchors))
    for i in range(n):
        for other in range(k):
            moved = found.copy()
            moved[i] = other
            if len(np.unique(moved)) == k:
                assert value(moved) <= best + 1e-9
