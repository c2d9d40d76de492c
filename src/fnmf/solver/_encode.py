"""Codes for rows that are solved on their own, with U and the weights held fixed."""

from dataclasses import dataclass

import numpy as np

from fnmf.backends.encode import encode_rows
from fnmf.data import View
from fnmf.runners import Runner
from fnmf.terms import Attraction

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class RowModel:
    """What stays fixed while rows are solved.

    Attributes
    ----------
    U, weights : ndarray of shape (d, c) and (m, d)
        Basis and feature weights.
    on_residual : bool
        Whether the weights act on the residual (see ``Weighting``).
    shared : ndarray of shape (m,) or None
        The assignment of all samples, if they share it.
    """

    U: np.ndarray
    weights: np.ndarray
    on_residual: bool
    shared: np.ndarray | None


def encode(
    view: View,
    model: RowModel,
    runner: Runner,
    attraction: Attraction | None = None,
    prices: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Codes V and assignments P of all rows of a view, and their data term.

    ``attraction`` holds rows to others that stand still; ``prices`` (n, m) are added to the
    residuals that decide the assignment.
    """
    n_rows, n_components = view.shape[0], model.U.shape[1]
    weights, n_weightings = model.weights, len(model.weights)
    U = model.U.astype(np.float64)
    target = weights if model.on_residual else weights**2
    gains = weights if model.on_residual else np.ones_like(weights)
    grams = np.stack([(U * gain[:, None]).T @ U for gain in gains])
    basis = (weights.T[:, :, None] * U[:, None, :]).reshape(len(U), -1)
    V = np.zeros((n_rows, n_components))
    start = np.full(n_weightings, 1 / n_weightings) if model.shared is None else model.shared
    P = np.tile(start.astype(np.float64), (n_rows, 1))

    def task(first: int, last: int) -> float:
        X = view.double(first, last)
        rows, size = slice(first, last), last - first
        crosses = np.asarray(X @ basis, np.float64).reshape(-1, n_weightings, n_components)
        squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
        energies = np.asarray(squares @ target.T)
        return encode_rows(
            np.ascontiguousarray(crosses),
            energies,
            prices[rows] if prices is not None else np.zeros_like(energies),
            grams,
            attraction.pull[rows] if attraction is not None else np.zeros((size, n_components)),
            attraction.drag[rows] if attraction is not None else np.zeros(size),
            model.shared is not None,
            P[rows],
            V[rows],
            _TOLERANCE,
            np.finfo(np.float64).tiny,
        )

    loss = sum(runner.each(task, view.blocks()), 0.0)
    return V, P, loss
