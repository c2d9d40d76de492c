"""Weights from relevance: the gate minimises its loss, the null level is that of shuffled data."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from fnmf.affinity import modularity
from fnmf.relevance.weights import drop_price, explained, gate, relevance, relevance_weights
from fnmf.statistics._passes import Moments


def moments_of(X, labels):
    """Straight from the definitions."""
    counts = np.bincount(labels).astype(float)
    mean = X.mean(axis=0)
    Q = X - mean
    sums = np.stack([Q[labels == a].sum(axis=0) for a in range(len(counts))])
    squares = np.stack([(Q[labels == a] ** 2).sum(axis=0) for a in range(len(counts))])
    return Moments.from_sums(counts, mean, sums, squares, (Q**4).sum(axis=0))


@pytest.mark.parametrize("seed", range(20))
def test_gate_minimises_its_stated_loss(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.uniform(size=2))
    share = rng.uniform()
    loss = lambda g: g * (1 - share) + drop_price(np.array(g), low, high)  # noqa: E731
    found = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    best = min((loss(g), g) for g in (0.0, 1.0, float(found.x)))
    assert loss(float(gate(share, low, high))) == pytest.approx(best[0], abs=1e-9)


def test_price_is_convex_falls_and_ends_at_zero():
    g = np.linspace(0, 1, 101)
    price = drop_price(g, 0.2, 0.6)
    assert price[-1] == 0
    assert (np.diff(price) <= 0).all()
    assert (np.diff(price, 2) >= -1e-12).all()


def test_leaving_every_feature_out_costs_something():
    assert (
        drop_price(np.zeros(3), np.array([0.0, 0.3, 0.9]), np.array([0.1, 0.9, 0.95])) > 0
    ).all()


@pytest.mark.parametrize("kind", ["normal", "rare", "heavy"])
def test_null_level_is_that_of_shuffled_features(kind):
    rng = np.random.default_rng(0)
    n = 300
    labels = np.repeat(np.arange(4), [30, 60, 90, 120])
    values = {
        "normal": rng.normal(size=n),
        "rare": (rng.uniform(size=n) < 0.03) * 1.0,
        "heavy": np.minimum(rng.pareto(2, size=n), 8),
    }[kind]
    shuffled = np.stack([rng.permutation(values) for _ in range(4000)], axis=1)
    found = explained(moments_of(shuffled, labels), np.zeros(4, int), 1)
    assert found.share.mean() == pytest.approx(found.level.item(), rel=0.03)
    assert found.share.std() == pytest.approx(found.spread.mean(), rel=0.06)


def test_null_level_of_a_group_of_clusters_is_that_of_shuffled_features():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(4), [30, 60, 90, 120])
    values = rng.exponential(size=300)
    shuffled = np.stack([rng.permutation(values) for _ in range(4000)], axis=1)
    moments = moments_of(shuffled, labels)
    found = explained(moments, np.array([0, 1, 0, 1]), 2)
    between = (found.total - found.within) / (found.size * moments.total / 300)
    np.testing.assert_allclose(between.mean(axis=1), found.level[:, 0], rtol=0.04)
    np.testing.assert_allclose(between.std(axis=1), found.spread.mean(axis=1), rtol=0.08)


@pytest.fixture
def planted():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = rng.uniform(size=(300, 30))
    for a in range(3):
        X[labels == a, a] += 2
    X[:, 3] = 5.0
    return X, labels


def test_relevance_is_one_for_what_clusters_explain_and_zero_for_noise_and_constants(planted):
    found = relevance(moments_of(*planted))
    assert (found[:3] > 0.8).all()
    assert (found[4:] < 0.05).all()
    assert found[3] == 0


def test_relevance_does_not_depend_on_units_and_offsets(planted):
    X, labels = planted
    scales = 10.0 ** np.random.default_rng(1).uniform(-3, 3, X.shape[1])
    np.testing.assert_allclose(
        relevance(moments_of(X * scales, labels)), relevance(moments_of(X, labels)), atol=1e-9
    )
    np.testing.assert_allclose(
        relevance(moments_of(X + 10, labels)), relevance(moments_of(X, labels)), atol=1e-6
    )


def test_each_weighting_uses_its_own_features(planted):
    moments = moments_of(*planted)
    omega, price = relevance_weights(moments, np.arange(3), 3)
    assert (np.argmax(omega[:, :3], axis=1) == np.arange(3)).all()
    assert np.count_nonzero(omega[:, 3:]) == 0
    assert (price >= 0).all()
    assert omega.max() == 1


def test_features_that_are_constant_in_each_cluster_count(planted):
    X, labels = planted
    X = np.where(np.arange(X.shape[1]) < 3, np.eye(3)[labels] @ np.eye(3, X.shape[1]), X)
    moments = moments_of(X, labels)
    omega, _ = relevance_weights(moments, np.arange(3), 3)
    np.testing.assert_allclose(np.diag(omega[:, :3]), 1)


def test_noise_alone_still_leaves_features_to_go_on_with():
    rng = np.random.default_rng(2)
    moments = moments_of(rng.uniform(size=(60, 10)), np.arange(60) % 3)
    omega, _ = relevance_weights(moments, np.zeros(3, int), 1)
    assert np.count_nonzero(omega) >= 2


def test_modularity_of_two_separate_pairs():
    graph = sp.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    assert modularity(graph, np.array([0, 0, 1, 1]), 2) == pytest.approx(1.0)
    assert modularity(graph, np.array([0, 1, 0, 1]), 2) == pytest.approx(-1.0)
    assert modularity(graph, np.zeros(4, int), 2) == pytest.approx(0.0)
