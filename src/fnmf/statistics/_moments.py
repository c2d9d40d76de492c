"""Moments of the features by cluster."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

# A feature whose scatter is below this share of its energy is constant up to rounding.
CONSTANT = 1e-8


@dataclass(frozen=True)
class Moments:
    """What a refresh knows of the data, all in the units of the last round.

    Attributes
    ----------
    counts : ndarray of shape (c,)
        Samples of each cluster.
    shifts, within : ndarray of shape (c, d)
        Cluster means about the mean, and squares about the cluster means.
    total, kurtosis : ndarray of shape (d,)
        Squares about the mean, and excess kurtosis, at least 0.
    live : ndarray of bool, shape (d,)
        Features that vary.
    cells : ndarray of shape (c, d) or None
        Observed cells of each cluster and feature; ``None`` if no cell is missing.
    """

    counts: np.ndarray
    shifts: np.ndarray
    within: np.ndarray
    total: np.ndarray
    kurtosis: np.ndarray
    live: np.ndarray
    cells: np.ndarray | None = None

    @classmethod
    def from_sums(
        cls,
        counts: np.ndarray,
        mean: np.ndarray,
        sums: np.ndarray,
        squares: np.ndarray,
        fourth: np.ndarray,
        cells: np.ndarray | None = None,
    ) -> Self:
        """From sums of first and second powers by cluster and of fourth ones, about ``mean``."""
        each = counts[:, None] if cells is None else cells
        n = counts.sum() if cells is None else cells.sum(axis=0)
        shifts = sums / np.where(each > 0, each, 1)
        within = np.maximum(squares - each * shifts**2, 0)
        total = squares.sum(axis=0)
        live = total > CONSTANT * (total + n * mean**2)
        excess = n * fourth / np.where(live, total, 1) ** 2 - 3
        kurtosis = np.where(live, np.maximum(excess, 0), 0)
        return cls(counts, shifts, within, total, kurtosis, live, cells)

    @property
    def fourth(self) -> np.ndarray:
        """Fourth powers about the mean, as far as kurtosis keeps them, (d,)."""
        n = self.counts.sum() if self.cells is None else np.maximum(self.cells.sum(axis=0), 1)
        return (self.kurtosis + 3) * self.total**2 / n

    @property
    def between(self) -> np.ndarray:
        """Squares of the cluster means about the mean, (c, d)."""
        return (self.counts[:, None] if self.cells is None else self.cells) * self.shifts**2


def indicator(
    labels: np.ndarray, n_clusters: int, dtype: np.dtype, weights: np.ndarray | None = None
) -> sp.csr_array:
    """Which rows belong to each cluster, and as how many they count, (k, n)."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
    each = np.ones(len(labels), dtype) if weights is None else weights[order].astype(dtype)
    parts = each, order, np.concatenate([[0], ends])
    return sp.csr_array(parts, shape=(n_clusters, len(labels)))
