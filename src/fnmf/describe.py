"""Clusters in words: what sets each apart, in the units of the data.

Needs data and labels only, so it serves every model, the report and the command alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fnmf.display import counted, listed, number, visible
from fnmf.statistics import Statistics, cluster_statistics, notice, top_indices

__all__ = [
    "ClusterDescription",
    "Contrast",
    "Statistics",
    "cluster_statistics",
    "describe_clusters",
    "top_indices",
]

# Less than this many standard deviations nobody would notice.
_LEAST_EFFECT = 0.4
_HARDLY, _CLEARLY = 0.1, 1.5


@dataclass(frozen=True)
class Contrast:
    """One feature that sets a cluster apart.

    Attributes
    ----------
    feature : str
        Its name.
    index : int
        Its position.
    mean, rest : float
        Mean in the cluster and elsewhere, in the units of the data.
    effect : float
        Their difference in standard deviations of the feature.
    """

    feature: str
    index: int
    mean: float
    rest: float
    effect: float

    @property
    def word(self) -> str:
        """How the cluster stands to the rest: much, more, less, little or hardly any."""
        if self.effect > 0:
            return "much" if self.mean >= _CLEARLY * self.rest else "more"
        if self.mean <= _HARDLY * self.rest:
            return "hardly any"
        return "little" if _CLEARLY * self.mean <= self.rest else "less"

    def __str__(self) -> str:
        return f"{self.feature} {number(self.mean)} (elsewhere {number(self.rest)})"


@dataclass(frozen=True)
class ClusterDescription:
    """A cluster in a sentence and in figures.

    Attributes
    ----------
    name : str
        Its label.
    size : int
        Its number of samples.
    share : float
        Its share of all samples.
    contrasts : tuple of Contrast
        The features that set it apart, clearest first.
    unit : str
        What a sample is, in the plural.
    """

    name: str
    size: int
    share: float
    contrasts: tuple[Contrast, ...]
    unit: str = "samples"

    @property
    def traits(self) -> str:
        """The features by how they stand out: ``much bread and milk, little coffee``."""
        groups: dict[str, list[str]] = {}
        for word in ("much", "more", "less", "little", "hardly any"):
            for contrast in self.contrasts:
                if contrast.word == word:
                    groups.setdefault(word, []).append(contrast.feature)
        if not groups and self.share == 1:
            return "all in one, with nothing to set them apart from"
        if not groups:
            return "no feature sets them clearly apart"
        return ", ".join(f"{word} {listed(names)}" for word, names in groups.items())

    def __str__(self) -> str:
        return f"{counted(self.size, self.unit)}: {self.traits}"


def describe_clusters(
    X: Any,
    labels: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    relevant: Any = None,
    unit: str = "samples",
    top: int = 4,
    statistics: Statistics | None = None,
) -> list[ClusterDescription]:
    """Say in a sentence what sets each cluster apart.

    Parameters
    ----------
    X : array-like, sparse matrix or MappedCSR of shape (n_samples, n_features)
        The data in the units to be told; not necessarily as they were fitted.
    labels : array-like of shape (n_samples,)
        Cluster of each sample.
    feature_names : sequence of str, default=None
        Names of the features; their numbers if not given.
    relevant : array-like of bool of shape (n_features,), default=None
        Features that may be named. Default are those that the clusters explain beyond chance.
    unit : str, default="samples"
        What a sample is, in the plural.
    top : int, default=4
        Most features for a cluster.
    statistics : Statistics, default=None
        What :func:`cluster_statistics` has found, if it is at hand.

    Returns
    -------
    list of ClusterDescription
        In the order of the sorted labels. A feature is named if it differs from the rest by
        0.4 standard deviations and by three standard errors, or more where there are many.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.describe import describe_clusters
    >>> X = np.array([[9, 1, 5], [8, 2, 4], [9, 1, 4], [1, 7, 5], [2, 8, 4], [1, 9, 5.0]] * 5)
    >>> for cluster in describe_clusters(
    ...     X, [0, 0, 0, 1, 1, 1] * 5, feature_names=["bread", "coffee", "day"], unit="customers"
    ... ):
    ...     print(cluster)
    15 customers: much bread, little coffee
    15 customers: much coffee, little bread
    >>> print(cluster.contrasts[0])
    bread 1.333 (elsewhere 8.667)
    """
    stats = cluster_statistics(X, labels) if statistics is None else statistics
    n_features = len(stats.spread)
    if feature_names is None:
        feature_names = [f"feature {k}" for k in range(n_features)]
    if len(feature_names) != n_features:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but X has {n_features} features."
        )
    if relevant is None:
        relevant = stats.explained > stats.chance
    allowed = np.asarray(relevant, dtype=bool)
    n_samples = int(stats.sizes.sum())
    found = []
    for c, size in enumerate(stats.sizes):
        effect = stats.effect[c]
        error = np.sqrt(1 / size + 1 / max(n_samples - size, 1))
        clear = np.abs(effect) >= max(_LEAST_EFFECT, notice(n_features) * error)
        strength = np.where(clear & allowed, np.abs(effect), 0.0)
        contrasts = tuple(
            Contrast(
                visible(feature_names[k]),
                k,
                float(stats.means[c, k]),
                float(stats.rest[c, k]),
                float(effect[k]),
            )
            for k in top_indices(strength, top)
            if strength[k] > 0
        )
        name = visible(stats.names[c])
        found.append(ClusterDescription(name, int(size), float(size) / n_samples, contrasts, unit))
    return found
