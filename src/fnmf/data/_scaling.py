"""Rows and columns rescaled on the way; the compiled twin of ``apply`` is in the kernels."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class Scaling:
    """z_ik = rows_i · min(x_ik, caps_k) · columns_k.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Factors of the samples.
    caps : ndarray of shape (d,)
        Largest values let through.
    columns : ndarray of shape (d,)
        Factors of the features; 0 leaves a feature out.
    """

    rows: np.ndarray
    caps: np.ndarray
    columns: np.ndarray

    def astype(self, dtype: Any) -> Self:
        """The same in another number type."""
        rows, others = self.rows, (np.asarray(a, dtype) for a in (self.caps, self.columns))
        if len(rows) and rows.strides == (0,):
            # One number for all of them stays one number.
            return type(self)(np.broadcast_to(rows[0].astype(dtype), rows.shape), *others)
        return type(self)(np.asarray(rows, dtype), *others)

    def of_columns(self, columns: np.ndarray) -> Self:
        """For a matrix that has these columns only."""
        return type(self)(self.rows, self.caps[columns], self.columns[columns])

    def of_rows(self, rows: np.ndarray | slice) -> Self:
        """For a matrix that has these rows only."""
        return type(self)(self.rows[rows], self.caps, self.columns)

    def apply(
        self, values: np.ndarray, features: Any, factors: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """z of some values, given their features and the factors of their rows.

        Dense rows have all features, ``slice(None)``; ``out`` may be the values themselves.
        """
        out = np.minimum(values, self.caps[features], out=out)
        out *= self.columns[features]
        out *= factors
        return out
