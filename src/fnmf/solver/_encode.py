"""Codes for rows that are solved on their own, with U and the weights held fixed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fnmf.backends.encode import encode_rows
from fnmf.data import View
from fnmf.runners import Runner
from fnmf.terms import Attraction

_TOLERANCE = 1e-9


class Projected(NamedTuple):
    """What a solve needs to know of rows.

    Attributes
    ----------
    crosses : ndarray of shape (n, m, c)
        Products of the rows with the weighted bases.
    energies, prices : ndarray of shape (n, m)
        Weighted squares of the rows, and what is added to them where assignments are decided.
    """

    crosses: np.ndarray
    energies: np.ndarray
    prices: np.ndarray


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
    start = np.full(n_weightings, 1 / n_weightings) if model.shared is None else model.shared
    work = _EncodeWork(basis, target, grams, start.astype(np.float64), model.shared is not None)
    own = np.zeros((n_rows, n_weightings)) if prices is None else prices
    held = attraction or Attraction(np.zeros((n_rows, n_components)), np.zeros(n_rows))
    V, P = np.empty((n_rows, n_components)), np.empty((n_rows, n_weightings))
    loss = 0.0
    found = runner.over(work, view, own, held.pull, held.drag)
    for (first, last), part in zip(view.blocks(), found, strict=True):
        V[first:last], P[first:last] = part.V, part.P
        loss += part.loss
    return V, P, loss


class _Encoded(NamedTuple):
    V: np.ndarray
    P: np.ndarray
    loss: float


def solve_rows(
    rows: Projected,
    grams: np.ndarray,
    start: np.ndarray,
    *,
    shared: bool,
    held: Attraction | None = None,
    tolerance: float = _TOLERANCE,
) -> _Encoded:
    """Codes and assignments of rows until none moves more than ``tolerance``, and their loss.

    ``grams`` (m, c, c) are those of the weighted bases; assignments begin at ``start`` (m,) and
    stay there if they are ``shared``.
    """
    n, _, c = rows.crosses.shape
    pull, drag = held or (np.zeros((n, c)), np.zeros(n))
    V, P = np.zeros((n, c)), np.tile(start, (n, 1))
    tail = shared, P, V, tolerance, np.finfo(np.float64).tiny
    own = np.ascontiguousarray(rows.crosses), rows.energies, rows.prices
    return _Encoded(V, P, encode_rows(*own, grams, pull, drag, *tail))


@dataclass(frozen=True)
class _EncodeWork:
    """The solve of the rows of a block; rows are their prices, pull and drag."""

    basis: np.ndarray
    target: np.ndarray
    grams: np.ndarray
    start: np.ndarray
    together: bool

    def __call__(
        self, part: View, prices: np.ndarray, pull: np.ndarray, drag: np.ndarray
    ) -> _Encoded:
        n_weightings, n_components, _ = self.grams.shape
        X = part.double(0, part.shape[0])
        crosses = np.asarray(X @ self.basis, np.float64).reshape(-1, n_weightings, n_components)
        squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
        rows = Projected(crosses, np.asarray(squares @ self.target.T), prices)
        held = Attraction(pull, drag)
        return solve_rows(rows, self.grams, self.start, shared=self.together, held=held)
