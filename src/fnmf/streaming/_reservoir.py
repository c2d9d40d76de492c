"""A sample of a stream that forgets: constant size, recent rows more likely than old ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

# Rows that count for less than this have been forgotten.
_FORGOTTEN = 0.05


@dataclass
class Reservoir:
    """Rows drawn without replacement in proportion to what they still count for.

    Every row gets a priority: the logarithm of its weight plus Gumbel noise. The rows of the
    largest priorities are such a sample. All weights decay alike, which changes no order: a row
    keeps its priority, in which later rows have the larger weight.

    Attributes
    ----------
    rows : ndarray or csr_array of shape (r, d)
        The sample; new rows take the places of those that leave.
    priorities, weights : ndarray of shape (r,)
        Priorities, and logarithms of weights relative to those of the first row of the stream.
    counts : ndarray of shape (r,)
        As how many rows each came.
    threshold : ndarray of shape (1,)
        Largest priority that had no room; minus infinity while there was room for all.
    codes : ndarray of shape (r,)
        Classes, -1 where they are not known. Rows with a label stay, those of the largest
        priorities, as long as they are at most half of the sample.
    """

    rows: Any
    priorities: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    threshold: np.ndarray
    codes: np.ndarray

    @classmethod
    def empty(cls, rows: Any, dtype: np.dtype) -> Self:
        """An empty one for rows in the form of these, none, and of a number type."""
        none = np.empty(0)
        return cls(rows.astype(dtype), none, none, none, np.array([-np.inf]), none.astype(np.int64))

    def __len__(self) -> int:
        return len(self.priorities)

    @property
    def sample_weight(self) -> np.ndarray | None:
        """As how many rows each counts in the sample; ``None`` if all count once.

        A row that came as w rows is in the sample with probability 1 - exp(-w e), where one row
        is with 1 - exp(-e). It counts w times as much as one row, by as much less as it was
        likelier to be drawn: w while there is room for all, once where few rows are drawn.
        """
        if np.all(self.counts == 1):
            return None
        # Beyond this a row is in the sample for certain.
        likely = np.exp(np.minimum(self.weights - self.threshold[0], 50.0))
        return self.counts * np.expm1(-likely) / np.expm1(-self.counts * likely)

    def add(
        self,
        rows: Any,
        weight: float,
        size: int,
        rng: np.random.RandomState,
        counts: np.ndarray | None = None,
        codes: np.ndarray | None = None,
    ) -> None:
        """Take in a batch whose rows have the logarithm ``weight``; at most ``size`` rows stay.

        ``counts`` says as how many rows each counts, once if it is not given; ``codes`` are their
        classes.
        """
        n = rows.shape[0]
        codes = np.concatenate([self.codes, np.full(n, -1) if codes is None else codes])
        own = np.ones(n) if counts is None else counts
        weights = np.concatenate([self.weights, np.full(n, weight)])
        noise = -np.log(rng.standard_exponential(n))
        priorities = np.concatenate([self.priorities, weight + np.log(own) + noise])
        order = np.argsort(-priorities, kind="stable")
        if len(order) > size:
            self.threshold = np.maximum(self.threshold, priorities[order[size]])
        told = order[codes[order] >= 0][: size // 2]
        others = order[~np.isin(order, told)][: size - len(told)]
        # What the stream has forgotten goes, even if there is room.
        others = others[weights[others] >= weight + np.log(_FORGOTTEN)]
        source = self._sources(np.sort(np.concatenate([told, others])))
        self._move(rows, source)
        self.priorities, self.weights = priorities[source], weights[source]
        self.counts = np.concatenate([self.counts, own])[source]
        self.codes = codes[source]

    def _sources(self, kept: np.ndarray) -> np.ndarray:
        """For each place the row that will be there; rows that can stay where they are do."""
        places = np.arange(len(kept))
        stays = np.isin(places, kept[kept < len(self)])
        places[~stays] = np.setdiff1d(kept, places[stays], assume_unique=True)
        return places

    def _move(self, rows: Any, source: np.ndarray) -> None:
        """Fill places, in the form and number type of the first batch."""
        r, dtype = len(self), self.rows.dtype
        if not isinstance(self.rows, np.ndarray):
            both = sp.vstack([self.rows, sp.csr_array(rows).astype(dtype)], format="csr")
            self.rows = sp.csr_array(both[source])
            return
        new = np.flatnonzero(source >= r)
        chosen = rows[source[new] - r]
        chosen = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
        if len(source) != r:
            grown = np.empty((len(source), rows.shape[1]), dtype)
            grown[source < r] = self.rows[source[source < r]]
            self.rows = grown
        self.rows[new] = chosen
