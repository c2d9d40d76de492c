"""Dense rows with missing cells.

A missing cell reads as the mean of what its row's nearest rows have there. Sums by feature leave it
out (``observed``), and the data term does too: the solver replaces it by its own fit
(:class:`ExpectedView`). Nothing as large as X is made; cells are filled block by block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit
from fnmf.data._views import DenseView, Scaling


@dataclass(frozen=True)
class Fill:
    """Where the values of missing cells come from.

    Attributes
    ----------
    references : ndarray of shape (r, d)
        Rows that have values, missing cells among them.
    nearest : ndarray of int of shape (n, k)
        Which of them are nearest to each row; -1 where no other shares a feature with it.
    means : ndarray of shape (d,)
        Mean of the observed cells of each feature.
    prior : float
        So many cells at the mean count beside those of the nearest rows.
    columns : ndarray of int of shape (d',)
        Features of the references that the rows have.
    """

    references: np.ndarray
    nearest: np.ndarray
    means: np.ndarray
    prior: float
    columns: np.ndarray

    def of_rows(self, rows: np.ndarray | slice) -> Fill:
        """For some of the rows."""
        return replace(self, nearest=self.nearest[rows])

    def of_columns(self, columns: np.ndarray) -> Fill:
        """For some of the features."""
        return replace(self, columns=self.columns[columns])

    def apply(self, values: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
        """Values of these rows with their missing cells filled, in place."""
        nearest = np.ascontiguousarray(self.nearest[rows])
        _fill(values, nearest, self.references, self.columns, self.means, self.prior)
        return values


@njit(nogil=True, cache=True)
def _fill(values, nearest, references, columns, means, prior):  # type: ignore[no-untyped-def]
    n, d = values.shape
    for i in range(n):
        for k in range(d):
            if not np.isnan(values[i, k]):
                continue
            column = columns[k]
            total, count = prior * means[column], prior
            for near in nearest[i]:
                value = references[near, column]
                if near >= 0 and not np.isnan(value):
                    total += value
                    count += 1.0
            values[i, k] = total / count


@njit(nogil=True, cache=True)
def _put_observed(rows, values, factors, caps, columns):  # type: ignore[no-untyped-def]
    """Replace cells by the rescaled values, where these are not missing."""
    n, d = rows.shape
    for i in range(n):
        for k in range(d):
            value = values[i, k]
            if not np.isnan(value):
                rows[i, k] = min(value, caps[k]) * columns[k] * factors[i]


class IncompleteView(DenseView):
    """Dense rows whose missing cells, NaN in X, are filled on the way."""

    incomplete = True

    def __init__(
        self,
        X: np.ndarray,
        fill: Fill,
        scaling: Scaling | None = None,
        columns: np.ndarray | None = None,
    ) -> None:
        super().__init__(X, scaling, columns)
        self.fill = fill
        self._own_fill = fill if columns is None else fill.of_columns(columns)
        # Compiled loops must not read X itself.
        self.in_place = None

    def scaled(self, scaling: Scaling, drop: bool = False) -> IncompleteView:
        if not drop or scaling.columns.all():
            return IncompleteView(self.X, self.fill, scaling).weighing(self.weights)
        columns = np.flatnonzero(scaling.columns)
        view = IncompleteView(self.X, self.fill, scaling.of_columns(columns), columns)
        return view.weighing(self.weights)

    def filled_by(self, fill: Fill) -> IncompleteView:
        """The same rows as they are, filled from elsewhere."""
        return IncompleteView(self.X, fill).weighing(self.weights)

    def subset(self, rows: np.ndarray) -> IncompleteView:
        scaling = self._exact_scaling
        own = None if scaling is None else scaling.of_rows(rows)
        view = IncompleteView(self._chosen(rows), self._own_fill.of_rows(rows), own)
        view.kept = self.kept
        return view.weighing(self.weights, rows)

    def part(self, start: int, stop: int) -> IncompleteView:
        scaling, own = self._exact_scaling, slice(start, stop)
        of_rows = None if scaling is None else scaling.of_rows(own)
        view = IncompleteView(self.X[own], self.fill.of_rows(own), of_rows, self._columns)
        return view.weighing(self.weights, own)

    def observed(self, start: int, stop: int) -> np.ndarray:
        """Which cells of these rows are not missing."""
        return ~np.isnan(super().stored(start, stop)[0])

    def has_values(self) -> np.ndarray:
        """Which rows have any value."""
        found = [self.observed(*span).any(axis=1) for span in self.few()]
        return np.concatenate(found) if found else np.empty(0, bool)

    def stored(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        rows = np.array(super().stored(start, stop)[0])
        rows = self._own_fill.apply(rows, slice(start, stop))
        rows.flags.writeable = False
        return (rows,)

    def with_gaps(self, start: int, stop: int) -> np.ndarray:
        """These rows, rescaled, their missing cells NaN."""
        (rows,) = super().stored(start, stop)
        if self.scaling is None:
            return np.array(rows)
        return self.scaling.apply(rows, slice(None), self.scaling.rows[start:stop, None])

    def exact(self, start: int, stop: int) -> np.ndarray:
        part = self.X[start:stop] if self._columns is None else self.X[start:stop, self._columns]
        values = np.array(part, dtype=np.float64, order="C")
        return self._rescaled(self._own_fill.apply(values, slice(start, stop)), slice(start, stop))

    def take(self, rows: np.ndarray) -> np.ndarray:
        chosen = np.array(self._chosen(rows), dtype=np.float64, order="C")
        return self._rescaled(self._own_fill.apply(chosen, rows), rows)

    def gaps(self, rows: np.ndarray) -> np.ndarray:
        """Which cells of any rows are missing."""
        return np.isnan(self._chosen(rows))

    def mean(self) -> float:
        sums = [np.nansum(self.X[a:b], dtype=np.float64) for a, b in self.few()]
        cells = sum(int(self.observed(a, b).sum()) for a, b in self.few())
        return float(sum(sums)) / max(cells, 1)


class ExpectedView(IncompleteView):
    """Prepared rows whose missing cells are what a fit says of them, as it is now.

    With the residual 0 there, these cells have no part in the data term.

    Parameters
    ----------
    base : IncompleteView
        The prepared rows.
    factors : object with U, V, P and weights
        The fit; read whenever a block is.
    on_residual : bool
        Whether weights act on the residual, or on the data.
    """

    def __init__(self, base: IncompleteView, factors: Any, on_residual: bool) -> None:
        super().__init__(base.X, base.fill)
        self.base, self.factors, self.on_residual = base, factors, on_residual
        self._columns, self.kept, self.shape = base._columns, base.kept, base.shape
        d = base.shape[1]
        as_they_are = Scaling(base.constant(1.0), np.full(d, np.inf), np.ones(d))
        self._prepared = base.scaling or as_they_are.astype(base.dtype)

    def stored(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        rows = self._expected(slice(start, stop)).astype(self.dtype, copy=False)
        (values,), how = DenseView.stored(self.base, start, stop), self._prepared
        _put_observed(rows, values, how.rows[start:stop], how.caps, how.columns)
        rows.flags.writeable = False
        return (rows,)

    def part(self, start: int, stop: int) -> Any:
        """These rows as they are now."""
        return DenseView(self.stored(start, stop)[0])

    def _expected(self, rows: slice) -> np.ndarray:
        factors = self.factors
        fit = factors.V[rows] @ factors.U.T
        if self.on_residual:
            return fit
        # The value of x that is best for Σ_j p_j² (θ_j x − fit)².
        P, weights = factors.P, factors.weights
        shares = np.square(P if len(P) == 1 else P[rows], dtype=np.float64)
        above, below = shares @ weights, shares @ weights**2
        return fit * np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def dense_if_missing(X: Any) -> Any:
    """Sparse data with stored NaN as dense ones; all others as they are."""
    return X.toarray() if isinstance(X, sp.csr_array) and np.isnan(X.data).any() else X
