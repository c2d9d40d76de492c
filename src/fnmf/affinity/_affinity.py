"""The affinity between samples in a fit: a graph of all of them, a few anchors, or none.

Each gives the clusters that it sees, and the votes of a sample's neighbours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fnmf._settings import Settings
from fnmf.affinity._adaptive import Graphs, in_few_parts, neighbor_graph
from fnmf.affinity._anchor_affinity import (
    AnchorAffinity,
    ArrayCache,
    Arrays,
    KnownLabels,
    extend_labels,
    unfit,
)
from fnmf.affinity._balanced import balanced_graph
from fnmf.affinity._confidence import NeighborVotes, graph_votes, known_votes
from fnmf.affinity._partition import best_of, connected_parts, partition
from fnmf.data import View, check_structure
from fnmf.execution import RowArray, Runner
from fnmf.kmeans import quick_kmeans
from fnmf.relevance.defaults import DEFAULTS, Defaults

_PARTS = ("data", "indices", "indptr")


def cached_graph(
    cache: ArrayCache, name: str, make: Callable[[], sp.csr_array], n: int
) -> sp.csr_array:
    """A graph of n samples."""

    def arrays() -> Arrays:
        graph = make()
        return {part: getattr(graph, part) for part in _PARTS}

    found = cache.cached(name, arrays)
    try:
        graph = sp.csr_array(tuple(found[part] for part in _PARTS), shape=(n, n))
        check_structure(graph, name)
    except (KeyError, ValueError) as error:
        raise unfit(name) from error
    return graph


class NoAffinity:
    """Samples on their own."""

    graph: sp.csr_array | None = None
    anchors: np.ndarray | None = None
    # Roots of what samples count; ``None`` if all count once.
    root: np.ndarray | None = None

    def clusters(
        self, n_clusters: int, seed: int, known: KnownLabels | None = None
    ) -> RowArray | None:
        return None

    def parts(self, n_clusters: int) -> RowArray | None:
        return None

    def refine_labels(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        return labels

    def votes(self, labels: RowArray, n_clusters: int) -> NeighborVotes | None:
        return None


class GraphAffinity:
    """A graph of all samples."""

    anchors: np.ndarray | None = None

    def __init__(
        self,
        graph: sp.csr_array,
        weighted: View,
        runner: Runner,
        defaults: Defaults = DEFAULTS,
    ) -> None:
        self.graph: sp.csr_array | None = graph
        self.root = weighted.root
        self._weighted, self._runner, self._defaults = weighted, runner, defaults

    def clusters(
        self, n_clusters: int, seed: int, known: KnownLabels | None = None
    ) -> RowArray | None:
        """Labels, started also from those ``known`` of some rows; ``None`` without affinity."""
        others = [] if known is None else [self._extended(known)]
        given = self._graph, n_clusters, seed
        return partition(*given, others=others, defaults=self._defaults).labels

    def carried(self, known: KnownLabels, n_clusters: int) -> RowArray:
        """Labels of all rows from those ``known`` of some, single rows moved while it pays."""
        return best_of(self._graph, [self._extended(known)], n_clusters, self._defaults).labels

    def _extended(self, known: KnownLabels) -> np.ndarray:
        weighted = self._weighted
        if len(known.rows) == weighted.shape[0]:
            return known.labels
        return extend_labels(known, weighted, self._runner, weighted, self._defaults)

    def parts(self, n_clusters: int) -> RowArray | None:
        """Labels of the connected parts, if these are the clusters; see ``connected_parts``."""
        found = connected_parts(self._graph, n_clusters, self._defaults)
        return None if found is None else found.labels

    def refine_labels(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        """The better of ``labels`` and of the clusters of the codes."""
        rng, defaults = np.random.RandomState(0), self._defaults
        starts = range(defaults.starts)
        own = self._weighted.weights
        others = [quick_kmeans(codes, n_clusters, rng, own) for _ in starts]
        return best_of(self._graph, [labels, *others], n_clusters, defaults).labels

    def votes(self, labels: RowArray, n_clusters: int) -> NeighborVotes | None:
        """Share of each cluster among the neighbours of a sample; ``None`` without affinity."""
        return known_votes(graph_votes(self._graph, labels, n_clusters))

    @property
    def _graph(self) -> sp.csr_array:
        assert self.graph is not None
        return self.graph


# How much samples belong together.
Affinity = NoAffinity | GraphAffinity | AnchorAffinity


def build_affinity(
    weighted: View,
    settings: Settings,
    seed: int,
    runner: Runner,
    cache: ArrayCache,
    defaults: Defaults = DEFAULTS,
) -> Affinity:
    """The user's graph, one of the nearest neighbours, anchors for many samples, or none."""
    if settings.graph is None:
        return NoAffinity()
    if not settings.builds_graph:
        own = settings.graph
        return GraphAffinity(own, weighted, runner, defaults) if own.nnz else NoAffinity()
    batch = settings.batch
    many = weighted.remote or weighted.shape[0] > defaults.exact_rows
    if batch is None and settings.graph == "adaptive" and many and not settings.in_turn:
        return AnchorAffinity(weighted, settings.n_neighbors, seed, runner, cache, defaults)

    known: list[np.ndarray] | None = [] if settings.search == "exact" else None

    def build(n_neighbors: int) -> sp.csr_array:
        verbose = settings.verbose
        if batch is not None:
            return balanced_graph(weighted, batch, n_neighbors, runner, defaults)
        return neighbor_graph(
            weighted, n_neighbors, settings.search, runner, verbose=verbose, known=known
        )

    def make() -> sp.csr_array:
        return in_few_parts(Graphs(build), settings.n_neighbors, settings.clusters, defaults)

    graph = cached_graph(cache, f"graph-{seed}", make, weighted.shape[0])
    return GraphAffinity(graph, weighted, runner, defaults)
