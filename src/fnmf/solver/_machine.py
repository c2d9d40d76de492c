"""Data, the layout of the kernels, and who works through the blocks, put together."""

from functools import cached_property
from typing import Any

import numpy as np

from fnmf.backends.anchors import gather, spread
from fnmf.backends.layout import layout_of
from fnmf.backends.rows import graph_product
from fnmf.data import View
from fnmf.runners import Runner, Statistics, Work, add_up, concatenated
from fnmf.solver._moments import row_squares
from fnmf.terms import Edges

# A product with a smaller graph takes no longer than handing it to other threads.
_LARGE_GRAPH = 1 << 16


class Machine:
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
        self.blocks = view.blocks()

    def operands(self, start: int, stop: int) -> tuple[Any, ...]:
        """A block of X as the kernels want it."""
        return self.layout.operands(self.view, start, stop)

    def sweep(self, work: Work[Statistics], *rows: np.ndarray) -> Statistics:
        """``work`` on every block, with the rows that belong to it; returns the sums."""
        return self.runner.sweep(work, self, rows)

    @cached_property
    def column_energy(self) -> np.ndarray:
        """Σ_i x_ik²."""
        return sum(self.runner.over(_column_energy, self.view), np.zeros(1))

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

        blocks = self.blocks if len(edges.neighbours) >= _LARGE_GRAPH else [(0, len(V))]
        (roughness,) = add_up(self.runner.each(task, blocks))
        return np.maximum(roughness, 0.0)

    def anchor_sums(
        self, indices: np.ndarray, shares: np.ndarray, mass: np.ndarray, V: np.ndarray
    ) -> np.ndarray:
        """Λ⁻¹ Zᵀ V, the codes of the anchors."""

        def task(start: int, stop: int) -> tuple[np.ndarray]:
            return (gather(start, stop, V, indices, shares, len(mass)),)

        (sums,) = add_up(self.runner.each(task, self.blocks))
        return sums / mass[:, None]

    def anchor_pull(
        self,
        indices: np.ndarray,
        shares: np.ndarray,
        codes: np.ndarray,
        V: np.ndarray,
        out: np.ndarray,
    ) -> np.ndarray:
        """Fill ``out`` with Z times the codes of the anchors; returns v_aᵀ L v_a."""
        codes = codes.astype(V.dtype)

        def task(start: int, stop: int) -> tuple[np.ndarray]:
            return (spread(start, stop, V, indices, shares, codes, out),)

        (roughness,) = add_up(self.runner.each(task, self.blocks))
        return np.maximum(roughness, 0.0)


def _column_energy(part: View) -> np.ndarray:
    return part.column_energy(0, part.shape[0])
