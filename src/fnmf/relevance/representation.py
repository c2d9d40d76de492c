"""How smooth codes are, chosen for the representation; clusters are known before and stay."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fnmf._settings import Settings
from fnmf.affinity import AnchorAffinity, neighbors_of
from fnmf.data import View, drawn, view_of
from fnmf.execution import Runner
from fnmf.factorization import CheckpointCache, Sample, SolverRun, solve_sample, ties_along
from fnmf.factorization.solver import Factors, SolverCheckpoint, solve
from fnmf.relevance.defaults import Defaults
from fnmf.relevance.results import FoundClusters, SmoothedCodes


def smoothness_values(settings: Settings, defaults: Defaults) -> tuple[float, ...]:
    """What ``representation`` wants to be tried; one value is one to be taken."""
    full, shares = float(settings.smoothness), defaults.smoothness_shares
    if settings.representation == "clusters" or full == 0:
        return (full,)
    if settings.representation == "parts":
        shares = shares[-1:]
    return tuple(full * share for share in shares)


@dataclass(frozen=True)
class Representation:
    """The choice among codes of several smoothness.

    Attributes
    ----------
    run : SolverRun
        The run for the clusters, with all of the smoothness.
    found : FoundClusters
        Prepared rows and their affinity.
    values : tuple of float
        Smoothness that is tried.
    share : float
        How much of the data term the assignment leaves.
    seed : int
        Seed of the sample on which neighbours are compared.
    defaults : Defaults
        Constants.
    """

    run: SolverRun
    found: FoundClusters
    values: tuple[float, ...]
    share: float
    seed: int
    defaults: Defaults

    def by_sample(self, factors: Factors) -> float:
        """The best smoothness for a sample with all anchors, from factors of all rows."""
        if len(self.values) == 1:
            return self.values[0]
        affinity, prepared = self.found.affinity, self.found.prepared
        assert isinstance(affinity, AnchorAffinity)
        used = prepared.used(self.found.weights.top > 0)
        of, scores = Sample(self.defaults.sample_rows, self.seed), []
        kept: NeighborsKept | None = None
        for value in self.values:
            solved = solve_sample(self.run_with(value), used, affinity, factors, of)
            kept = kept or self._kept(solved.rows)
            root = prepared.view.root
            own = None if root is None else root[solved.rows]
            scores.append(kept(solved.factors.without(own).V))
        return self.values[int(np.argmax(scores))]

    def of_all(self, first: SmoothedCodes, cache: CheckpointCache) -> SmoothedCodes:
        """The best codes of all rows; ``first`` are there already, and others begin with them."""
        begun, few = first.result.factors, self.defaults.tried_iterations
        tried = [
            first if value == first.smoothness else self._solved(value, begun, few)
            for value in self.values
        ]
        chosen = tried[0]
        if len(tried) > 1:
            n, most = self.run.context.view.shape[0], self.defaults.sample_rows
            rows = drawn(n, most, np.random.RandomState(self.seed))
            kept = self._kept(rows)
            chosen = tried[int(np.argmax([kept(one.result.factors.V[rows]) for one in tried]))]
        if chosen is first:
            return first
        checkpoint = cache.solver_checkpoint(f"{self.seed}-{chosen.smoothness:g}")
        begun, most = chosen.result.factors, self.run.stopping.max_iter
        return self._solved(chosen.smoothness, begun, most, checkpoint)

    def run_with(self, value: float) -> SolverRun:
        """The run with another smoothness."""
        strength = value * self.found.prepared.varying * self.share
        ties = ties_along(self.found.affinity, strength, self.run.context.view.dtype)
        return self.run._replace(objective=replace(self.run.objective, ties=ties))

    def _solved(
        self, value: float, begun: Factors, most: int, checkpoint: SolverCheckpoint | None = None
    ) -> SmoothedCodes:
        """Codes of this smoothness after at most so many iterations."""
        run, root = self.run_with(value), self.found.prepared.view.root
        stopping = replace(run.stopping, max_iter=min(most, run.stopping.max_iter))
        start = deepcopy(begun).without(None if root is None else 1 / root)
        given = run.context, run.objective, start, run.solver, stopping
        result = solve(*given, checkpoint=checkpoint)
        result.factors = result.factors.without(root)
        return SmoothedCodes(value, run.objective.ties, result)

    def _kept(self, rows: np.ndarray) -> NeighborsKept:
        weighted, runner = self.found.prepared.weighted.subset(rows), self.run.context.runner
        return NeighborsKept(weighted, min(self.defaults.kept_neighbors, len(rows) - 1), runner)


@dataclass(frozen=True)
class NeighborsKept:
    """Share of the nearest rows that are the nearest in codes too.

    Attributes
    ----------
    weighted : View
        Rows in the weighted features.
    count : int
        How many neighbours of each are looked at.
    runner : Runner
        Works through the blocks.
    """

    weighted: View
    count: int
    runner: Runner

    @cached_property
    def nearest(self) -> np.ndarray:
        """Neighbours in the weighted features."""
        return neighbors_of(self.weighted, self.count, self.runner)[0]

    def __call__(self, codes: np.ndarray) -> float:
        found, _ = neighbors_of(view_of(np.ascontiguousarray(codes)), self.count, self.runner)
        return float(np.mean((self.nearest[:, :, None] == found[:, None, :]).any(axis=2)))
