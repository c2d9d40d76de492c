"""CAN and PCAN: invariants, a dense oracle, orientation values."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.preprocessing import normalize

from fnmf.baselines import CAN, PCAN
from fnmf.baselines._adaptive import Neighbors, embed, full_step, local_step
from fnmf.baselines._pcan import _Projected
from fnmf.baselines._rank import components
from fnmf.baselines._simplex import project_rows
from fnmf.metrics import clustering_accuracy, normalized_mutual_information


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:500]), y[:500], 10


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(200, noise=0.06, random_state=0)
    return X - X.min(axis=0) + 0.1, y, 2


@pytest.fixture(scope="module")
def gauss():
    centres = [[1, 1], [4, 1], [2.5, 4]]
    X, y = make_blobs(300, centers=centres, cluster_std=0.5, random_state=0)
    return X - X.min(axis=0) + 0.1, y, 3


def dense_can(X, c, k, full=False):
    """The method with full matrices and a dense eigen-solver, written independently."""
    n = len(X)
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")
    ranked = np.take_along_axis(D, order, axis=1)
    gammas = (k * ranked[:, k] - ranked[:, :k].sum(axis=1)) / 2
    gamma = strength = gammas.mean()
    S = np.zeros((n, n))
    for i in range(n):
        S[i, order[i, :k]] = (ranked[i, k] - ranked[i, :k]) / (2 * gammas[i])

    def eigen(S):
        W = (S + S.T) / 2
        values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
        return int(np.sum(values < 1e-10)), vectors[:, :c]

    _, F = eigen(S)
    np.fill_diagonal(D, 0.0)
    for _ in range(30):
        S = np.zeros((n, n))
        for i in range(n):
            near = np.arange(n) if full else order[i, :k]
            v = -(D[i, near] + strength * np.sum((F[i] - F[near]) ** 2, axis=1)) / (2 * gamma)
            u = np.sort(v)[::-1]
            thresholds = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
            S[i, near] = np.maximum(v - thresholds[np.flatnonzero(u > thresholds)[-1]], 0)
        r, F_new = eigen(S)
        if r == c:
            break
        if r < c:
            F, strength = F_new, 2 * strength
        else:
            strength /= 2
    return sp.csgraph.connected_components(S, connection="weak")[1]


@pytest.mark.parametrize("k", [10, 15])
def test_sparse_route_finds_the_clusters_of_the_dense_one(digits, k):
    X, _, c = digits
    labels = CAN(c, n_neighbors=k).fit_predict(X[:300])
    assert clustering_accuracy(dense_can(X[:300], c, k), labels) == 1.0


def test_over_all_samples_each_may_keep_a_share_for_itself(digits):
    X, _, c = digits
    model = CAN(c, neighborhood="full").fit(X[:300])
    assert clustering_accuracy(dense_can(X[:300], c, 15, full=True), model.labels_) == 1.0
    assert model.graph_.diagonal().min() > 0


@pytest.mark.parametrize("params", [{}, {"n_neighbors": 5}, {"neighborhood": "full"}])
def test_learned_similarities_are_on_the_simplex(digits, params):
    X, _, c = digits
    model = CAN(c, **params).fit(X)
    S = model.graph_
    assert S.data.min() > 0
    np.testing.assert_allclose(S.sum(axis=1), 1, atol=1e-12)
    if "neighborhood" not in params:
        assert S.diagonal().max() == 0
        assert np.diff(S.indptr).max() <= (model.n_neighbors or 15)
    W = ((S + S.T) / 2).toarray()
    values = np.linalg.eigvalsh(np.diag(W.sum(axis=1)) - W)
    assert np.sum(values < 1e-10) == c == model.n_connected_components_


def test_first_graph_is_the_projection_with_each_rows_own_gamma(digits):
    X, _, _ = digits
    edges = Neighbors.find(X, 7, None)
    D = np.sort(cdist(X, X, "sqeuclidean"), axis=1)[:, 1:]
    gammas = (7 * D[:, 7] - D[:, :7].sum(axis=1)) / 2
    assert edges.gamma == pytest.approx(gammas.mean(), rel=1e-9)
    expected = project_rows(edges.indptr, -edges.distances / np.repeat(2 * gammas, 7))
    np.testing.assert_allclose(edges.weights, expected, atol=1e-9)


@pytest.mark.parametrize("mode", ["local", "full"])
def test_objective_falls_at_fixed_strength(digits, mode):
    X, _, c = digits
    edges = Neighbors.find(X, 15, None)
    step = partial(local_step, edges)
    if mode == "full":
        step = partial(full_step, X, gamma=edges.gamma, n_jobs=None)
    strength = 4 * edges.gamma
    F = embed(edges.graph(), components(edges.graph())[1], None, c)
    totals = []
    for _ in range(6):
        S, fit, rank = step(F, strength)
        totals.append(fit + rank)
        F = embed(S, components(S)[1], F, c)
        np.testing.assert_allclose(F.T @ F, np.eye(c), atol=1e-8)
        L = sp.diags_array((S + S.T).sum(axis=1) / 2) - (S + S.T) / 2
        totals.append(fit + 2 * strength * float(np.sum(F * (L @ F))))
    assert (np.diff(totals) <= 1e-10 * totals[0]).all()


def test_objective_terms_equal_their_definition(digits):
    X, _, c = digits
    edges = Neighbors.find(X, 15, None)
    F = embed(edges.graph(), components(edges.graph())[1], None, c)
    D, between = cdist(X, X, "sqeuclidean"), cdist(F, F, "sqeuclidean")
    for S, fit, rank in (
        local_step(edges, F, 0.7),
        full_step(X, F, 0.7, gamma=edges.gamma, n_jobs=None),
    ):
        full = S.toarray()
        assert fit == pytest.approx(np.sum(D * full) + edges.gamma * np.sum(full**2), rel=1e-9)
        assert rank == pytest.approx(0.7 * np.sum(between * full), rel=1e-9)


def test_blocks_of_the_full_step_do_not_matter(digits, monkeypatch):
    X, _, c = digits
    edges = Neighbors.find(X, 15, None)
    F = embed(edges.graph(), components(edges.graph())[1], None, c)
    whole = full_step(X, F, 0.5, gamma=edges.gamma, n_jobs=None)[0]
    monkeypatch.setattr("fnmf.baselines._adaptive._BLOCK_BYTES", 8 * 500 * 37)
    parts = full_step(X, F, 0.5, gamma=edges.gamma, n_jobs=2)[0]
    np.testing.assert_allclose(whole.toarray(), parts.toarray(), atol=1e-12)


@pytest.mark.parametrize("method", [CAN, PCAN])
def test_permuted_samples_give_permuted_clusters(digits, method):
    X, _, c = digits
    order = np.random.default_rng(0).permutation(len(X))
    first, second = method(c).fit_predict(X), method(c).fit_predict(X[order])
    assert clustering_accuracy(first[order], second) == 1.0
    np.testing.assert_array_equal(first, method(c).fit_predict(X))


def test_a_graph_that_already_falls_apart_is_left_alone(moons):
    X, y, c = moons
    model = CAN(c, n_neighbors=5).fit(X)
    assert (model.n_iter_, model.converged_, len(model.history_)) == (0, True, 0)
    assert clustering_accuracy(y, model.labels_) == 1.0


@pytest.mark.parametrize(
    ("data", "params", "acc", "nmi", "iterations"),
    [
        ("digits", {"n_neighbors": 5}, 0.786, 0.846, 10),
        ("digits", {"n_neighbors": 10}, 0.868, 0.891, 9),
        ("digits", {}, 0.846, 0.857, 10),
        ("digits", {"neighborhood": "full"}, 0.866, 0.886, 9),
        ("moons", {"n_neighbors": 10}, 1.0, 1.0, 4),
        ("moons", {}, 1.0, 1.0, 5),
        ("gauss", {"n_neighbors": 5}, 0.990, 0.959, 6),
        ("gauss", {}, 1.0, 1.0, 8),
    ],
)
def test_can_reaches_the_orientation_values(data, params, acc, nmi, iterations, request):
    X, y, c = request.getfixturevalue(data)
    model = CAN(c, **params).fit(X)
    assert round(clustering_accuracy(y, model.labels_), 3) == acc
    assert round(normalized_mutual_information(y, model.labels_), 3) == nmi
    assert model.n_iter_ == iterations


@pytest.mark.parametrize(
    ("data", "params", "acc", "nmi", "iterations"),
    [
        ("digits", {}, 0.866, 0.853, 5),
        ("digits", {"n_neighbors": 10}, 0.796, 0.793, 5),
        ("digits", {"n_neighbors": 5}, 0.820, 0.824, 5),
        ("digits", {"n_projected": 20}, 0.868, 0.852, 6),
        ("digits", {"n_projected": 30}, 0.766, 0.772, 6),
        ("gauss", {}, 0.997, 0.983, 9),
        ("moons", {"n_projected": 2}, 1.0, 1.0, 5),
        ("moons", {}, 0.685, 0.216, 10),
    ],
)
def test_pcan_reaches_the_orientation_values(data, params, acc, nmi, iterations, request):
    X, y, c = request.getfixturevalue(data)
    model = PCAN(c, **params).fit(X)
    assert round(clustering_accuracy(y, model.labels_), 3) == acc
    assert round(normalized_mutual_information(y, model.labels_), 3) == nmi
    assert model.n_iter_ == iterations


def test_pcan_looks_through_noise_dimensions():
    accs = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1, 2], 100)
        plane = np.array([[-1, 0], [1, 0], [0, 1]])[y] + rng.normal(0, 0.05**0.5, (300, 2))
        X = np.column_stack([plane, rng.normal(0, 2.5, (300, 10))])
        accs.append(clustering_accuracy(y, PCAN(3).fit_predict(X)))
    assert np.mean(accs) > 0.985


def test_projection_is_unit_length_and_diagonalises_the_total_scatter(digits):
    X, _, c = digits
    model = PCAN(c).fit(X)
    W = model.projection_
    assert W.shape == (64, 9)
    np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1, atol=1e-12)
    centred = X - X.mean(axis=0)
    scatter = W.T @ (centred.T @ centred) @ W
    off = scatter - np.diag(np.diag(scatter))
    assert np.abs(off).max() <= 1e-8 * np.diag(scatter).max()
    np.testing.assert_allclose(model.graph_.sum(axis=1), 1, atol=1e-12)


def test_pcan_without_projection_is_can_over_all_pairs(digits, monkeypatch):
    X, _, c = digits

    def identity(self, graph=None):
        return np.eye(self.X.shape[1])

    monkeypatch.setattr(_Projected, "_first_projection", identity)
    monkeypatch.setattr(_Projected, "_next_projection", identity)
    projected, plain = PCAN(c).fit(X), CAN(c, neighborhood="full").fit(X)
    np.testing.assert_array_equal(projected.labels_, plain.labels_)
    np.testing.assert_allclose(projected.history_["total"], plain.history_["total"], rtol=1e-9)


def test_pcan_does_not_see_a_translation(gauss):
    X, _, c = gauss
    np.testing.assert_array_equal(PCAN(c).fit_predict(X), PCAN(c).fit_predict(X + 3.25))


def test_pcan_local_mode_searches_again_in_the_projected_space(digits):
    X, y, c = digits
    model = PCAN(c, neighborhood="local").fit(X)
    assert np.diff(model.graph_.indptr).max() <= 15
    assert clustering_accuracy(y, model.labels_) > 0.6


def test_pcan_projects_on_all_dimensions_or_some(digits):
    X, _, c = digits
    rank = np.linalg.matrix_rank(X - X.mean(axis=0))
    assert PCAN(c, n_projected="all").fit(X).projection_.shape == (64, rank)
    assert PCAN(c, n_projected=3).fit(X).projection_.shape == (64, 3)
    assert PCAN(c).fit(X).projection_.shape == (64, 9)
    with pytest.raises(ValueError, match="n_projected=0"):
        PCAN(c, n_projected=0).fit(X)


@pytest.mark.parametrize("name", ["glass", "binary-alphadigits"])
def test_pcan_gives_the_published_accuracy(name):
    from fnmf.experiments import problems

    try:
        data = problems()[name].prepare()
    except OSError as error:
        pytest.skip(f"{name} is not here: {str(error).splitlines()[0]}")
    model = PCAN(len(np.unique(data.target)), n_projected="all").fit(data.data)
    published = {"glass": (0.5187, 0.3199), "binary-alphadigits": (0.2792, 0.3485)}[name]
    found = (
        clustering_accuracy(data.target, model.labels_),
        normalized_mutual_information(data.target, model.labels_),
    )
    np.testing.assert_allclose(found, published, atol=5e-5)
