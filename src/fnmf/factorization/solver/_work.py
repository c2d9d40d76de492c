"""The work of each sweep on one block: values that all blocks share, and a call.

A call takes a block and the rows that belong to it, fills the rows of V and P, and returns
these rows with small sums. It changes nothing else.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fnmf.execution import Rows
from fnmf.factorization.solver._pull import OnBlock
from fnmf.kernels.layout import Layout
from fnmf.kernels.rows import KEEP, SQUARE_ROOT, descend_rows, moves

Block = tuple[Any, ...]


class CodesSums(NamedTuple):
    """(X∘P²Θ)ᵀV and the Gram matrices of the codes, as packed; moves; and what the ties need."""

    targets: np.ndarray
    grams: np.ndarray
    moves: np.ndarray
    held: np.ndarray
    squares: np.ndarray


class SampleSums(NamedTuple):
    """Moments for Θ, Gram matrices, Xᵀdiag(p_j²)V where asked for, as packed; Σ p² times prices."""

    moments: np.ndarray
    grams: np.ndarray
    crosses: np.ndarray
    priced: np.ndarray


class SharedSums(NamedTuple):
    """Xᵀ V as packed, Vᵀ V, the loss of the robust objective; moves; what the ties need.

    With that loss each sample counts with 1/‖residual‖ (the majoriser of the ℓ2,1 loss).
    """

    cross: np.ndarray
    gram: np.ndarray
    loss: np.ndarray
    moves: np.ndarray
    held: np.ndarray
    squares: np.ndarray


@dataclass(frozen=True)
class CodesWork:
    """Multiplicative step of V; rows are V, P and those of the ties."""

    fills: ClassVar = (0,)
    layout: Layout
    factors: tuple[np.ndarray, ...]
    hessians: np.ndarray
    ties: OnBlock
    strength: np.floating
    rule: int
    follows: bool

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, CodesSums]:
        V, P, *tied = rows
        return rows, self.step(block, V, P, None, *tied)[0]

    def step(
        self,
        block: Block,
        V: np.ndarray,
        P: np.ndarray,
        prices: np.ndarray | None,
        *tied: np.ndarray,
    ) -> tuple[CodesSums, np.ndarray]:
        """The sums, and with prices, which bring P up to date first, those of X∘X."""
        before = V.copy() if self.follows else None
        own = V, P, *self.ties.pulled(*tied)
        tail = self.strength, self.hessians, prices, self.rule, self.layout.tiny
        targets, grams, energy = self.layout.kernels.codes_block(*block, *self.factors, *own, *tail)
        sums = CodesSums(targets, grams, _moves(V, before), *self.ties.sums(V, *tied))
        return sums, energy


@dataclass(frozen=True)
class AssignWork:
    """P of every sample; rows are V, P and the prices."""

    fills: ClassVar = (1,)
    layout: Layout
    factors: tuple[np.ndarray, ...]
    hessians: np.ndarray
    on_residual: bool
    crosses: bool

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, SampleSums]:
        V, P, prices = rows
        own = V, P, self.hessians, prices
        tail = self.on_residual, self.crosses, self.layout.tiny
        kernels = self.layout.kernels
        moments, grams, crosses = kernels.assign_block(*block, *self.factors, *own, *tail)
        return rows, SampleSums(moments, grams, crosses, _priced(P, prices))


class GivenSums(NamedTuple):
    """P²ᵀ(X∘X) and prices of the new P; then what ``CodesSums`` has."""

    energy: np.ndarray
    priced: np.ndarray
    targets: np.ndarray
    grams: np.ndarray
    moves: np.ndarray
    held: np.ndarray
    squares: np.ndarray


@dataclass(frozen=True)
class GivenWork:
    """P of every sample, then the step of V; rows are V, P, the prices and those of the ties."""

    fills: ClassVar = (0, 1)
    codes: CodesWork

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, GivenSums]:
        _, P, prices, *_ = rows
        sums, energy = self.codes.step(block, *rows)
        return rows, GivenSums(energy, _priced(P, prices), *sums)


@dataclass(frozen=True)
class SharedWork:
    """Step of V when all samples share the assignment; rows are V, ‖x_i‖², those of the ties.

    Only the robust loss needs ‖x_i‖²; there are none for others.
    """

    fills: ClassVar = (0,)
    layout: Layout
    basis: np.ndarray
    hessian: np.ndarray
    ties: OnBlock
    strength: np.floating
    rule: int
    robust: bool
    follows: bool

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, SharedSums]:
        V, norms, *tied = rows
        before = V.copy() if self.follows else None
        kernels, products = self.layout.kernels, np.empty_like(V)
        if self.rule != KEEP or self.robust:
            kernels.project_block(*block, self.basis, products)
        if self.rule != KEEP:
            self._step(V, products, *self.ties.pulled(*tied))
        counted, loss = self._counted(V, products, norms) if self.robust else (V, 0.0)
        cross = np.zeros_like(self.basis)
        kernels.outer_block(*block, counted, cross)
        own = counted.T @ V, np.asarray(loss), _moves(V, before)
        return rows, SharedSums(cross, *own, *self.ties.sums(V, *tied))

    def _step(
        self, V: np.ndarray, products: np.ndarray, pull: np.ndarray, degree: np.ndarray
    ) -> None:
        """Multiplicative step, times (products + β S V) / (V hessian + β D V)."""
        above, below = products, V @ self.hessian
        if self.strength > 0:
            above = products + self.strength * pull
            below += (self.strength * degree)[:, None] * V
        # A row of zeros stays zero; without a floor of this size its ratio could be infinite.
        floor = np.maximum(above, 1)
        floor *= self.layout.tiny
        ratio = np.divide(above, np.maximum(below, floor, out=below), out=below)
        V *= np.sqrt(ratio, out=ratio) if self.rule == SQUARE_ROOT else ratio

    def _counted(
        self, V: np.ndarray, products: np.ndarray, norms: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Codes over the lengths of the residuals, and the sum of these lengths."""
        gaps = (V @ self.hessian - 2 * products).astype(np.float64)
        lengths = np.sqrt(np.maximum(norms + np.einsum("ia,ia->i", V, gaps), 0))
        counted = V / np.maximum(lengths, 1e-10)[:, None]
        return counted.astype(V.dtype), float(lengths.sum())


@dataclass(frozen=True)
class ProjectWork:
    """Weighted rows projected on the basis; rows are the place for it and, unless shared, P."""

    fills: ClassVar = (0,)
    layout: Layout
    factors: tuple[np.ndarray, ...]

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, tuple[()]]:
        out, *own = rows
        kernels = self.layout.kernels
        project = kernels.project_weighed_block if own else kernels.project_block
        project(*block, *self.factors, *own, out)
        return rows, ()


@dataclass(frozen=True)
class DescentWork:
    """Coordinate descent on the codes of samples, each on its own.

    Rows are V, those of the ties, and P unless shared. Whatever the ties pull towards stands still.
    """

    fills: ClassVar = (0,)
    project: ProjectWork
    hessians: np.ndarray
    ties: OnBlock
    strength: np.floating
    rounds: int
    least: float = 0.0

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        V, first, second, *own = rows
        before, cross = V.copy(), np.empty_like(V)
        self.project(block, (cross, *own))
        squares = squared_shares(own[0] if own else None, len(self.hessians), V.dtype)
        hessians = self.hessians
        if self.strength > 0:
            pull, degree = self.ties.pulled(first, second)
            cross += self.strength * pull
            # The drag of the ties is one more Hessian; mostly it is the same for all samples.
            drag, one = self.strength * degree, np.eye(V.shape[1], dtype=V.dtype)
            if not own and (drag == drag[0]).all():
                hessians = hessians + drag[0] * one
            else:
                shares = np.broadcast_to(squares, (len(V), squares.shape[1]))
                squares = np.hstack([shares, drag[:, None]])
                hessians = np.concatenate([hessians, one[None]])
        descend_rows(V, cross, squares, hessians, self.rounds)
        if self.least:
            np.maximum(V, self.least * V.max(axis=1, keepdims=True), out=V)
        return rows, (moves(V, before),)


def _priced(P: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """Σ p² times what the weightings cost."""
    return np.asarray(np.sum(P.astype(np.float64) ** 2 * prices) if len(prices) else 0.0)


def _moves(V: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """What the step of a block has done, if anybody follows it."""
    return np.zeros((3, V.shape[1])) if before is None else moves(V, before)


def squared_shares(P: np.ndarray | None, n_hessians: int, dtype: Any) -> np.ndarray:
    """What each Hessian counts in the codes of a sample; ``None`` is an assignment all share."""
    if P is None:
        return np.ones((1, 1), dtype)
    squares = P * P
    if n_hessians == 1:
        squares = np.sum(squares, axis=1, keepdims=True)
    return squares.astype(dtype, copy=False)
