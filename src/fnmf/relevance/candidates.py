"""What the candidates of a search share, and what each of them is.

Features that repeat others count less from the beginning: copies share one weight, correlated ones
what they tell together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import (
    SpectralStarts,
    connected_parts,
    in_few_parts,
    small_graphs,
    spectral_starts,
)
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.sample import SampleTable
from fnmf.relevance.table_columns import CATEGORY
from fnmf.relevance.weights import relevance
from fnmf.statistics import CONSTANT, Moments

# Bounds working memory; sums by column do not depend on it.
_COLUMNS_AT_ONCE = 4096


@dataclass(frozen=True)
class SearchContext:
    """What all candidates share."""

    table: SampleTable
    n_clusters: int
    n_neighbors: int
    refreshes: int
    seed: int
    duplicate_weights: np.ndarray
    independence: np.ndarray
    related: np.ndarray
    groups: np.ndarray
    kinds: np.ndarray | None = None
    defaults: Defaults = DEFAULTS
    # Rounds begin with the graph that others have ended with.
    _graphs: dict[tuple[bool, bytes], sp.csr_array] = field(init=False, default_factory=dict)
    _starts: dict[int, SpectralStarts] = field(init=False, default_factory=dict)
    _within: dict[bytes, SearchContext] = field(init=False, default_factory=dict)

    def within(self, features: np.ndarray) -> SearchContext:
        """The same with missing cells of some features filled from these alone."""
        if self.table.observed is None:
            return self
        key = features.tobytes()
        if key not in self._within:
            self._within[key] = replace(self, table=self.table.filled_within(features))
        return self._within[key]

    @property
    def crowded(self) -> bool:
        """Whether clusters have too few rows on average to compare what was found by them."""
        return self.table.shape[0] < self.defaults.fewest_rows * self.n_clusters

    def graph(self, factors: np.ndarray, unit: bool) -> sp.csr_array:
        """Neighbours of the rows with their features times ``factors``; the same if asked again."""
        key = unit, factors.tobytes()
        if key not in self._graphs:
            graphs = small_graphs(self.table.products(factors, unit), self.table.weights)
            number = self.n_neighbors, self.n_clusters
            self._graphs[key] = in_few_parts(graphs, *number, self.defaults)
        return self._graphs[key]

    def clusters(self, graph: sp.csr_array, known: Sequence[np.ndarray] = ()) -> np.ndarray:
        """What holds together in one of these graphs; ``known`` partitions are improved too."""
        parts = connected_parts(graph, self.n_clusters, self.defaults)
        if parts is not None:
            return parts.labels
        if id(graph) not in self._starts:
            many = self.n_clusters, self.seed, self.defaults.starts // 2
            self._starts[id(graph)] = spectral_starts(graph, *many)
        return self._starts[id(graph)].improved(known, self.defaults).labels

    def moments(self, labels: np.ndarray) -> Moments:
        """What clusters look like in every feature."""
        return self.table.moments(labels, self.n_clusters)

    def explained(self, moments: Moments) -> float:
        """Number of independent features that clusters explain."""
        return float(relevance(moments, self.defaults) @ self.independence)


@dataclass(frozen=True)
class Candidate:
    """A preparation and what it found.

    Attributes
    ----------
    rows : {"unit", "own"}
        Whether samples were brought to unit length.
    columns : {"own", "typical", "gated", "spread", "range"}
        Units of the features: their own, typical values at 1, their own once those that typical
        units left out are gone, standard deviations at 1, or a common range.
    clusters : {"graph", "means", "mixture"}
        Whether clusters are what holds together in the graph, what is near their means, or the
        groups of a mixture of independent columns.
    weights, prices : ndarray of shape (d,)
        Weight of each feature, and price of leaving it out, before copies share them.
    labels : ndarray of shape (n,)
        Clusters of the sample.
    modularity : float
        Of the clusters on the graph of the weighted rows.
    explained : float
        Independent features that the clusters explain.
    score : float
        By which candidates are compared: ``candidate_score``, or how well clusters of a table
        agree between halves of the columns and of the rows.
    halves : tuple of (ndarray of int, ndarray of int)
        Halves of the rows of a table, and the clusters of each.
    pairs : tuple of (ndarray of int, ndarray of int)
        Clusters of the sample from both halves of the columns of a table, for several splits.
    """

    rows: str
    columns: str
    clusters: str
    weights: np.ndarray
    prices: np.ndarray
    labels: np.ndarray
    modularity: float
    explained: float
    score: float
    halves: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    pairs: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    @property
    def unit(self) -> bool:
        return self.rows == "unit"

    def summary(self) -> dict[str, Any]:
        """What there is to show of it."""
        return {
            "rows": self.rows,
            "columns": self.columns,
            "clusters": self.clusters,
            "features": int(np.count_nonzero(self.weights)),
            "modularity": self.modularity,
            "explained": self.explained,
            "score": self.score,
        }

    def __str__(self) -> str:
        return (
            f"rows {self.rows}, columns {self.columns}, clusters by {self.clusters}: "
            f"{np.count_nonzero(self.weights)} features, modularity {self.modularity:.3f}, "
            f"explained {self.explained:.2f}, score {self.score:.2f}"
        )


def search_context(
    table: SampleTable,
    groups: np.ndarray,
    n_clusters: int,
    n_neighbors: int,
    refreshes: int,
    seed: int,
    defaults: Defaults = DEFAULTS,
    kinds: np.ndarray | None = None,
) -> SearchContext:
    """What is known before any candidate is tried.

    ``groups`` says which features are one column, ``kinds`` what kind of column of a table.
    """
    category = None if kinds is None else kinds == CATEGORY
    shares, relatives = duplicate_weights(groups, category), redundancy(table, defaults)
    numbers = n_clusters, n_neighbors, refreshes, seed
    return SearchContext(table, *numbers, shares, *relatives, groups, kinds, defaults)


def duplicate_weights(groups: np.ndarray, category: np.ndarray | None = None) -> np.ndarray:
    """What each feature counts so that copies count once, a category one less than its levels."""
    members = np.bincount(groups)[groups]
    return np.where(False if category is None else category, members - 1.0, 1.0) / members


class Redundancy(NamedTuple):
    """How features go with others.

    Attributes
    ----------
    independence : ndarray of shape (d,)
        1 / Σ_l ρ_kl², the share of each feature in what its relatives tell together.
    related : ndarray of bool of shape (d,)
        Whether the sum is larger than features without relatives would have it.
    """

    independence: np.ndarray
    related: np.ndarray


def redundancy(table: SampleTable, defaults: Defaults = DEFAULTS) -> Redundancy:
    """Correlations of every feature with all others.

    Chance alone adds (d − 1)/n to the sum of squares, which is taken off, with a standard deviation
    of √(2 (d − 1))/n.
    """
    step = max(1, table.shape[0] // defaults.most_correlated)
    # Rows count once each: how features are related does not depend on how often a row repeats.
    few = replace(table.complete(), rows=table.rows[::step], weights=None)
    live, scale = standard_scales(few)
    n, d = few.shape
    products = _row_products(few, scale)
    found = np.empty(d)
    for start in range(0, d, _COLUMNS_AT_ONCE):
        part = slice(start, start + _COLUMNS_AT_ONCE)
        columns = few.rows[:, part] if not few.sparse else few.rows[:, part].toarray()
        found[part] = np.einsum("ik,ik->k", columns, products @ columns) * scale[part] ** 2
    others = max(int(np.count_nonzero(live)) - 1, 0)
    sums = found - others / n
    related = live & (sums - 1 > defaults.significant * np.sqrt(2 * others) / n)
    return Redundancy(np.where(live, 1 / np.maximum(sums, 1), 1), related)


def standard_scales(table: SampleTable) -> tuple[np.ndarray, np.ndarray]:
    """Which features vary, and one over the lengths of these about their means."""
    energy = table.scatter + table.shape[0] * table.mean**2
    live = table.scatter > CONSTANT * energy
    return live, np.where(live, 1 / np.sqrt(np.where(live, table.scatter, 1)), 0)


def _row_products(table: SampleTable, scale: np.ndarray) -> Any:
    """Products of the standardised rows, (n, n); all its rows sum to 0."""
    squares, mean = (scale**2).astype(np.float32), table.mean.astype(np.float32)
    if table.sparse:
        rows: Any = table.rows.multiply(squares).tocsr()
        products, along = (rows @ table.rows.T).toarray(), np.asarray(rows @ mean)
    else:
        parts = []
        for part in table.parts():
            rows, own = table.rows[:, part] * squares[part], table.rows[:, part]
            parts.append((rows @ own.T, rows @ mean[part]))
        products, along = (sum(found[1:], found[0]) for found in zip(*parts, strict=True))
    length = np.float32(table.mean**2 @ scale**2)
    return products - along[:, None] - along + length
