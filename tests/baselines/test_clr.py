"""CLR: invariants, block graphs, orientation values."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.preprocessing import normalize

from fnmf.baselines import CLR
from fnmf.baselines._adaptive import embed
from fnmf.baselines._clr import _SquaredLoss
from fnmf.baselines._rank import components
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy, normalized_mutual_information


def data(name):
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return normalize(X[:500]), y[:500], 10
    if name == "moons":
        X, y = make_moons(200, noise=0.06, random_state=0)
        return X, y, 2
    centres = [[1, 1], [4, 1], [2.5, 4]]
    X, y = make_blobs(300, centers=centres, cluster_std=0.5, random_state=0)
    return X, y, 3


@pytest.mark.parametrize(
    ("name", "params", "acc", "nmi", "iterations"),
    [
        ("digits", {}, 0.788, 0.868, 13),
        ("digits", {"loss": "l1"}, 0.760, 0.809, 21),
        ("digits", {"n_neighbors": 10}, 0.850, 0.864, 12),
        ("digits", {"n_neighbors": 10, "loss": "l1"}, 0.844, 0.854, None),
        ("moons", {}, 1.0, 1.0, 0),
        ("moons", {"n_neighbors": 10}, 1.0, 1.0, 9),
        ("gauss", {}, 1.0, 1.0, 14),
        ("gauss", {"n_neighbors": 10}, 1.0, 1.0, 12),
    ],
)
def test_clr_reaches_the_orientation_values(name, params, acc, nmi, iterations):
    X, y, c = data(name)
    model = CLR(c, **params).fit(X)
    assert round(clustering_accuracy(y, model.labels_), 3) == acc
    assert round(normalized_mutual_information(y, model.labels_), 3) == nmi
    assert iterations is None or model.n_iter_ == iterations


@pytest.mark.parametrize("loss", ["l2", "l1"])
def test_learned_graph_is_on_the_simplex_and_within_the_given_one(loss):
    X, _, c = data("digits")
    A = adaptive_neighbors(X, 5, symmetric=False)
    S = CLR(c, loss=loss).fit(X).graph_
    assert S.data.min() > 0
    np.testing.assert_allclose(S.sum(axis=1), 1, atol=1e-12)
    assert not np.any((S.toarray() > 0) & (A.toarray() == 0))
    assert sp.csgraph.connected_components(S, connection="weak")[0] == c


def test_objective_falls_at_fixed_strength():
    X, _, c = data("digits")
    A = adaptive_neighbors(X, 5, symmetric=False)
    loss = _SquaredLoss(A)
    F = embed(A, components(A)[1], None, c)
    totals = []
    for _ in range(8):
        S, fit, rank = loss.step(F, 1.6)
        difference = (S - A).toarray()
        assert fit == pytest.approx(np.sum(difference**2), rel=1e-12)
        totals.append(fit + rank)
        F = embed(S, components(S)[1], F, c)
        L = sp.diags_array((S + S.T).sum(axis=1) / 2) - (S + S.T) / 2
        totals.append(fit + 2 * 1.6 * float(np.sum(F * (L @ F))))
    assert (np.diff(totals) <= 1e-10 * totals[0]).all()


def test_a_graph_with_as_many_blocks_as_clusters_comes_back_unchanged():
    rng = np.random.default_rng(0)
    blocks = [rng.random((size, size)) for size in (12, 9, 15)]
    A = sp.csr_array(sp.block_diag(list(map(sp.coo_array, blocks)), format="csr"))
    A.setdiag(0)
    A = sp.csr_array(sp.diags_array(1 / A.sum(axis=1)) @ A)
    A.eliminate_zeros()
    model = CLR(3, graph=A).fit(rng.random((36, 2)))
    np.testing.assert_array_equal(model.graph_.toarray(), A.toarray())
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], [12, 9, 15]))


def test_a_given_graph_is_not_modified():
    X, _, c = data("gauss")
    A = adaptive_neighbors(X, 5, symmetric=False)
    A.setdiag(0.5)
    before = A.toarray()
    labels = CLR(c, graph=A).fit_predict(X)
    np.testing.assert_array_equal(A.toarray(), before)
    np.testing.assert_array_equal(labels, CLR(c).fit_predict(X))
