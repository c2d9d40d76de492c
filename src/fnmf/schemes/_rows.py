"""Rows on their way into a scheme and out of it, for fits and for new rows alike."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fnmf.data import Scaling, View
from fnmf.runners import RowArray, Rows, Runner, parts_of
from fnmf.solver import Factors, RowModel, encode, row_squares
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
        self, view: View, rows: RowArray, columns: np.ndarray | None = None, *, drop: bool = False
    ) -> View:
        """Capped rows in common units, times further factors of rows and columns."""
        factors = self.units if columns is None else columns * self.units
        return view.scaled(Scaling(rows, self.caps, factors), drop)


def unit_scales(view: View, runner: Runner, *, rough: bool = False) -> tuple[RowArray, float]:
    """Factors that make rows 1 long, empty ones left as they are, and the share of the others.

    With ``rough`` factors are rounded to what does not depend on the order of sums, and single
    precision holds.
    """
    scales = runner.empty(view, (), view.dtype if rough else np.float64)
    (filled,) = runner.sweep(_LengthWork(rough), parts_of(view), (scales,))
    return scales, float(filled) / view.shape[0]


@dataclass(frozen=True)
class _LengthWork:
    """One over the lengths of rows, which are filled; how many are not empty."""

    fills: ClassVar = (0,)
    rough: bool

    def __call__(self, block: tuple[View], rows: Rows) -> tuple[Rows, tuple[np.ndarray]]:
        (part,), (scales,) = block, rows
        lengths = np.sqrt(row_squares(part))
        filled = lengths > 0
        found = np.divide(1, lengths, out=np.ones(len(lengths)), where=filled)
        scales[:] = rounded(found) if self.rough else found
        return rows, (np.asarray(np.count_nonzero(filled)),)


def rounded(values: np.ndarray) -> np.ndarray:
    """To the digits that do not depend on how the data are stored, and so on the order of sums.

    Where rows repeat themselves, as documents do, the last digit decides which of several
    neighbours at one distance is taken.
    """
    rough = np.frexp(values)
    return np.ldexp(np.round(rough[0] * 2.0**24) / 2.0**24, rough[1])


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
