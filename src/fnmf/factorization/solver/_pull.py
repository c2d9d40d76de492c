"""Sweeps over the rows of a view, and how ties pull codes towards each other in them.

The pull of most ties is kept for all samples. That of anchors follows from the codes of the
anchors: each block makes its own, and gathers what the next codes of the anchors are made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from fnmf.affinity import Affinity, AnchorAffinity
from fnmf.data import ExpectedView, IncompleteView, View
from fnmf.execution import (
    BlockSource,
    RowArray,
    Rows,
    Runner,
    Statistics,
    Work,
    add_up,
    concatenated,
)
from fnmf.factorization.solver._anchor_pull import AnchorPull, FromAnchors, TiedSums, tied_sums
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.terms import AnchorTies, Edges, NoTies, Ties, graph_ties
from fnmf.kernels.layout import Layout
from fnmf.kernels.rows import graph_product
from fnmf.kernels.sparse_layout import SparseLayout
from fnmf.statistics import column_squares, row_squares

# A product with a smaller graph takes no longer than handing it to other threads.
_LARGE_GRAPH = 1 << 16


@dataclass(frozen=True)
class AsKept:
    """What a block does about ties if pull and degrees lie ready; ``tied`` are its rows of them."""

    def pulled(self, *tied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """S V and the degrees."""
        return tied[0], tied[1]

    def sums(self, V: np.ndarray, *tied: np.ndarray) -> TiedSums:
        """What the ties need of new codes."""
        return TiedSums(np.empty((0, 0)), np.empty(0))


OnBlock = AsKept | FromAnchors


class KeptPull:
    """S V of all samples, between sweeps."""

    on_block = AsKept()

    def __init__(self, ties: Any, context: Any) -> None:
        self._ties, self._context = ties, context
        self._pull = np.empty((0, 0), context.view.dtype)

    @property
    def rows(self) -> Rows:
        """What a block needs."""
        return self._pull, self._ties.degree

    def refresh(self, V: RowArray, sums: TiedSums | None) -> np.ndarray:
        """Follow new codes, with what a sweep has gathered; returns β v_aᵀ L v_a by component."""
        if self._ties.strength > 0 and self._pull.shape != V.shape:
            self._pull = np.empty_like(V)
        return self._ties.strength * self._ties.pull(V, self._pull, self._context)

    def rescale(self, factors: np.ndarray) -> None:
        """Columns of V have been multiplied."""
        if len(self._pull):
            self._pull *= factors

    def kept(self) -> np.ndarray:
        """All that the next sweep depends on."""
        return self._pull

    def restore(self, kept: np.ndarray, V: RowArray) -> bool:
        """Go on with it; false if it does not fit."""
        shape = V.shape if self._ties.strength > 0 else (0, 0)
        if kept.shape != shape or kept.dtype != V.dtype:
            return False
        self._pull = kept
        return True


def pull_of(ties: Ties, context: Any) -> KeptPull | AnchorPull:
    """How these ties pull."""
    return AnchorPull(ties, context) if isinstance(ties, AnchorTies) else KeptPull(ties, context)


class ExecutionContext:
    """Sweeps over the rows of a view.

    Parameters
    ----------
    view : View
        The data.
    runner : Runner
        Who works through the blocks.
    """

    def __init__(self, view: View, runner: Runner) -> None:
        self.view, self.runner = view, runner
        layout = SparseLayout if view.sparse else Layout
        self.layout = layout(view.shape[1], view.dtype)
        self._source = BlockSource(view, self.layout.operands)

    def expect(self, factors: Factors, on_residual: bool) -> None:
        """From now on missing cells are what these factors say of them, whenever they are read.

        The residual there is 0: missing cells have no part in the data term.
        """
        if not isinstance(self.view, IncompleteView):
            return
        base = self.view.base if isinstance(self.view, ExpectedView) else self.view
        self.view = ExpectedView(base, factors, on_residual)
        self._source = BlockSource(self.view, self.layout.operands)
        # Sums of squares follow the cells.
        for name in ("column_energy", "row_energy"):
            vars(self).pop(name, None)

    def sweep(self, work: Work[Statistics], *rows: RowArray) -> Statistics:
        """``work`` on every block, with the rows that belong to it; returns the sums."""
        return self.runner.sweep(work, self._source, rows)

    @cached_property
    def column_energy(self) -> np.ndarray:
        """Σ_i x_ik²."""
        return sum(self.runner.over(column_squares, self.view), np.zeros(1))

    @cached_property
    def row_energy(self) -> np.ndarray:
        """‖x_i‖²."""
        return concatenated(self.runner.over(row_squares, self.view))

    def neighbour_sums(
        self, edges: Edges, degree: np.ndarray, V: np.ndarray, out: np.ndarray
    ) -> np.ndarray:
        """Fill ``out`` with S V; returns v_aᵀ L v_a for each component."""

        def task(start: int, stop: int) -> tuple[np.ndarray]:
            return (graph_product(start, stop, V, edges, degree, out),)

        blocks = self.view.blocks() if len(edges.neighbours) >= _LARGE_GRAPH else [(0, len(V))]
        (roughness,) = add_up(self.runner.each(task, blocks))
        return np.maximum(roughness, 0.0)

    def anchor_sums(self, ties: AnchorTies, V: RowArray) -> TiedSums:
        """Zᵀ V, of which the codes of the anchors are made, and Σ_i v_i²."""
        sums = partial(tied_sums, len(ties.mass))
        return self.runner.sum_rows(sums, BlockSource(self.view), V, ties.indices, ties.shares)


def ties_along(affinity: Affinity, strength: float, dtype: np.dtype) -> Ties:
    """Ties of all samples along an affinity."""
    if not isinstance(affinity, AnchorAffinity):
        return graph_ties(affinity.graph, strength, dtype, affinity.root)
    if strength == 0:
        return NoTies(dtype)
    indices, shares = affinity.nearest
    if affinity.root is not None:
        shares = _times(shares, affinity.root)
    return AnchorTies(indices, shares, affinity.mass, strength)


def ties_of_rows(
    affinity: AnchorAffinity, rows: np.ndarray, strength: float, dtype: np.dtype
) -> Ties:
    """Ties of some of the samples to their anchors."""
    if strength == 0:
        return NoTies(dtype)
    indices, shares = (array[rows] for array in affinity.nearest)
    held = shares
    if affinity.root is not None:
        root = affinity.root[rows]
        held, shares = _times(shares, root**2), _times(shares, root)
    mass = np.bincount(indices.ravel(), held.ravel(), len(affinity.mass))
    return AnchorTies(indices, shares, mass, strength)


def anchor_codes(affinity: Affinity, V: RowArray, context: ExecutionContext) -> np.ndarray | None:
    """Codes of the anchors, if there are any."""
    if not isinstance(affinity, AnchorAffinity):
        return None
    indices, shares = affinity.nearest
    if affinity.root is not None:
        shares = _times(shares, affinity.root**2)
    ties = AnchorTies(indices, shares, affinity.mass, 1.0)
    return ties.codes(context.anchor_sums(ties, V).held).astype(V.dtype)


def _times(shares: np.ndarray, factors: np.ndarray) -> np.ndarray:
    return shares * factors[:, None].astype(shares.dtype)
