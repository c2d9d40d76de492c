"""Factors of very many rows, begun with those of a sample.

Basis and codes of the anchors rest on so many rows that a sample of them leads to nearly the same.
Iterations are cheap there; all rows are then solved once for that basis, and the run over them has
little left to do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fnmf.affinity import AnchorAffinity
from fnmf.data import View, drawn
from fnmf.execution import RowArray
from fnmf.factorization.solver import (
    ExecutionContext,
    Factors,
    Stopping,
    solve,
    solve_codes,
    ties_of_rows,
)
from fnmf.factorization.terms import AnchorTies, Objective, ResidualWeighting, Weighting
from fnmf.relevance.defaults import DEFAULTS, Defaults

# Bounds the memory of the sample.
_MOST_ENTRIES = 1 << 25
# Rounds of coordinate descent for the codes of all rows, and where these begin at least, as a share
# of the largest of their row: the run over all rows continues from there.
_ROUNDS, _LEAST = 5, 1e-3


def sample_size(n: int, entries: float, defaults: Defaults = DEFAULTS) -> int:
    """How many of n rows with so many entries each are begun with; 0 for none."""
    # Half of the fewest rows that have anchors: more would save little.
    wanted = defaults.exact_rows // 2
    size = int(min(wanted, _MOST_ENTRIES / max(entries, 1)))
    # Few rows are not worth a sample, nor is one of much fewer rows than wanted.
    return size if n > 2 * wanted and 2 * size >= wanted else 0


class SolverRun(NamedTuple):
    """A run of the solver over all rows."""

    context: ExecutionContext
    objective: Objective
    solver: str
    stopping: Stopping


class Sample(NamedTuple):
    """How many rows besides the anchors, and how they are drawn."""

    size: int
    seed: int


def start_on_sample(
    run: SolverRun,
    used: View,
    affinity: AnchorAffinity,
    factors: Factors,
    of: Sample,
) -> Factors:
    """Factors of all rows for a basis that has settled on a sample.

    ``used`` are the rows with the features that count: others have no part in it.
    """
    objective, view, shared = run.objective, run.context.view, run.objective.shared
    n, kept = view.shape[0], used.kept
    assert affinity.anchors is not None
    # With all anchors among it hardly any is without mass.
    sample = np.union1d(affinity.anchors, drawn(n, of.size, np.random.RandomState(of.seed)))
    ties = ties_of_rows(affinity, sample, objective.ties.strength, view.dtype)
    few = replace(objective, weighting=_of(objective.weighting, sample), ties=ties)
    P, weights = factors.P if shared else factors.P[sample], factors.weights[:, kept]
    start = Factors(
        factors.U[kept], factors.V[sample], P, np.ascontiguousarray(weights), fixed=factors.fixed
    )
    context = ExecutionContext(used.subset(sample), run.context.runner)
    stopping = replace(run.stopping, floor=run.stopping.floor * len(sample) / n)
    found = solve(context, few, start, run.solver, stopping).factors
    held = None
    if isinstance(ties, AnchorTies):
        held = ties.codes(context.anchor_sums(ties, found.V).held)
    # Features without any weight have no part in any component.
    U = np.zeros_like(factors.U)
    U[kept] = found.U
    P = found.P if shared else factors.P
    begun = Factors(U, factors.V, P, factors.weights, fixed=factors.fixed)
    solve_codes(run.context, objective, begun, run.solver, held, rounds=_ROUNDS, least=_LEAST)
    return begun


def _of(weighting: Weighting, sample: np.ndarray) -> ResidualWeighting:
    """The same for some of the rows."""
    prices: RowArray | None = weighting.prices
    return ResidualWeighting(None if prices is None else prices[sample])
