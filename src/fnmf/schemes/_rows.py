"""Rows on their way into a scheme and out of it, for fits and for new rows alike."""

from dataclasses import dataclass

import numpy as np

from fnmf.data import Scaling, View
from fnmf.runners import Runner
from fnmf.solver import Factors, RowModel, encode, row_lengths
from fnmf.terms import Weighting


@dataclass(frozen=True)
class Preparation:
    """How columns are treated before anything else.

    Attributes
    ----------
    caps : ndarray of shape (d,)
        Largest values let through.
    units : ndarray of shape (d,)
        Factors that bring features to common units.
    """

    caps: np.ndarray
    units: np.ndarray

    def view(
        self, view: View, rows: np.ndarray, columns: np.ndarray | None = None, *, drop: bool = False
    ) -> View:
        """Capped rows in common units, times further factors of rows and columns."""
        factors = self.units if columns is None else columns * self.units
        return view.scaled(Scaling(rows, self.caps, factors), drop)


def unit_scales(view: View, runner: Runner) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the rows, and the factors that make them 1; empty rows stay as they are."""
    lengths = row_lengths(view, runner)
    return lengths, np.divide(1, lengths, out=np.ones(len(lengths)), where=lengths > 0)


def exact_codes(
    view: View, factors: Factors, weighting: Weighting, shared: bool, runner: Runner
) -> float:
    """Solve every row on its own, as ``transform`` does; returns the data term."""
    own = factors.P[0] if shared else None
    model = RowModel(factors.U, factors.weights, weighting.on_residual, own)
    V, P, loss = encode(view, model, runner, prices=weighting.prices)
    factors.V = V.astype(factors.V.dtype)
    if not shared:
        factors.P = P.astype(factors.P.dtype)
    return loss
