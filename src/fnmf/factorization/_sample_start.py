"""Factors of very many rows, begun with those of a sample.

Basis and codes of the anchors rest on so many rows that a sample of them leads to nearly the same.
Iterations are cheap there; all rows are then solved once for that basis, and the run over them has
little left to do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
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


def sample_sizes(n: int, entries: float, defaults: Defaults = DEFAULTS) -> list[int]:
    """How many of n rows with so many entries each are begun with, and then how many more."""
    # Half of the fewest rows that have anchors: more would save little.
    wanted, most = defaults.exact_rows // 2, _MOST_ENTRIES / max(entries, 1)
    size = int(min(wanted, most))
    # Few rows are not worth a sample, nor is one of much fewer rows than wanted.
    if n <= 2 * wanted or 2 * size < wanted:
        return []
    sizes = [size]
    # What a sample leaves to do falls as its size rises, and a tenth of the rows costs little.
    while (size := int(min(size / defaults.small, n * defaults.small, most))) >= 2 * sizes[-1]:
        sizes.append(size)
    return sizes


class SolverRun(NamedTuple):
    """A run of the solver over all rows."""

    context: ExecutionContext
    objective: Objective
    solver: str
    stopping: Stopping

    @property
    def begun(self) -> SolverRun:
        """The same run for factors that a sample has led to.

        That sample's run ended with changes just below ``tol``; what it left undone the rows of
        this one leave as well, and it is what remains once their own share of changes has gone.
        """
        return self._replace(stopping=replace(self.stopping, tol=2 * self.stopping.tol))


class Samples(NamedTuple):
    """How many rows besides the anchors, in the order in which they are solved, and their seed."""

    sizes: list[int]
    seed: int


def start_on_samples(
    run: SolverRun,
    used: View,
    affinity: AnchorAffinity,
    factors: Factors,
    of: Samples,
) -> Factors:
    """Factors of all rows for a basis that has settled on samples, each larger than the last.

    ``used`` are the rows with the features that count: others have no part in it.
    """
    objective, view, shared = run.objective, run.context.view, run.objective.shared
    n, kept = view.shape[0], used.kept
    assert affinity.anchors is not None
    basis, P, held = factors.U[kept], factors.P, None
    weights = np.ascontiguousarray(factors.weights[:, kept])
    codes = partial(solve_codes, rounds=_ROUNDS, least=_LEAST)
    for number, size in enumerate(of.sizes):
        # With all anchors among it hardly any is without mass.
        sample = np.union1d(affinity.anchors, drawn(n, size, np.random.RandomState(of.seed)))
        ties = ties_of_rows(affinity, sample, objective.ties.strength, view.dtype)
        few = replace(objective, weighting=_of(objective.weighting, sample), ties=ties)
        own = P if shared else P[sample]
        start = Factors(basis, factors.V[sample], own, weights, fixed=factors.fixed)
        context = ExecutionContext(used.subset(sample), run.context.runner)
        if number:
            codes(context, few, start, run.solver, held)
        stopping = (run.begun if number else run).stopping
        stopping = replace(stopping, floor=stopping.floor * len(sample) / n)
        found = solve(context, few, start, run.solver, stopping).factors
        basis, held = found.U, None
        P = found.P if shared else P
        if isinstance(ties, AnchorTies):
            held = ties.codes(context.anchor_sums(ties, found.V).held)
    # Features without any weight have no part in any component.
    U = np.zeros_like(factors.U)
    U[kept] = basis
    begun = Factors(U, factors.V, P, factors.weights, fixed=factors.fixed)
    codes(run.context, objective, begun, run.solver, held)
    return begun


def _of(weighting: Weighting, sample: np.ndarray) -> ResidualWeighting:
    """The same for some of the rows."""
    prices: RowArray | None = weighting.prices
    return ResidualWeighting(None if prices is None else prices[sample])
