"""Factors of very many rows, begun with those of a sample.

Basis and codes of the anchors rest on so many rows that a sample of them leads to nearly the same.
Iterations are cheap there; all rows are then solved once for that basis, and the run over them has
little left to do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fnmf.data import View, drawn
from fnmf.runners import RowArray
from fnmf.schemes._hold import AnchorHold
from fnmf.solver import Factors, Machine, Stopping, solve, solve_codes
from fnmf.terms import AnchorTies, Objective, ResidualWeighting, Weighting

# Rows of the sample: one in so many, within limits. Twice the fewest or less are not worth one.
_ONE_IN, _FEWEST, _MOST = 20, 20_000, 50_000


def many(n: int) -> bool:
    """Whether so many rows are begun with some of them."""
    return n > 2 * _FEWEST


class Run(NamedTuple):
    """A run of the solver over all rows; ``used`` are these with the features that count."""

    machine: Machine
    used: View
    objective: Objective
    solver: str
    stopping: Stopping


def begun_on_sample(run: Run, hold: AnchorHold, factors: Factors, seed: int) -> Factors:
    """Factors of all rows for a basis that has settled on a sample."""
    objective, view, runner = run.objective, run.machine.view, run.machine.runner
    n, shared = view.shape[0], objective.shared
    assert hold.anchors is not None
    size = min(max(n // _ONE_IN, _FEWEST), _MOST)
    # With all anchors among it none is without mass.
    sample = np.union1d(hold.anchors, drawn(n, size, np.random.RandomState(seed)))
    ties = hold.ties_of(sample, objective.ties.strength, view.dtype)
    few = replace(objective, weighting=_of(objective.weighting, sample), ties=ties)
    P, kept = factors.P if shared else factors.P[sample], run.used.kept
    weights = np.ascontiguousarray(factors.weights[:, kept])
    start = Factors(factors.U[kept], factors.V[sample], P, weights)
    machine = Machine(run.used.subset(sample), runner)
    stopping = replace(run.stopping, floor=run.stopping.floor * len(sample) / n)
    found = solve(machine, few, start, run.solver, stopping).factors
    held = None
    if isinstance(ties, AnchorTies):
        held = ties.codes(machine.anchor_sums(ties, found.V).held)
    # Features without any weight have no part in any component.
    U = np.zeros_like(factors.U)
    U[kept] = found.U
    begun = Factors(U, factors.V, found.P if shared else factors.P, factors.weights)
    solve_codes(run.machine, objective, begun, run.solver, held)
    return begun


def _of(weighting: Weighting, sample: np.ndarray) -> ResidualWeighting:
    """The same for some of the rows."""
    prices: RowArray | None = weighting.prices
    return ResidualWeighting(None if prices is None else prices[sample])
