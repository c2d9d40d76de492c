"""Factors of very many rows, begun with those of a sample.

Basis and codes of the anchors rest on so many rows that a sample of them leads to nearly the same.
Iterations are cheap there; all rows are then solved once for that basis, and the run over them has
little left to do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fnmf.data import View, drawn
from fnmf.runners import RowArray, Runner
from fnmf.schemes._hold import AnchorHold
from fnmf.solver import Factors, Machine, Observe, Stopping, solve, solve_codes
from fnmf.terms import AnchorTies, Objective, ResidualWeighting, Weighting

# Rows of the sample: one in so many, within limits. Twice the fewest or less are not worth one.
_ONE_IN, _FEWEST, _MOST = 20, 20_000, 50_000


def many(n: int) -> bool:
    """Whether so many rows are begun with some of them."""
    return n > 2 * _FEWEST


def begun_on_sample(
    view: View,
    hold: AnchorHold,
    objective: Objective,
    factors: Factors,
    solver: str,
    stopping: Stopping,
    seed: int,
    runner: Runner,
    observe: Observe | None = None,
) -> Factors:
    """Factors of all rows for a basis that has settled on a sample."""
    n = view.shape[0]
    assert hold.anchors is not None
    size = min(max(n // _ONE_IN, _FEWEST), _MOST)
    # With all anchors among it none is without mass.
    sample = np.union1d(hold.anchors, drawn(n, size, np.random.RandomState(seed)))
    ties = hold.ties_of(sample, objective.ties.strength, view.dtype)
    few = replace(objective, weighting=_of(objective.weighting, sample), ties=ties)
    shared = objective.shared
    P = factors.P if shared else factors.P[sample]
    start = Factors(factors.U, factors.V[sample], P, factors.weights)
    machine = Machine(view.subset(sample), runner)
    ending = replace(stopping, floor=stopping.floor * len(sample) / n)
    found = solve(machine, few, start, solver, ending, observe).factors
    held = None
    if isinstance(ties, AnchorTies):
        held = ties.codes(machine.anchor_sums(ties, found.V).held)
    begun = Factors(found.U, factors.V, found.P if shared else factors.P, found.weights)
    solve_codes(Machine(view, runner), objective, begun, solver, held)
    return begun


def _of(weighting: Weighting, sample: np.ndarray) -> ResidualWeighting:
    """The same for some of the rows."""
    prices: RowArray | None = weighting.prices
    return ResidualWeighting(None if prices is None else prices[sample])
