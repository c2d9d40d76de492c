"""A sample of the rows, in memory, with all that exploring asks of it again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import filled_within, products_of
from fnmf.data import SPARSE_BELOW, IncompleteView, View, spans
from fnmf.statistics import Moments

# Entries of dense rows up to which what follows from them is made, and kept, at once; and those of
# larger ones that are worked on at a time.
_FEW, _AT_ONCE = 1 << 23, 1 << 19


@dataclass(frozen=True)
class SampleTable:
    """Capped rows in single precision.

    Attributes
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Samples, in the units of the data.
    typical : ndarray of shape (d,)
        Typical value of each feature, 1 where it has none.
    size : float
        What all of it was divided by.
    range_units : ndarray of shape (d,) or None
        Factors that bring the features to a common range, for tables.
    observed : ndarray of bool of shape (n, d) or None
        Cells that are not missing, from which everything but distances is taken; ``None``: all.
    weights : ndarray of shape (n,) or None
        As how many samples each counts; ``None`` if all count once.
    """

    rows: Any
    typical: np.ndarray
    size: float = 1.0
    range_units: np.ndarray | None = None
    observed: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of(cls, capped: View, typical: np.ndarray, sample: np.ndarray) -> SampleTable:
        """Some rows of capped data; dense and CSR data give the same table."""
        observed = ~capped.gaps(sample) if isinstance(capped, IncompleteView) else None
        # One power of two for all keeps single precision away from its ends.
        size = float(2.0 ** np.round(np.log2(max(float(typical.max(initial=0)), 1e-300))))
        n, d = len(sample), capped.shape[1]
        rows: Any = capped.take(sample) if capped.sparse else np.empty((n, d), np.float32)
        parts = spans(n, max(_AT_ONCE // max(d, 1), 1))
        filled = rows.count_nonzero() if capped.sparse else 0
        for start, stop in () if capped.sparse else parts:
            part = capped.take(sample[start:stop])
            filled += np.count_nonzero(part)
            rows[start:stop] = part / size
        if observed is None and filled < SPARSE_BELOW * n * d:
            rows = sp.csr_array(rows)
            rows.data /= size if capped.sparse else 1
        elif capped.sparse:
            dense = [(rows[a:b].toarray() / size).astype(np.float32) for a, b in parts]
            rows = np.concatenate(dense)
        typical = np.where(typical > 0, typical / size, 1)
        weights = None if capped.weights is None else capped.weights[sample]
        rows = rows.astype(np.float32, copy=False)
        return cls(rows, typical, size, observed=observed, weights=weights)

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def sparse(self) -> bool:
        return not isinstance(self.rows, np.ndarray)

    def columns(self, chosen: np.ndarray) -> SampleTable:
        """The same samples with some features only."""
        ranges = None if self.range_units is None else self.range_units[chosen]
        observed = None if self.observed is None else self.observed[:, chosen]
        return replace(
            self,
            rows=self.rows[:, chosen],
            typical=self.typical[chosen],
            range_units=ranges,
            observed=observed,
        )

    def complete(self) -> SampleTable:
        """The same with filled cells as good as others."""
        return self if self.observed is None else replace(self, observed=None)

    def without(self, left_out: np.ndarray) -> SampleTable:
        """The same with some features constant, so that nothing rests on them."""
        if not left_out.any():
            return self
        if not self.sparse:
            return replace(self, rows=np.where(left_out, np.float32(0), self.rows))
        rows = sp.csr_array(self.rows.multiply(~left_out))
        rows.eliminate_zeros()
        return replace(self, rows=rows)

    def filled_within(self, chosen: np.ndarray) -> SampleTable:
        """The same with missing cells of some features filled from these alone.

        Filled from all, they would know of the others what is to be found out.
        """
        if self.observed is None:
            return self
        rows = self.rows.copy()
        rows[:, chosen] = filled_within(rows[:, chosen], self.observed[:, chosen])
        return replace(self, rows=rows)

    def shuffled(self, rng: np.random.RandomState) -> SampleTable:
        """The same with the samples of every feature in an order of their own."""
        n = self.shape[0]
        if not self.sparse:
            rows, observed = np.empty_like(self.rows), self.observed
            observed = None if observed is None else np.empty_like(observed)
            for part in self.parts():
                order = rng.uniform(size=self.rows[:, part].shape).argsort(axis=0)
                rows[:, part] = np.take_along_axis(self.rows[:, part], order, axis=0)
                if self.observed is not None and observed is not None:
                    observed[:, part] = np.take_along_axis(self.observed[:, part], order, axis=0)
            return replace(self, rows=rows, observed=observed)
        columns = sp.csc_array(self.rows)
        places = [rng.permutation(n)[:count] for count in np.diff(columns.indptr)]
        columns.indices = np.concatenate([*places, np.empty(0, np.int64)]).astype(np.int32)
        return replace(self, rows=sp.csr_array(columns))

    def given(self, features: np.ndarray) -> np.ndarray:
        """Dense rows in some features, in double precision, NaN where a cell is missing."""
        rows = self.rows[:, features].astype(np.float64)
        return rows if self.observed is None else np.where(self.observed[:, features], rows, np.nan)

    def observed_columns(self) -> Iterator[np.ndarray]:
        """Observed values of each feature of dense rows, in double precision."""
        for k, values in enumerate(self.rows.T.astype(np.float64)):
            yield values if self.observed is None else values[self.observed[:, k]]

    def units(self, columns: str) -> np.ndarray:
        """Factors that bring features to units of their typical value or their spread, (d,)."""
        if columns == "typical":
            return 1 / self.typical
        if columns == "range":
            assert self.range_units is not None
            return self.range_units
        if columns == "spread":
            return 1 / np.where(self.scatter > 0, self.spread, 1)
        return np.ones(self.shape[1])

    def scaled(self, factors: np.ndarray, unit: bool) -> Any:
        """Rows times ``factors`` of the features, unused ones left out; ``unit``: of length 1.

        Dense rows that keep their lengths are centred, which changes no distance and saves digits.
        """
        used = np.flatnonzero(factors)
        factors = factors[used].astype(np.float32)
        if self.sparse:
            rows = self.rows if len(used) == len(self.typical) else self.rows[:, used]
            values = rows.data * factors[rows.indices]
            if unit:
                owners = np.repeat(np.arange(self.shape[0]), np.diff(rows.indptr))
                squares = np.bincount(owners, values * values, self.shape[0])
                values *= _inverse(np.sqrt(squares))[owners]
            return sp.csr_array((values, rows.indices, rows.indptr), rows.shape)
        rows = self.rows[:, used] if len(used) < len(self.typical) else self.rows
        rows = rows * factors
        if unit:
            rows *= _inverse(np.sqrt(np.einsum("ik,ik->i", rows, rows)))[:, None]
        else:
            rows -= rows.mean(axis=0)
        return rows

    def products(self, factors: np.ndarray, unit: bool) -> np.ndarray:
        """Products of the scaled rows with each other, (n, n)."""
        used = np.flatnonzero(factors)
        if self.sparse or len(self.parts()) == 1:
            return products_of(self.scaled(factors, unit))
        total = np.zeros((self.shape[0], self.shape[0]), np.float32)
        for start, stop in spans(len(used), max(_AT_ONCE // self.shape[0], 1)):
            rows = self.rows[:, used[start:stop]] * factors[used[start:stop]].astype(np.float32)
            if not unit:
                rows -= rows.mean(axis=0)
            total += products_of(rows)
        if unit:
            lengths = _inverse(np.sqrt(np.diag(total)))
            total *= lengths
            total *= lengths[:, None]
        return total

    def moments(self, labels: np.ndarray, n_clusters: int) -> Moments:
        """What clusters look like in every feature."""
        members = np.zeros((n_clusters, len(labels)), np.float32)
        members[labels, np.arange(len(labels))] = 1 if self.weights is None else self.weights
        counts = members.sum(axis=1, dtype=np.float64)
        sums = self._over_parts(lambda part: _product(members, self._about_mean(part)))
        squares = self._over_parts(lambda part: _product(members, self._squares(part)))
        if self.sparse:
            squares += counts[:, None] * self.mean**2 - 2 * self.mean * sums
            sums -= counts[:, None] * self.mean
        if self.observed is not None:
            cells = _product(members, self.observed.astype(np.float32))
            return Moments.from_sums(counts, self.mean, sums, squares, self._fourth, cells)
        return Moments.from_sums(counts, self.mean, sums, squares, self._fourth)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Length of each row."""
        if self.sparse:
            squares = self.rows.multiply(self.rows).sum(axis=1)
        else:
            parts = (self.rows[a:b] for a, b in spans(*self._rows_at_once))
            squares = np.concatenate([(part * part).sum(axis=1) for part in parts])
        return np.sqrt(np.asarray(squares, np.float64)).ravel()

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of each feature."""
        if self.observed is not None:
            known = np.where(self.observed, self.rows.astype(np.float64), 0)
            return self._summed(known) / self._cells
        return self._summed(self.rows) / self.total

    @cached_property
    def scatter(self) -> np.ndarray:
        """Squares about the mean of each feature."""
        squares = self._over_parts(lambda part: self._summed(self._squares(part)))
        return np.maximum(squares - self.total * self.mean**2, 0) if self.sparse else squares

    @property
    def total(self) -> float:
        """How many samples there are, as they count."""
        return self.shape[0] if self.weights is None else float(self.weights.sum())

    def _summed(self, values: Any) -> np.ndarray:
        """Sums over the samples, each as it counts."""
        if self.weights is not None:
            return np.asarray(self.weights @ values, np.float64)
        return np.asarray(values.sum(axis=0), np.float64).ravel()

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of each feature."""
        return np.sqrt(self.scatter / (self.total if self.observed is None else self._cells))

    @cached_property
    def _cells(self) -> np.ndarray:
        """Observed cells of each feature, at least 1."""
        assert self.observed is not None
        cells = self._summed(self.observed)
        return np.where(cells > 0, cells, 1)

    def parts(self) -> list[slice]:
        """Columns that are worked on together: all of sparse rows, and of few dense ones."""
        n, d = self.shape
        if self.sparse or n * d <= _FEW:
            return [slice(0, d)]
        return [slice(start, stop) for start, stop in spans(d, max(_AT_ONCE // n, 1))]

    @property
    def _rows_at_once(self) -> tuple[int, int]:
        n, d = self.shape
        return n, max(_AT_ONCE // max(d, 1), 1)

    def _over_parts(self, work: Callable[[slice], np.ndarray]) -> np.ndarray:
        """What ``work`` makes of all columns."""
        found = [work(part) for part in self.parts()]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)

    def _about_mean(self, part: slice) -> Any:
        """Dense rows about their mean; sparse ones as they are, mended in ``moments``."""
        return self._centred if len(self.parts()) == 1 else self._about(part)

    def _squares(self, part: slice) -> Any:
        if len(self.parts()) == 1:
            return self._all_squares
        rows = self._about(part)
        return rows * rows

    def _about(self, part: slice) -> Any:
        if self.sparse:
            return self.rows
        about = self.rows[:, part] - self.mean[part].astype(np.float32)
        # Missing cells then have no part in any sum.
        if self.observed is None:
            return about
        return np.where(self.observed[:, part], about, np.float32(0))

    @cached_property
    def _centred(self) -> Any:
        return self._about(slice(None))

    @cached_property
    def _all_squares(self) -> Any:
        rows = self._centred
        return sp.csr_array(rows.multiply(rows)) if self.sparse else rows * rows

    @cached_property
    def _fourth(self) -> np.ndarray:
        """Fourth powers about the mean, summed over the samples."""
        if self.weights is not None:
            return self._weighted_fourth(self.weights)
        if not self.sparse:
            return self._over_parts(lambda part: _fourth_powers(self._squares(part)))
        values, columns = self.rows.data.astype(np.float64), self.rows.indices
        n, d = self.shape
        gaps = np.bincount(columns, (values - self.mean[columns]) ** 4, d)
        return gaps + (n - np.bincount(columns, minlength=d)) * self.mean**4

    def _weighted_fourth(self, weights: np.ndarray) -> np.ndarray:
        if not self.sparse:
            return self._over_parts(
                lambda part: weights @ self._squares(part).astype(np.float64) ** 2
            )
        columns, d = self.rows.indices, self.shape[1]
        own = np.repeat(weights, np.diff(self.rows.indptr))
        gaps = (self.rows.data - self.mean[columns]) ** 4
        present = np.bincount(columns, own, d)
        return np.bincount(columns, own * gaps, d) + (self.total - present) * self.mean**4


def _fourth_powers(squares: np.ndarray) -> np.ndarray:
    return np.einsum("ik,ik->k", squares, squares, dtype=np.float64)


def _inverse(lengths: np.ndarray) -> np.ndarray:
    lengths = lengths.astype(np.float32)
    return np.divide(1, lengths, out=np.ones_like(lengths), where=lengths > 0)


def _product(members: np.ndarray, rows: Any) -> np.ndarray:
    """Sums of rows by cluster."""
    if isinstance(rows, np.ndarray):
        return np.asarray(members @ rows, np.float64)
    return np.asarray((rows.T @ members.T).T, np.float64)
