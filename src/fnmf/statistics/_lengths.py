"""Lengths of rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fnmf.data import View
from fnmf.execution import RowArray, Rows, Runner, parts_of
from fnmf.statistics._passes import rounded, row_squares


def unit_scales(view: View, runner: Runner, *, rough: bool = False) -> tuple[RowArray, float]:
    """Factors that make rows 1 long, empty ones left as they are, and the share of the others.

    With ``rough`` factors are rounded to what does not depend on the order of sums, and single
    precision holds.
    """
    scales = runner.empty(view, (), view.dtype if rough else np.float64)
    (filled,) = runner.sweep(_LengthWork(rough), parts_of(view), (scales,))
    return scales, float(filled) / view.total


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
        counted = np.count_nonzero(filled) if part.weights is None else part.weights @ filled
        return rows, (np.asarray(counted),)
