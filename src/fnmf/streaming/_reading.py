"""What a model reads off a batch: its rows are looked at once, and leave sums that add."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted, present
from fnmf.data import View
from fnmf.factorization.solver import Projected, solve_rows
from fnmf.kernels.rescale import ClusterSums, rescaled
from fnmf.statistics import indicator, sums_by_cluster, weighted_sums_by_cluster

# How far codes may be from where they would stand still: their errors average out in the sums.
_TOLERANCE = 0.1


class Sums(NamedTuple):
    """Sums over rows, each with what it still counts for.

    Attributes
    ----------
    counts, sums, squares, fourth : ndarray of shape (k,), (k, d), (k, d), (d,)
        Rows of each cluster; their capped values about some mean, the squares of these, and over
        all clusters their fourth powers.
    places : ndarray of shape (k, d)
        Sums of the scaled rows of each cluster.
    crosses, grams : ndarray of shape (m, d, c) and (m, c, c)
        Zᵀ diag(p_j²) V and Vᵀ diag(p_j²) V, for the basis.
    strange : ndarray of shape (1,)
        Rows that lie further from all centres than nearly all did at the last renewal.
    """

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    fourth: np.ndarray
    places: np.ndarray
    crosses: np.ndarray
    grams: np.ndarray
    strange: np.ndarray

    @property
    def centres(self) -> tuple[np.ndarray, np.ndarray]:
        """Means of the scaled rows of each cluster, and which clusters are not yet forgotten."""
        tiny = np.finfo(np.float64).tiny
        alive = self.counts > np.finfo(np.float32).eps * self.counts.sum()
        return self.places / np.maximum(self.counts, tiny)[:, None], alive


@dataclass(frozen=True)
class Reading:
    """The way from raw rows to sums.

    Attributes
    ----------
    fitted : Fitted
        The model.
    about : ndarray of shape (d,)
        Where moments are taken about.
    centres : ndarray of shape (k, d)
        Means of the scaled rows of each cluster.
    alive : ndarray of bool, shape (k,)
        Clusters that rows may join.
    limit : float
        Squared distance from which rows are strange.
    """

    fitted: Fitted
    about: np.ndarray
    centres: np.ndarray
    alive: np.ndarray
    limit: float = np.inf

    def __call__(self, part: View, *known: np.ndarray) -> Sums:
        """Sums over rows; they join the nearest centre unless their clusters are known."""
        n, (k, d), m = part.shape[0], self.centres.shape, len(self._omega)
        dtype, own = part.dtype, part.weights
        capped = self._capped(part)
        Y, scales, first, second = self._products(capped)
        gaps = self._gaps(first, second)
        nearest = gaps.argmin(axis=1)
        labels = known[0] if known else nearest
        # Rows begin with the codes of the nearest centre: they are on the way to their own.
        V, P = self._codes(first, second, self._of_centres[nearest])
        P *= P
        if own is not None:
            P *= own[:, None]
        codes = (P[:, :, None] * V[:, None, :]).reshape(n, -1)
        crosses = _double(Y.T @ (codes * scales[:, None]).astype(dtype)).reshape(d, m, -1)
        places = indicator(labels, k, dtype, scales if own is None else scales * own) @ Y
        strange = gaps.min(axis=1) > self.limit
        return Sums(
            np.bincount(labels, own, minlength=k).astype(np.float64),
            *self._sums(capped, labels, own),
            _double(places if isinstance(places, np.ndarray) else places.toarray()),
            np.ascontiguousarray(crosses.transpose(1, 0, 2)),
            np.stack([(P[:, j : j + 1] * V).T @ V for j in range(m)]),
            np.array([strange.sum() if own is None else own[strange].sum()], np.float64),
        )

    def _sums(self, capped: Any, labels: np.ndarray, weights: np.ndarray | None) -> ClusterSums:
        """Sums by cluster of rows, each as often as it counts."""
        k = len(self.centres)
        if weights is None:
            return sums_by_cluster(_rows(capped), labels, k, self.about)
        rows = capped.astype(np.float64)
        return weighted_sums_by_cluster(rows, labels, k, self.about, weights)

    def distances(self, part: View) -> np.ndarray:
        """Squared distances of rows to the nearest centre, in the weighted features."""
        _, _, first, second = self._products(self._capped(part))
        return self._gaps(first, second).min(axis=1)

    def _capped(self, part: View) -> Any:
        caps = present(self.fitted.caps).astype(part.dtype)
        return _by_feature(np.minimum, part.matrix(part.stored(0, part.shape[0])), caps)

    def _products(self, capped: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Rows in common units, their scales, and what they and their squares are multiplied to."""
        dtype = capped.dtype
        Y = _by_feature(np.multiply, capped, present(self.fitted.units).astype(dtype))
        squares = Y * Y if isinstance(Y, np.ndarray) else Y.multiply(Y)
        second = _double(squares @ self._on_squares.astype(dtype))
        scales = self._scales(second[:, -1])
        first = _double(Y @ self._on_rows.astype(dtype)) * scales[:, None]
        second *= scales[:, None] ** 2
        return Y, scales, first, second

    @property
    def _omega(self) -> np.ndarray:
        return present(self.fitted.omega)

    @cached_property
    def _on_rows(self) -> np.ndarray:
        """What rows are multiplied with: weighted bases, prices of the mean, weighted centres."""
        U, omega = self.fitted.components.T.astype(np.float64), self._omega
        bases = (omega.T[:, :, None] * U[:, None, :]).reshape(len(U), -1)
        mean = (present(self.fitted.prices) * present(self.fitted.mean)).T
        return np.hstack([bases, mean, (self.centres * omega.max(axis=0)).T])

    @cached_property
    def _on_squares(self) -> np.ndarray:
        """What squares are multiplied with: weights, prices, and the largest weights."""
        omega = self._omega
        return np.vstack([omega, present(self.fitted.prices), omega.max(axis=0)]).T

    @cached_property
    def _grams(self) -> np.ndarray:
        U = self.fitted.components.astype(np.float64)
        return np.stack([(U * weights) @ U.T for weights in self._omega])

    def _scales(self, squares: np.ndarray) -> np.ndarray:
        """Factors of the rows: to unit length in the weighted features, or one for all."""
        if self.fitted.row_scale is not None:
            return np.full(len(squares), self.fitted.row_scale)
        lengths = np.sqrt(squares)
        return np.divide(1, lengths, out=np.ones(len(lengths)), where=lengths > 0)

    def _gaps(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Squared distances to all centres in the weighted features, by these products."""
        levels = self.centres**2 @ self._omega.max(axis=0)
        gaps = second[:, -1:] + levels - 2 * first[:, -len(levels) :]
        return np.where(self.alive, gaps, np.inf)

    @cached_property
    def _of_centres(self) -> np.ndarray:
        """Codes of the centres."""
        products = self.centres @ self._on_rows, self.centres**2 @ self._on_squares
        return self._codes(*products, None)[0]

    def _codes(
        self, first: np.ndarray, second: np.ndarray, begin: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Codes and assignments, by the products with rows and with their squares."""
        (m, c, _), n = self._grams.shape, len(first)
        prices, mean = present(self.fitted.prices), present(self.fitted.mean)
        left_out = second[:, m : 2 * m] - 2 * first[:, m * c : m * (c + 1)] + prices @ mean**2
        crosses = first[:, : m * c].reshape(n, m, c)
        rows = Projected(crosses, second[:, :m].copy(), np.maximum(left_out, 0))
        solve = partial(solve_rows, tolerance=_TOLERANCE, begin=begin)
        return solve(rows, self._grams, np.full(m, 1 / m), shared=m == 1)


def _by_feature(how: np.ufunc, rows: Any, numbers: np.ndarray) -> Any:
    """Values and the numbers of their features together, dense or CSR."""
    if isinstance(rows, np.ndarray):
        return how(rows, numbers)
    values = how(rows.data, numbers[rows.indices])
    return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def _double(array: Any) -> np.ndarray:
    return np.asarray(array, np.float64)


def _rows(capped: Any) -> Any:
    """Rows as sums by cluster want them."""
    if isinstance(capped, np.ndarray):
        return rescaled(np.ascontiguousarray(capped))
    return sp.csr_array(capped).astype(np.float64)
