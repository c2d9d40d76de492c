"""A sample of a stream that forgets: constant size, recent rows more likely than old ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

# Rows that count for less than this have been forgotten.
_FORGOTTEN = 0.05


@dataclass(frozen=True)
class Reservoir:
    """Rows drawn without replacement in proportion to what they still count for.

    Every row gets a priority: the logarithm of its weight plus Gumbel noise. The rows of the
    largest priorities are such a sample. All weights decay alike, which changes no order: a row
    keeps its priority, in which later rows have the larger weight.

    Attributes
    ----------
    rows : ndarray or csr_array of shape (r, d)
        The sample.
    priorities, weights : ndarray of shape (r,)
        Priorities, and logarithms of weights relative to those of the first row of the stream.
    """

    rows: Any
    priorities: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, rows: Any) -> Self:
        """An empty one for rows like these."""
        return cls(rows[:0], np.empty(0), np.empty(0))

    def __len__(self) -> int:
        return len(self.priorities)

    def with_batch(
        self, rows: Any, weight: float, size: int, rng: np.random.RandomState
    ) -> Reservoir:
        """After a batch whose rows have the logarithm ``weight``; at most ``size`` rows stay."""
        n = rows.shape[0]
        weights = np.concatenate([self.weights, np.full(n, weight)])
        noise = -np.log(rng.standard_exponential(n))
        priorities = np.concatenate([self.priorities, weight + noise])
        first = np.argsort(-priorities, kind="stable")[:size]
        # What the stream has forgotten goes, even if there is room.
        first = first[weights[first] >= weight + np.log(_FORGOTTEN)]
        kept = np.sort(first)
        return Reservoir(self._stacked(rows, kept), priorities[kept], weights[kept])

    def _stacked(self, rows: Any, kept: np.ndarray) -> Any:
        """Chosen rows of both, in the form and number type of the first batch."""
        old, new = kept[kept < len(self)], kept[kept >= len(self)] - len(self)
        chosen = rows[new]
        if isinstance(self.rows, np.ndarray):
            chosen = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
            return np.concatenate([self.rows[old], chosen.astype(self.rows.dtype)])
        chosen = sp.csr_array(chosen).astype(self.rows.dtype)
        return sp.csr_array(sp.vstack([self.rows[old], chosen], format="csr"))
