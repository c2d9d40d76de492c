"""Codes for new rows, each solved on its own with U and the weights held fixed."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from fnmf.engine.lanes import quads
from fnmf.engine.rows import assign_row
from fnmf.engine.views import View
from fnmf.model.descent import descend_row, mix_grams

_MAX_ROUNDS = 1000
_ROUNDS_PER_ASSIGNMENT = 5


@njit(nogil=True, cache=True)
def _encode_rows(crosses, energies, prices, grams, pull, drag, shared, P, V, tol, tiny):  # type: ignore[no-untyped-def]
    """Alternate v and p of every row until it stands still; rows never see each other.

    Returns the data term, Σ_ij p_ij² q_ij.
    """
    n_rows, n_components = V.shape
    n_weightings = grams.shape[0]
    squares = np.empty(n_weightings)
    residuals = np.empty(n_weightings)
    shares = np.zeros((1, quads(n_weightings)))
    cross = np.empty(n_components)
    hessian = np.empty((n_components, n_components))
    before, slopes = np.empty(n_components), np.empty(n_components)
    loss = 0.0
    for i in range(n_rows):
        v = V[i]
        for _ in range(_MAX_ROUNDS):
            before[:] = v
            for j in range(n_weightings):
                squares[j] = P[i, j] * P[i, j]
            mix_grams(squares, grams, hessian)
            for a in range(n_components):
                cross[a] = 0
                for j in range(n_weightings):
                    cross[a] += squares[j] * crosses[i, j, a]
            rounds = _ROUNDS_PER_ASSIGNMENT
            descend_row(v, cross, pull[i], 1.0, hessian, drag[i], rounds, slopes)
            for j in range(n_weightings):
                residuals[j] = energies[i, j]
                for a in range(n_components):
                    fit = -2 * crosses[i, j, a]
                    for b in range(n_components):
                        fit += grams[j, a, b] * v[b]
                    residuals[j] += v[a] * fit
                # The terms cancel: below this level the difference is rounding.
                residuals[j] = max(residuals[j], 1e-15 * energies[i, j]) + prices[i, j]
            if not shared:
                shares[0, :n_weightings] = residuals
                assign_row(shares, 0, tiny, P, i)
            moved = largest = 0.0
            for a in range(n_components):
                moved = max(moved, abs(v[a] - before[a]))
                largest = max(largest, v[a])
            if moved <= tol * largest:
                break
        for j in range(n_weightings):
            loss += P[i, j] * P[i, j] * residuals[j]
    return loss


def encode(
    view: View,
    U: np.ndarray,
    weights: np.ndarray,
    on_residual: bool,
    shared: np.ndarray | None,
    pull: np.ndarray | None,
    drag: np.ndarray | None,
    prices: np.ndarray | None = None,
    tol: float = 1e-9,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Codes V and assignments P of all rows of a view, and their data term.

    Parameters
    ----------
    view : View
        New rows.
    U, weights : ndarray
        Fitted basis (d x c) and feature weights (m x d).
    on_residual : bool
        Whether the weights act on the residual (see ``model.weighting``).
    shared : ndarray of shape (m,) or None
        The assignment of all samples, if they share it.
    pull, drag : ndarray of shape (n, c) and (n,), or None
        What the graph adds: β Σ_r a_ir v_r over training rows r, and β Σ_r a_ir.
    prices : ndarray of shape (n, m) or None
        Constants added to the residuals that decide the assignment.
    """
    n_rows, n_components = view.shape[0], U.shape[1]
    n_weightings = len(weights)
    U = U.astype(np.float64)
    target = weights if on_residual else weights**2
    gains = weights if on_residual else np.ones_like(weights)
    grams = np.stack([(U * gain[:, None]).T @ U for gain in gains])
    basis = (weights.T[:, :, None] * U[:, None, :]).reshape(len(U), -1)
    V = np.zeros((n_rows, n_components))
    start = np.full(n_weightings, 1 / n_weightings) if shared is None else shared
    P = np.tile(start.astype(np.float64), (n_rows, 1))
    loss = 0.0
    for first, last in view.blocks():
        X = as_matrix(view, first, last)
        rows = slice(first, last)
        crosses = np.asarray(X @ basis, np.float64).reshape(-1, n_weightings, n_components)
        squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
        energies = np.asarray(squares @ target.T)
        loss += _encode_rows(
            np.ascontiguousarray(crosses),
            energies,
            prices[rows] if prices is not None else np.zeros_like(energies),
            grams,
            pull[rows] if pull is not None else np.zeros((last - first, n_components)),
            drag[rows] if drag is not None else np.zeros(last - first),
            shared is not None,
            P[rows],
            V[rows],
            tol,
            np.finfo(np.float64).tiny,
        )
    return V, P, loss


def as_matrix(view: View, start: int, stop: int) -> Any:
    """Rows as a new float64 array or CSR matrix of our own, free to change."""
    block = view.block(start, stop)
    if len(block) == 1:
        return block[0].astype(np.float64)
    data, indices, pointers = block
    shape = (stop - start, view.shape[1])
    return sp.csr_array((data.astype(np.float64), indices, pointers - pointers[0]), shape=shape)
