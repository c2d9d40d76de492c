"""Which of several weightings samples use at the start."""

from __future__ import annotations

from functools import partial

import numpy as np

from fnmf.data import View
from fnmf.execution import RowArray, Runner, parts_of
from fnmf.relevance.prepare import PreparedRows, Weights
from fnmf.statistics import DistancesTo

_TINY = 1e-12


def assign_samples(
    prepared: PreparedRows,
    weights: Weights,
    labels: RowArray,
    centres: np.ndarray,
    prices: RowArray | None,
    runner: Runner,
) -> RowArray:
    """The assignment of every sample that is best for its cluster's centre and prices, (n, m)."""
    view = prepared.view
    given = (labels,) if prices is None else (labels, prices)
    own = partial(_assignments, DistancesTo(centres, weights.omega))
    return runner.map_rows(own, parts_of(view), given, (len(weights.omega),), view.dtype)


def _assignments(
    costs_of: DistancesTo, part: View, labels: np.ndarray, *prices: np.ndarray
) -> np.ndarray:
    return best_assignment(sum(prices, costs_of(part, labels)))


def assign_together(
    prepared: PreparedRows,
    weights: Weights,
    labels: RowArray,
    centres: np.ndarray,
    price_sums: np.ndarray,
    runner: Runner,
) -> np.ndarray:
    """The one assignment that is best for all samples together, (1, m)."""
    costs_of = partial(_total_costs, DistancesTo(centres, weights.omega))
    (costs,) = runner.sum_rows(costs_of, parts_of(prepared.view), labels)
    return best_assignment((costs + price_sums)[None]).astype(prepared.view.dtype)


def _total_costs(costs_of: DistancesTo, part: View, labels: np.ndarray) -> tuple[np.ndarray]:
    costs = costs_of(part, labels)
    return (costs.sum(axis=0) if part.weights is None else part.weights @ costs,)


def best_assignment(q: np.ndarray) -> np.ndarray:
    """What minimises Σ_j p_j² q_j, for each row of costs."""
    q = np.maximum(q, _TINY)
    share = q.min(axis=1, keepdims=True) / q
    return share / share.sum(axis=1, keepdims=True)
