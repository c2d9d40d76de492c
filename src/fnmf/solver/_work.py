"""The work of each sweep on one block: values that all blocks share, and a call.

A call takes a block and the rows that belong to it, fills the rows of V and P, and returns
these rows with small sums. It changes nothing else.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fnmf.backends.layout import Layout
from fnmf.runners import Rows

Block = tuple[Any, ...]


class CodesSums(NamedTuple):
    """(X∘P²Θ)ᵀV, and the Gram matrices of the codes, as packed by the kernels."""

    targets: np.ndarray
    grams: np.ndarray


class SampleSums(NamedTuple):
    """Moments for Θ, Gram matrices, and Xᵀdiag(p_j²)V where asked for, as packed."""

    moments: np.ndarray
    grams: np.ndarray
    crosses: np.ndarray


class SharedSums(NamedTuple):
    """Xᵀ V, Vᵀ V and the loss of the robust objective, as packed."""

    cross: np.ndarray
    gram: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True)
class CodesWork:
    """Multiplicative step of V; rows are V, P, S V and the degrees."""

    fills: ClassVar = (0,)
    layout: Layout
    factors: tuple[np.ndarray, ...]
    hessians: np.ndarray
    strength: np.floating
    rule: int

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, CodesSums]:
        tail = self.strength, self.hessians, self.rule, self.layout.tiny
        sums = self.layout.kernels.codes_block(*block, *self.factors, *rows, *tail)
        return rows, CodesSums(*sums)


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
        sums = self.layout.kernels.assign_block(*block, *self.factors, *own, *tail)
        return rows, SampleSums(*sums)


@dataclass(frozen=True)
class SharedWork:
    """Step of V when all samples share the assignment; rows are V, S V, degrees and ‖x_i‖²."""

    fills: ClassVar = (0,)
    layout: Layout
    basis: np.ndarray
    hessian: np.ndarray
    strength: np.floating
    rule: int
    robust: bool

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, SharedSums]:
        V, pull, degree, norms = rows
        own = V, pull, degree, self.strength, self.hessian
        tail = self.rule, self.robust, norms, self.layout.tiny
        cross, gram, loss = self.layout.kernels.shared_block(*block, self.basis, *own, *tail)
        return rows, SharedSums(cross, gram, np.asarray(loss))


@dataclass(frozen=True)
class ProjectWork:
    """Weighted rows projected on the basis; rows are the place for it and, unless shared, P."""

    fills: ClassVar = (0,)
    layout: Layout
    factors: tuple[np.ndarray, ...]
    shared: np.ndarray | None

    def __call__(self, block: Block, rows: Rows) -> tuple[Rows, tuple[()]]:
        out, *own = rows
        P = own[0] if self.shared is None else self.shared
        together = self.shared is not None
        self.layout.kernels.project_block(*block, *self.factors, P, together, out)
        return rows, ()
