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


@pytest.mark.parametrize("smoothness", [0.0, 1.0, 100.0])
def test_no_step_raises_the_augmented_lagrangian(digits, smoothness):
    X, _, c = digits
    state = begin(X, c, smoothness)
    for _ in range(15):
        for step in ("residuals", "basis", "signs", "representation"):
            before = state.lagrangian()
            getattr(state, f"update_{step}")()
            assert state.lagrangian() <= before + 1e-10 * abs(before)
        # All steps are done again inside; what matters is that the multipliers move on.
        state.iterate(1.05)
        np.testing.assert_allclose(state.V.T @ state.V, np.eye(c), atol=1e-10)
        assert state.H.min() >= 0


def test_small_residuals_are_shrunk_to_zero(digits):
    X, _, c = digits
    state = begin(X, c, 1.0)
    state.penalty = 2.0
    B = X - state.V @ state.U.T
    state.update_residuals()
    small = np.linalg.norm(B, axis=1) <= 0.5
    assert small.any()
    assert not small.all()
    assert (state.E[small] == 0).all()
    assert (np.linalg.norm(state.E[~small], axis=1) > 0).all()


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
