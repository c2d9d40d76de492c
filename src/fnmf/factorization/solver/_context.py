"""Data, the layout of the kernels, and who works through the blocks, put together."""

from functools import cached_property, partial

import numpy as np

from fnmf.data import ExpectedView, IncompleteView, View
from fnmf.execution import BlockSource, RowArray, Runner, Statistics, Work, add_up, concatenated
from fnmf.factorization.solver._pull import TiedSums, tied_sums
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.terms import AnchorTies, Edges
from fnmf.kernels.layout import layout_of
from fnmf.kernels.rows import graph_product
from fnmf.statistics import column_squares, row_squares

# A product with a smaller graph takes no longer than handing it to other threads.
_LARGE_GRAPH = 1 << 16


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
        self.layout = layout_of(view)
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
            return (graph_product(start, stop, V, *edges, degree, out),)

        blocks = self.view.blocks() if len(edges.neighbours) >= _LARGE_GRAPH else [(0, len(V))]
        (roughness,) = add_up(self.runner.each(task, blocks))
        return np.maximum(roughness, 0.0)

    def anchor_sums(self, ties: AnchorTies, V: RowArray) -> TiedSums:
        """Zᵀ V, of which the codes of the anchors are made, and Σ_i v_i²."""
        sums = partial(tied_sums, len(ties.mass))
        return self.runner.sum_rows(sums, BlockSource(self.view), V, ties.indices, ties.shares)
