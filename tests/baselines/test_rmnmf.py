"""RMNMF: exact steps of the augmented Lagrangian, constraints, orientation values."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from fnmf.baselines import RMNMF
from fnmf.baselines._rmnmf import State
from fnmf.baselines._spectral import laplacian
from fnmf.graph import adaptive_neighbors
from fnmf.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X[:500]), y[:500], 10


def begin(X, c, smoothness):
    L = laplacian(adaptive_neighbors(X, 5))
    return State.start(X, L, smoothness, c, max(10.0, smoothness), 0)


def error(state):
    """E, as long as the multipliers are those of its update."""
    return state.X - state.clean + state.data_multiplier / state.penalty


def lagrangian(state, E):
    data = state.X - state.V @ state.U.T - E + state.data_multiplier / state.penalty
    sign = state.V - state.H + state.sign_multiplier / state.penalty
    return (
        np.linalg.norm(E, axis=1).sum()
        + state.smoothness * np.sum(state.V * (state.L @ state.H))
        + 0.5 * state.penalty * (np.sum(data**2) + np.sum(sign**2))
    )


@pytest.mark.parametrize("smoothness", [0.0, 1.0, 100.0])
def test_no_step_raises_the_augmented_lagrangian(digits, smoothness):
    X, _, c = digits
    state = begin(X, c, smoothness)
    E = error(state)
    assert lagrangian(state, E) <= lagrangian(state, np.zeros_like(X))
    for _ in range(15):
        for step in ("basis", "signs", "representation"):
            before = lagrangian(state, E)
            getattr(state, f"update_{step}")()
            assert lagrangian(state, E) <= before + 1e-10 * abs(before)
        state.update_multipliers(1.05)
        # Here the old E meets the new multipliers, which may raise the value, and then gives way.
        before = lagrangian(state, E)
        E = error(state)
        assert lagrangian(state, E) <= before + 1e-10 * abs(before)
        np.testing.assert_allclose(state.V.T @ state.V, np.eye(c), atol=1e-10)
        assert state.H.min() >= 0


# Numbers of rows, features and components that fill their tiles, and that do not.
@pytest.mark.parametrize("shape", [(40, 64, 10), (41, 50, 7), (43, 3, 1), (3, 17, 2)])
def test_each_step_does_what_its_formula_says(shape):
    n, d, c = shape
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    L = laplacian(sp.csr_array(np.ones((n, n)) - np.eye(n)))
    state = State.start(X, L, 0.3, c, 2.0, 0)
    multiplier, signs = np.zeros_like(X), np.zeros((n, c))
    V, U = state.V, state.U
    for _ in range(6):
        mu = state.penalty
        B = X - V @ U.T + multiplier / mu
        lengths = np.linalg.norm(B, axis=1, keepdims=True)
        E = B * (1 - 1 / np.maximum(mu * lengths, 1))
        clean = X - E + multiplier / mu
        np.testing.assert_allclose(state.clean, clean, atol=1e-12)
        state.update_residuals()
        np.testing.assert_allclose(state.clean, clean, atol=1e-12)

        U = clean.T @ V
        state.update_basis()
        np.testing.assert_allclose(state.U, U, atol=1e-12)

        H = np.maximum(V + (signs - 0.3 * (L @ V)) / mu, 0)
        state.update_signs()
        np.testing.assert_allclose(state.H, H, atol=1e-12)

        left, _, right = np.linalg.svd(
            clean @ U + H - (signs + 0.3 * (L @ H)) / mu, full_matrices=False
        )
        V = left @ right
        state.update_representation()
        np.testing.assert_allclose(state.V, V, atol=1e-12)

        residual = X - V @ U.T
        multiplier = multiplier + mu * (residual - E)
        signs = signs + mu * (V - H)
        state.update_multipliers(1.5)
        assert state.penalty == 1.5 * mu
        np.testing.assert_allclose(state.data_multiplier, multiplier, atol=1e-11)
        np.testing.assert_allclose(state.sign_multiplier, signs, atol=1e-11)

        fit, smooth = np.linalg.norm(residual, axis=1).sum(), 0.3 * np.trace(V.T @ (L @ V))
        gaps = np.linalg.norm(residual - E) / np.linalg.norm(X), np.linalg.norm(V - H) / c**0.5
        expected = (fit + smooth, fit, smooth, *gaps)
        np.testing.assert_allclose(state.measure(), expected, atol=1e-11)


def test_small_residuals_are_shrunk_to_zero(digits):
    X, _, c = digits
    state = begin(X, c, 1.0)
    state.penalty = 2.0
    B = X - state.V @ state.U.T
    state.update_residuals()
    small = np.linalg.norm(B, axis=1) <= 0.5
    assert small.any()
    assert not small.all()
    np.testing.assert_allclose(error(state)[small], 0, atol=1e-15)
    assert (np.linalg.norm(error(state)[~small], axis=1) > 1e-12).all()


def test_both_constraints_are_met_at_the_end(digits):
    X, _, c = digits
    model = RMNMF(c, smoothness=1.0, random_state=0).fit(X)
    assert model.converged_
    assert max(model.history_["residual_data"][-1], model.history_["residual_sign"][-1]) <= 1e-3
    V, H = model.embedding_, model.nonnegative_embedding_
    np.testing.assert_allclose(V.T @ V, np.eye(c), atol=1e-10)
    assert H.min() >= 0
    assert V.min() > -1e-2
    residual = np.linalg.norm(X - V @ model.components_, axis=1).sum()
    assert model.history_["reconstruction"][-1] == pytest.approx(residual)


def test_no_smoothness_is_the_same_as_no_graph(digits):
    X, _, c = digits
    empty = sp.csr_array((len(X), len(X)))
    with pytest.warns(ConvergenceWarning):
        first = RMNMF(c, smoothness=0.0, max_iter=40, random_state=0).fit(X)
    second = RMNMF(c, smoothness=7.0, penalty=10.0, graph=empty, max_iter=40, random_state=0)
    with pytest.warns(ConvergenceWarning):
        second.fit(X)
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("smoothness", "acc", "spread"), [(1.0, 0.782, 0.055), (10.0, 0.796, 0.06)]
)
def test_clusters_are_within_two_standard_deviations_of_the_orientation_value(
    digits, smoothness, acc, spread
):
    X, y, c = digits
    found = [
        clustering_accuracy(
            y, RMNMF(c, smoothness=smoothness, max_iter=300, random_state=s).fit_predict(X)
        )
        for s in range(5)
    ]
    assert abs(np.mean(found) - acc) <= 2 * spread


def test_argmax_labels_are_close_to_those_of_kmeans(digits):
    X, y, c = digits
    by_kmeans, by_argmax = (
        clustering_accuracy(y, RMNMF(c, labels=rule, random_state=0).fit_predict(X))
        for rule in ("kmeans", "argmax")
    )
    assert abs(by_kmeans - by_argmax) < 0.05


def test_zero_samples_stay_finite(digits):
    X, _, c = digits
    X = X.copy()
    X[:3] = 0
    model = RMNMF(c, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X[:5])).all()
