"""What holds samples together in a fit: a graph of all of them, a few anchors, or nothing.

Each gives the clusters that it sees, and the ties for the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from fnmf._lloyd import quick_kmeans
from fnmf._settings import Settings
from fnmf.data import View, drawn
from fnmf.graph import (
    Graphs,
    Nearest,
    anchor_mass,
    anchor_votes,
    best_of,
    graph_votes,
    held_clusters,
    in_few_parts,
    nearest_anchors,
    neighbor_graph,
    partition,
    small_graphs,
    vote,
)
from fnmf.runners import RowArray, Runner
from fnmf.schemes._confidence import Ballots, counted_already
from fnmf.schemes._kept import kept_graph, kept_nearest
from fnmf.schemes._problem import Ledger
from fnmf.solver import Machine
from fnmf.terms import AnchorTies, NoTies, Ties, graph_ties

# Beyond so many samples the search over all pairs is given up for anchors.
EXACT_ROWS = 10_000
_ANCHORS = 2000
_STARTS = 2
_CODE_STARTS = 3
# Known rows that decide the cluster of one that is not.
_VOTERS = 5


class Known(NamedTuple):
    """Clusters of some of the rows."""

    rows: np.ndarray
    labels: np.ndarray


class Hold(Protocol):
    """Whatever holds samples together."""

    graph: sp.csr_array | None
    anchors: np.ndarray | None

    def clusters(self, n_clusters: int, seed: int, known: Known | None = None) -> RowArray | None:
        """Labels, begun also from what is ``known`` of some; ``None`` where nothing holds."""

    def settle(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        """The better of ``labels`` and those that the codes show."""

    def votes(self, labels: RowArray, n_clusters: int) -> Ballots | None:
        """Share of each cluster among what holds a sample; ``None`` where nothing holds."""

    def ties(self, strength: float, dtype: np.dtype) -> Ties:
        """For the solver."""

    def anchor_codes(self, V: RowArray, machine: Machine) -> np.ndarray | None:
        """Codes of the anchors, if there are any."""


class Nothing:
    """Samples on their own."""

    graph: sp.csr_array | None = None
    anchors: np.ndarray | None = None

    def clusters(self, n_clusters: int, seed: int, known: Known | None = None) -> RowArray | None:
        return None

    def settle(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        return labels

    def votes(self, labels: RowArray, n_clusters: int) -> Ballots | None:
        return None

    def ties(self, strength: float, dtype: np.dtype) -> Ties:
        return NoTies(dtype)

    def anchor_codes(self, V: RowArray, machine: Machine) -> np.ndarray | None:
        return None


class GraphHold(Nothing):
    """A graph of all samples."""

    def __init__(self, graph: sp.csr_array, weighted: View, runner: Runner) -> None:
        self.graph: sp.csr_array | None = graph
        self._weighted, self._runner = weighted, runner

    def clusters(self, n_clusters: int, seed: int, known: Known | None = None) -> RowArray | None:
        others = [] if known is None else [extended(known, self._weighted, self._runner)]
        return partition(self._graph, n_clusters, seed, starts=_STARTS, others=others).labels

    def settle(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        rng = np.random.RandomState(0)
        others = [quick_kmeans(codes, n_clusters, rng) for _ in range(_CODE_STARTS)]
        return best_of(self._graph, [labels, *others], n_clusters).labels

    def votes(self, labels: RowArray, n_clusters: int) -> Ballots | None:
        return counted_already(graph_votes(self._graph, labels, n_clusters))

    def ties(self, strength: float, dtype: np.dtype) -> Ties:
        return graph_ties(self._graph, strength, dtype)

    @property
    def _graph(self) -> sp.csr_array:
        assert self.graph is not None
        return self.graph


class AnchorHold(Nothing):
    """Some of the samples, to which all others are held.

    Parameters
    ----------
    weighted : View
        Rows in which distances are measured.
    n_neighbors : int
        Anchors of a sample.
    runner : Runner
        Who works through the blocks.
    ledger : Ledger
        Keeps the anchors of the samples.
    """

    def __init__(
        self, weighted: View, n_neighbors: int, seed: int, runner: Runner, ledger: Ledger
    ) -> None:
        n = weighted.shape[0]
        self.anchors = drawn(n, _ANCHORS, np.random.RandomState(seed))
        self._view = weighted.subset(self.anchors)
        here = self._view
        self._rows = here.narrowed(here.take(np.arange(len(self.anchors))))
        self._neighbors, self._weighted, self._runner = n_neighbors, weighted, runner
        sizes = n, len(self.anchors)

        def search() -> Nearest:
            return nearest_anchors(weighted, self._rows, n_neighbors, runner)

        # Those of a cluster stay there, and are found again rather than kept.
        keeps = not weighted.remote
        self.nearest = kept_nearest(ledger, f"anchors-{seed}", search, sizes) if keeps else search()
        self._mass = anchor_mass(self.nearest, len(self.anchors), weighted, runner)

    def clusters(self, n_clusters: int, seed: int, known: Known | None = None) -> RowArray | None:
        graph = in_few_parts(small_graphs(self._rows), self._neighbors, n_clusters)
        others = []
        if known is not None:
            others = [extended(known, self._weighted, self._runner, self._view)]
        labels = partition(graph, n_clusters, seed, starts=_STARTS, others=others).labels
        return held_clusters(self.nearest, self._mass, labels, self._weighted, self._runner)

    def votes(self, labels: RowArray, n_clusters: int) -> Ballots | None:
        # Votes of all samples at once would take as much room as their codes.
        return Ballots(self.nearest, _OfAnchors(labels[self.anchors], n_clusters))

    def ties(self, strength: float, dtype: np.dtype) -> Ties:
        return self._ties(strength) if strength > 0 else NoTies(dtype)

    def ties_of(self, rows: np.ndarray, strength: float, dtype: np.dtype) -> Ties:
        """Those of some of the samples."""
        if strength == 0:
            return NoTies(dtype)
        indices, shares = (array[rows] for array in self.nearest)
        mass = np.bincount(indices.ravel(), shares.ravel(), len(self._mass))
        return AnchorTies(indices, shares, mass, strength)

    def anchor_codes(self, V: RowArray, machine: Machine) -> np.ndarray | None:
        ties = self._ties(1.0)
        return ties.codes(machine.anchor_sums(ties, V).held).astype(V.dtype)

    def _ties(self, strength: float) -> AnchorTies:
        return AnchorTies(*self.nearest, self._mass, strength)


@dataclass(frozen=True)
class _OfAnchors:
    """The count of votes of the anchors that hold samples."""

    of_anchors: np.ndarray
    n_clusters: int

    def __call__(self, indices: np.ndarray, shares: np.ndarray) -> np.ndarray:
        votes = anchor_votes(Nearest(indices, shares), self.of_anchors, self.n_clusters)
        return votes.astype(shares.dtype)


def extended(
    known: Known, weighted: View, runner: Runner, queries: View | None = None
) -> np.ndarray:
    """Labels of all rows, or of ``queries``, from the nearest of those that are known."""
    if queries is None and len(known.rows) == weighted.shape[0]:
        return known.labels
    there = weighted.narrowed(weighted.take(known.rows))
    nearest = nearest_anchors(weighted if queries is None else queries, there, _VOTERS, runner)
    return vote(nearest, known.labels)


def hold_of(weighted: View, settings: Settings, seed: int, runner: Runner, ledger: Ledger) -> Hold:
    """The user's graph, one of the nearest neighbours, anchors for many samples, or nothing."""
    if settings.graph is None:
        return Nothing()
    if not settings.builds_graph:
        return GraphHold(settings.graph, weighted, runner) if settings.graph.nnz else Nothing()
    many = weighted.remote or weighted.shape[0] > EXACT_ROWS
    if settings.graph == "adaptive" and many and not settings.in_turn:
        return AnchorHold(weighted, settings.n_neighbors, seed, runner, ledger)

    def build(n_neighbors: int) -> sp.csr_array:
        verbose = settings.verbose
        return neighbor_graph(weighted, n_neighbors, settings.search, runner, verbose=verbose)

    def make() -> sp.csr_array:
        return in_few_parts(Graphs(build), settings.n_neighbors, settings.clusters)

    graph = kept_graph(ledger, f"graph-{seed}", make, weighted.shape[0])
    return GraphHold(graph, weighted, runner)
