"""Codes for rows that are solved on their own, with U and the weights held fixed."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fnmf.affinity import Attraction
from fnmf.data import IncompleteView, View
from fnmf.execution import RowArray, Rows, Runner, parts_of
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.terms import Weighting
from fnmf.kernels.rows import descend_rows

_TOLERANCE = 1e-9
# Rows that do not come to rest; steps of each entry of a code between two assignments.
_MOST_ROUNDS, _STEPS = 1000, 5
# Rows with missing cells are solved again until their codes move less than this, at most so often.
_STILL, _EXPECTATIONS = 1e-6, 200
# Steps of Newton's method for codes at most, and numbers that are worked on at a time.
_NEWTON, _AT_ONCE = 50, 1 << 20


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

    def only(self, some: np.ndarray) -> "Projected":
        """What is known of some of the rows."""
        return Projected(*(values[some] for values in self))


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
    prices: RowArray | None = None,
    dtype: Any = np.float64,
) -> tuple[RowArray, RowArray, float]:
    """Codes V and assignments P of all rows of a view, and their data term.

    ``attraction`` holds rows to others that stand still; ``prices`` (n, m) are added to the
    residuals that decide the assignment. All is solved in double precision, whatever the type
    of what comes out.
    """
    n_components = model.U.shape[1]
    weights, n_weightings = model.weights, len(model.weights)
    U = model.U.astype(np.float64)
    target = weights if model.on_residual else weights**2
    gains = weights if model.on_residual else np.ones_like(weights)
    grams = np.stack([(U * gain[:, None]).T @ U for gain in gains])
    basis = (weights.T[:, :, None] * U[:, None, :]).reshape(len(U), -1)
    start = np.full(n_weightings, 1 / n_weightings) if model.shared is None else model.shared
    begun, together = start.astype(np.float64), model.shared is not None
    work = _EncodeWork(basis, target, grams, begun, together, model)
    free, alone = np.empty((0, n_weightings)), Attraction(np.empty((0, 0)), np.empty(0))
    V, P = (runner.empty(view, (width,), dtype) for width in (n_components, n_weightings))
    own = V, P, free if prices is None else prices, *(attraction or alone)
    (loss,) = runner.sweep(work, parts_of(view), own)
    return V, P, float(loss)


class Encoded(NamedTuple):
    """Codes and assignments of rows, and their loss."""

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
    begin: np.ndarray | None = None,
    rank: int = _MOST_ROUNDS,
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and assignments of rows until none moves more than ``tolerance``.

    ``grams`` (m, c, c) are those of the weighted bases, of at most this ``rank``; assignments begin
    at ``start`` (m,) and stay there if they are ``shared``. Codes ``begin`` (n, c) where that is
    said, else at zero, or where fewer directions than components lead.
    """
    n, m, c = rows.crosses.shape
    pull, drag = held or (np.zeros((n, c)), np.zeros(n))
    P = np.tile(start, (n, 1))
    if begin is not None:
        V = begin.copy()
    elif rank < c and (shared or m == 1) and drag.any():
        cross = np.einsum("j,njc->nc", start**2, rows.crosses) + pull
        V = _from_few_directions(cross, drag, np.einsum("j,jab->ab", start**2, grams), rank)
    else:
        V = np.zeros((n, c))
    moving = np.arange(n)
    for _ in range(_MOST_ROUNDS):
        crosses, squares = rows.crosses[moving], P[moving] ** 2
        cross = sum(squares[:, j, None] * crosses[:, j] for j in range(m)) + pull[moving]
        v = V[moving]
        ties = np.zeros(len(v) + 1, np.int64), np.empty(0, np.int32), np.empty(0), drag[moving]
        descend_rows(v, cross, squares[: 1 if shared else None], grams, _STEPS, 1.0, ties)
        moved = np.abs(v - V[moving]).max(axis=1)
        V[moving] = v
        if not shared and m > 1:
            P[moving] = _assigned(_residuals(v, rows.only(moving), grams))
        moving = moving[moved > tolerance * v.max(axis=1)]
        if len(moving) == 0:
            break
    return V, P


def _from_few_directions(
    cross: np.ndarray, drag: np.ndarray, gram: np.ndarray, rank: int
) -> np.ndarray:
    """Codes (n, c) of rows that are dragged and have more components than their data directions.

    Entries in turn would take thousands of rounds. With gram = L Lᵀ the codes are
    max(0, cross − L y) / drag for the y, no longer than ``rank``, that minimises
    ½ |y|² + |max(0, cross − L y)|² / (2 drag): Newton's method ends there after a few steps.
    Rows without drag begin at zero.
    """
    values, vectors = np.linalg.eigh(gram)
    L = vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0))
    V = np.zeros_like(cross)
    for places in np.array_split(np.flatnonzero(drag), max(cross.size * rank // _AT_ONCE, 1)):
        q, shrunk, y = cross[places], drag[places, None], np.zeros((len(places), L.shape[1]))
        left = np.arange(len(q))
        for _ in range(_NEWTON):
            before, beyond, level = y[left], *_dual(q[left], shrunk[left], L, y[left])
            slope = before - _each(L.T, beyond) / shrunk[left]
            curved = np.matmul(L.T * (beyond > 0)[:, None], L) / shrunk[left, :, None]
            step = np.linalg.solve(curved + np.eye(L.shape[1]), slope[:, :, None])[:, :, 0]
            # Half a step where a whole one leads up again.
            up = _dual(q[left], shrunk[left], L, before - step)[1] > level
            y[left] = before - np.where(up[:, None], step / 2, step)
            moved = np.abs(step).max(axis=1) > _TOLERANCE * np.abs(y[left]).max(axis=1)
            left = left[moved]
            if len(left) == 0:
                break
        V[places] = _dual(q, shrunk, L, y)[0] / shrunk
    return V


def _dual(
    cross: np.ndarray, drag: np.ndarray, L: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """max(0, cross − L y), and what y is to minimise, of each row."""
    beyond = np.maximum(cross - _each(L, y), 0)
    return beyond, (y * y).sum(axis=1) + (beyond * beyond).sum(axis=1) / drag[:, 0]


def _each(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Products with each row by itself, so that none depends on which are solved together."""
    return np.matmul(matrix, rows[:, :, None])[:, :, 0]


def _residuals(V: np.ndarray, rows: Projected, grams: np.ndarray) -> np.ndarray:
    """Weighted squares of the residuals of rows with their prices, (n, m)."""
    # Not a matrix product: no sum may depend on which rows are solved together.
    fits = np.einsum("na,pa->np", V, grams.reshape(-1, V.shape[1])).reshape(rows.crosses.shape)
    fits -= 2 * rows.crosses
    found = rows.energies + np.einsum("nc,nmc->nm", V, fits)
    # The terms cancel: below this level the difference is rounding.
    return np.maximum(found, 1e-15 * rows.energies) + rows.prices


def _assigned(residuals: np.ndarray) -> np.ndarray:
    """(1/q_j) / Σ_l (1/q_l) for the residuals q of each row; zeros take all, in equal shares."""
    zero = residuals <= np.finfo(np.float64).tiny
    # Relative to the smallest, so that tiny residuals do not overflow.
    shares = residuals.min(axis=1, keepdims=True) / np.where(zero, 1, residuals)
    shares = np.where(zero.any(axis=1, keepdims=True), zero, shares)
    return shares / shares.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class _EncodeWork:
    """The solve of the rows of a block; rows are V, P, and prices, pull, drag if there are any."""

    fills: ClassVar = (0, 1)
    basis: np.ndarray
    target: np.ndarray
    grams: np.ndarray
    start: np.ndarray
    together: bool
    model: RowModel

    def __call__(self, block: tuple[View], rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        (part,), (V, P, prices, pull, drag) = block, rows
        loss = 0.0
        for start, stop in part.few():
            own = slice(start, stop)
            # No prices and nothing that holds have no rows.
            given = prices[own] if len(prices) else np.zeros((stop - start, len(self.start)))
            held = Attraction(pull[own], drag[own]) if len(drag) else None
            found = self._solved(part, start, stop, given.astype(np.float64, copy=False), held)
            V[own], P[own] = found.V, found.P
            loss += found.loss
        return rows, (np.asarray(loss),)

    def _solved(
        self, part: View, start: int, stop: int, prices: np.ndarray, held: Attraction | None
    ) -> Encoded:
        X = part.double(start, stop)
        if not isinstance(part, IncompleteView):
            return self._solved_rows(X, prices, held)
        found, missing = self._solved_rows(X, prices, held), ~part.observed(start, stop)
        for _ in range(_EXPECTATIONS if missing.any() else 0):
            # What a fit says of missing cells makes their residual 0; so they drop out.
            X[missing] = self.expected(found)[missing]
            before, found = found.V, self._solved_rows(X, prices, held, found.V)
            if np.abs(found.V - before).max() <= _STILL * found.V.max():
                break
        return found

    def _solved_rows(
        self,
        X: Any,
        prices: np.ndarray,
        held: Attraction | None,
        begin: np.ndarray | None = None,
    ) -> Encoded:
        n_weightings, n_components, _ = self.grams.shape
        crosses = np.asarray(X @ self.basis, np.float64).reshape(-1, n_weightings, n_components)
        squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
        rows = Projected(crosses, np.asarray(squares @ self.target.T), prices)
        shared, rank = self.together, len(self.basis)
        given = rows, self.grams, self.start
        V, P = solve_rows(*given, shared=shared, held=held, begin=begin, rank=rank)
        return Encoded(V, P, float(np.sum(P**2 * _residuals(V, rows, self.grams))))

    def expected(self, found: Encoded) -> np.ndarray:
        """What codes say of all cells."""
        fit = found.V @ self.model.U.T.astype(np.float64)
        if self.model.on_residual:
            return fit
        shares, weights = found.P**2, self.model.weights
        above, below = shares @ weights, shares @ weights**2
        return fit * np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def exact_codes(
    view: View, factors: Factors, weighting: Weighting, shared: bool, runner: Runner
) -> float:
    """Solve every row on its own, as ``transform`` does; returns the data term."""
    own = factors.P[0] if shared else None
    model = RowModel(factors.U, factors.weights, weighting.on_residual, own)
    dtype = factors.V.dtype
    factors.V, P, loss = encode(view, model, runner, prices=weighting.prices, dtype=dtype)
    if not shared:
        factors.P = P
    return loss
