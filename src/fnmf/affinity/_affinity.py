"""The affinity between samples in a fit: a graph of all of them, a few anchors, or none.

Each gives the clusters that it sees, and the votes of a sample's neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from fnmf._settings import Settings
from fnmf.affinity._adaptive import neighbor_graph
from fnmf.affinity._anchor_moves import cluster_by_anchors
from fnmf.affinity._anchors import Nearest, anchor_mass, anchor_votes, nearest_anchors, vote
from fnmf.affinity._balanced import balanced_graph
from fnmf.affinity._confidence import NeighborVotes, graph_votes, known_votes
from fnmf.affinity._partition import best_of, connected_parts, partition
from fnmf.affinity._small import Graphs, in_few_parts, small_graphs
from fnmf.data import View, check_structure, drawn
from fnmf.execution import RowArray, Runner
from fnmf.kmeans import quick_kmeans
from fnmf.relevance.defaults import DEFAULTS, Defaults

Arrays = dict[str, np.ndarray]
_PARTS = ("data", "indices", "indptr")


class ArrayCache(Protocol):
    """Keeps arrays that are expensive to compute."""

    def cached(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays kept under a name; made, and kept, if there are none."""


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
        raise _unfit(name) from error
    return graph


def cached_nearest(
    cache: ArrayCache, name: str, make: Callable[[], Nearest], sizes: tuple[int, int]
) -> Nearest:
    """The nearest anchors of each sample, for these numbers of samples and anchors."""
    found = cache.cached(name, lambda: make()._asdict())
    if set(found) != set(Nearest._fields):
        raise _unfit(name)
    nearest, (n, anchors) = Nearest(**found), sizes
    indices, shares = nearest
    sound = indices.ndim == 2 and indices.shape == shares.shape and len(indices) == n
    sound = sound and indices.dtype.kind == "i" and shares.dtype.kind == "f"
    if not sound or indices.min(initial=0) < 0 or indices.max(initial=0) >= anchors:
        raise _unfit(name)
    return nearest


def _unfit(name: str) -> ValueError:
    return ValueError(f"{name} of the checkpoint does not fit the data; begin anew without it.")


class KnownLabels(NamedTuple):
    """Clusters of some of the rows."""

    rows: np.ndarray
    labels: np.ndarray


class Affinity(Protocol):
    """How much samples belong together."""

    graph: sp.csr_array | None
    anchors: np.ndarray | None
    # Roots of what samples count; ``None`` if all count once.
    root: np.ndarray | None

    def clusters(
        self, n_clusters: int, seed: int, known: KnownLabels | None = None
    ) -> RowArray | None:
        """Labels, started also from those ``known`` of some rows; ``None`` without affinity."""

    def parts(self, n_clusters: int) -> RowArray | None:
        """Labels of the connected parts, if these are the clusters; see ``connected_parts``."""

    def refine_labels(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        """The better of ``labels`` and of the clusters of the codes."""

    def votes(self, labels: RowArray, n_clusters: int) -> NeighborVotes | None:
        """Share of each cluster among the neighbours of a sample; ``None`` without affinity."""


class NoAffinity:
    """Samples on their own."""

    graph: sp.csr_array | None = None
    anchors: np.ndarray | None = None
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
        defaults, others = self._defaults, []
        if known is not None:
            others = [extend_labels(known, self._weighted, self._runner, defaults=defaults)]
        return partition(self._graph, n_clusters, seed, others=others, defaults=defaults).labels

    def parts(self, n_clusters: int) -> RowArray | None:
        found = connected_parts(self._graph, n_clusters, self._defaults)
        return None if found is None else found.labels

    def refine_labels(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        rng, defaults = np.random.RandomState(0), self._defaults
        starts = range(defaults.starts)
        own = self._weighted.weights
        others = [quick_kmeans(codes, n_clusters, rng, own) for _ in starts]
        return best_of(self._graph, [labels, *others], n_clusters, defaults).labels

    def votes(self, labels: RowArray, n_clusters: int) -> NeighborVotes | None:
        return known_votes(graph_votes(self._graph, labels, n_clusters))

    @property
    def _graph(self) -> sp.csr_array:
        assert self.graph is not None
        return self.graph


class AnchorAffinity:
    """Some of the samples are anchors; two samples are alike as far as they share anchors.

    Parameters
    ----------
    weighted : View
        Rows in which distances are measured.
    n_neighbors : int
        Anchors of a sample.
    seed : int
        Seed of the choice of anchors.
    runner : Runner
        Works through the blocks.
    cache : ArrayCache
        Keeps the anchors of the samples.
    """

    graph: sp.csr_array | None = None

    def __init__(
        self,
        weighted: View,
        n_neighbors: int,
        seed: int,
        runner: Runner,
        cache: ArrayCache,
        defaults: Defaults = DEFAULTS,
    ) -> None:
        n, self.root = weighted.shape[0], weighted.root
        chosen = drawn(n, defaults.n_anchors, np.random.RandomState(seed))
        self.anchors: np.ndarray | None = chosen
        self._view = weighted.subset(chosen)
        here = self._view
        self._rows = here.narrowed(here.take(np.arange(len(chosen))))
        self._neighbors, self._weighted, self._runner = n_neighbors, weighted, runner
        self._defaults = defaults
        sizes = n, len(chosen)

        def search() -> Nearest:
            return nearest_anchors(weighted, self._rows, n_neighbors, runner)

        # Those of remote rows stay on the workers, and are searched again rather than cached.
        keeps = not weighted.remote
        name = f"anchors-{seed}"
        self.nearest = cached_nearest(cache, name, search, sizes) if keeps else search()
        self.mass = anchor_mass(self.nearest, len(chosen), weighted, runner)

    def clusters(
        self, n_clusters: int, seed: int, known: KnownLabels | None = None
    ) -> RowArray | None:
        view, runner, defaults, others = self._weighted, self._runner, self._defaults, []
        graphs = small_graphs(self._rows, self._view.weights)
        graph = in_few_parts(graphs, self._neighbors, n_clusters, defaults)
        if known is not None:
            others = [extend_labels(known, view, runner, self._view, defaults)]
        found = partition(graph, n_clusters, seed, others=others, defaults=defaults)
        return cluster_by_anchors(self.nearest, self.mass, found.labels, view, runner, defaults)

    def parts(self, n_clusters: int) -> RowArray | None:
        return None

    def refine_labels(self, labels: RowArray, codes: RowArray, n_clusters: int) -> RowArray:
        return labels

    def votes(self, labels: RowArray, n_clusters: int) -> NeighborVotes | None:
        # Votes of all samples at once would take as much room as their codes.
        return NeighborVotes(self.nearest, _AnchorVotes(labels[self.anchors], n_clusters))


@dataclass(frozen=True)
class _AnchorVotes:
    """Counts the votes of the anchors of samples."""

    anchor_labels: np.ndarray
    n_clusters: int

    def __call__(self, indices: np.ndarray, shares: np.ndarray) -> np.ndarray:
        votes = anchor_votes(Nearest(indices, shares), self.anchor_labels, self.n_clusters)
        return votes.astype(shares.dtype)


def extend_labels(
    known: KnownLabels,
    weighted: View,
    runner: Runner,
    queries: View | None = None,
    defaults: Defaults = DEFAULTS,
) -> np.ndarray:
    """Labels of all rows, or of ``queries``, from the nearest of those that are known."""
    if queries is None and len(known.rows) == weighted.shape[0]:
        return known.labels
    there = weighted.narrowed(weighted.take(known.rows))
    asked = weighted if queries is None else queries
    nearest = nearest_anchors(asked, there, defaults.nearest_rows, runner)
    return vote(nearest, known.labels)


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

    def build(n_neighbors: int) -> sp.csr_array:
        verbose = settings.verbose
        if batch is not None:
            return balanced_graph(weighted, batch, n_neighbors, runner, defaults)
        return neighbor_graph(weighted, n_neighbors, settings.search, runner, verbose=verbose)

    def make() -> sp.csr_array:
        return in_few_parts(Graphs(build), settings.n_neighbors, settings.clusters, defaults)

    graph = cached_graph(cache, f"graph-{seed}", make, weighted.shape[0])
    return GraphAffinity(graph, weighted, runner, defaults)
