"""Affinity by anchors: two samples are alike as far as they share anchors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._adaptive import in_few_parts, products_of, small_graphs
from fnmf.affinity._anchor_moves import cluster_by_anchors
from fnmf.affinity._anchors import Nearest, anchor_mass, anchor_votes, nearest_anchors, vote
from fnmf.affinity._confidence import NeighborVotes
from fnmf.affinity._partition import partition
from fnmf.data import View, drawn
from fnmf.execution import RowArray, Runner
from fnmf.relevance.defaults import DEFAULTS, Defaults

Arrays = dict[str, np.ndarray]


class ArrayCache(Protocol):
    """Keeps arrays that are expensive to compute."""

    def cached(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays kept under a name; made, and kept, if there are none."""


class KnownLabels(NamedTuple):
    """Clusters of some of the rows."""

    rows: np.ndarray
    labels: np.ndarray


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
        graphs = small_graphs(products_of(self._rows), self._view.weights)
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
    queries: View,
    defaults: Defaults = DEFAULTS,
) -> np.ndarray:
    """Labels of ``queries`` from the nearest of the rows whose clusters are known."""
    there = weighted.narrowed(weighted.take(known.rows))
    nearest = nearest_anchors(queries, there, defaults.nearest_rows, runner)
    return vote(nearest, known.labels)


def cached_nearest(
    cache: ArrayCache, name: str, make: Callable[[], Nearest], sizes: tuple[int, int]
) -> Nearest:
    """The nearest anchors of each sample, for these numbers of samples and anchors."""
    found = cache.cached(name, lambda: make()._asdict())
    if set(found) != set(Nearest._fields):
        raise unfit(name)
    nearest, (n, anchors) = Nearest(**found), sizes
    indices, shares = nearest
    sound = indices.ndim == 2 and indices.shape == shares.shape and len(indices) == n
    sound = sound and indices.dtype.kind == "i" and shares.dtype.kind == "f"
    if not sound or indices.min(initial=0) < 0 or indices.max(initial=0) >= anchors:
        raise unfit(name)
    return nearest


def unfit(name: str) -> ValueError:
    return ValueError(f"{name} of the checkpoint does not fit the data; begin anew without it.")
