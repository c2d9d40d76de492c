"""Clusters in words: what sets each apart, in the units of the data.

Needs data and labels only, so it serves every model, the report and the command alike.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.display import counted, distinct_titles, side_by_side, trait, visible
from fnmf.statistics import Statistics, cluster_statistics, notice, standard_error, top_indices

__all__ = [
    "ClusterDescription",
    "ClusterDescriptions",
    "Contrast",
    "contrast_clusters",
    "describe_clusters",
]

# Less than this many standard deviations nobody would notice.
_LEAST_EFFECT = 0.4
_COLUMNS = ("cluster", "name", "size", "share", "feature", "direction", "here", "others", "effect")


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
    here, others : float
        What is told of both: medians, or means where medians say nothing.
    measure : {"median", "mean", "share"}
        What ``here`` and ``others`` are; a share, of a feature that is 0 or 1.
    """

    feature: str
    index: int
    mean: float
    rest: float
    effect: float
    here: float
    others: float
    measure: str

    @property
    def direction(self) -> str:
        """Whether the cluster lies higher or lower than the others."""
        return "higher" if self.effect > 0 else "lower"

    @property
    def figures(self) -> tuple[str, str]:
        """Here and elsewhere, for people."""
        if self.measure == "share":
            return f"{self.here:.0%}", f"{self.others:.0%}"
        here, others = side_by_side(self.here, self.others)
        return here, others

    @property
    def words(self) -> str:
        """In a name: ``many visits per month``, ``region north``."""
        return trait(self.feature, higher=self.effect > 0)

    @property
    def detail(self) -> str:
        """The technical figures, for a tooltip."""
        size = abs(self.effect)
        return f"{self.direction} by {size:.1f} standard deviations; {self.measure}s are told"

    def __str__(self) -> str:
        here, others = self.figures
        return f"{self.feature} {here} (others {others})"


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
    title : str
        A name suggested by what sets it apart; no two clusters have the same.
    """

    name: str
    size: int
    share: float
    contrasts: tuple[Contrast, ...]
    unit: str = "samples"
    title: str = ""

    @property
    def traits(self) -> str:
        """What sets it apart: ``visits 7.3 (others 2.6), days since last 10 (others 94)``."""
        if not self.contrasts and self.share == 1:
            return "all in one, with nothing to set them apart from"
        if not self.contrasts:
            return "no feature sets them clearly apart"
        return ", ".join(map(str, self.contrasts))

    def __str__(self) -> str:
        return f"{counted(self.size, self.unit)}: {self.traits}"


class ClusterDescriptions(list[ClusterDescription]):
    """Descriptions of all clusters: a list that shows itself as sentences, and as a table."""

    def __repr__(self) -> str:
        return "\n".join(f"{one.title or one.name}: {one}" for one in self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(one.title or one.name)}</th>"
            f"<td>{html.escape(counted(one.size, one.unit))} ({one.share:.0%})</td>"
            f"<td>{_differences_html(one)}</td></tr>"
            for one in self
        )
        head = "<tr><th>cluster</th><th>size</th><th>what sets it apart</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def to_frame(self) -> Any:
        """A data frame with a row for each feature of each cluster; needs pandas."""
        import pandas as pd

        rows = [
            (
                *(one.name, one.title, one.size, one.share),
                *(c.feature, c.direction, c.here, c.others, c.effect),
            )
            for one in self
            for c in one.contrasts
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS))


def describe_clusters(
    X: Any,
    labels: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    relevant: Any = None,
    unit: str = "samples",
    top: int = 4,
    statistics: Statistics | None = None,
) -> ClusterDescriptions:
    """Say in a sentence what sets each cluster apart.

    Parameters
    ----------
    X : array-like, sparse matrix or MappedCSR of shape (n_samples, n_features)
        The data in the units to be told; not necessarily as they were fitted.
    labels : array-like of shape (n_samples,)
        Cluster of each sample.
    feature_names : sequence of str, default=None
        Names of the features; their numbers if not given. Of features called ``column=value``
        only the clearest of a column is told.
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
    ClusterDescriptions
        A list of :class:`ClusterDescription` in the order of the sorted labels. A feature is named
        if it differs from the rest by 0.4 standard deviations and by three standard errors, or
        more where there are many.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.describe import describe_clusters
    >>> X = np.array([[9, 1, 5], [8, 2, 4], [9, 1, 4], [1, 7, 5], [2, 8, 4], [1, 9, 5.0]] * 5)
    >>> describe_clusters(
    ...     X, [0, 0, 0, 1, 1, 1] * 5, feature_names=["bread", "coffee", "day"], unit="customers"
    ... )
    high bread: 15 customers: bread 9 (others 1), coffee 1 (others 8)
    low bread: 15 customers: bread 1 (others 9), coffee 8 (others 1)
    """
    stats = cluster_statistics(X, labels) if statistics is None else statistics
    n_features = len(stats.spread)
    names = _checked_names(feature_names, n_features)
    if relevant is None:
        relevant = stats.explained > stats.chance
    allowed = np.asarray(relevant, dtype=bool)
    n_samples = int(stats.sizes.sum())
    found = []
    for c, size in enumerate(stats.sizes):
        effect = stats.effect[c]
        error = standard_error(stats.cells[c], stats.cells.sum(axis=0) - stats.cells[c])
        clear = np.abs(effect) >= np.maximum(_LEAST_EFFECT, notice(n_features) * error)
        strength = np.where(clear & allowed, np.abs(effect), 0.0)
        members = stats.codes == c
        figures = stats.means[c], stats.rest[c], effect
        chosen = of_different_columns(strength, names, top)
        contrasts = tuple(_contrast(X, k, names, figures, (members, ~members)) for k in chosen)
        name = visible(stats.names[c])
        found.append(ClusterDescription(name, int(size), float(size) / n_samples, contrasts, unit))
    words = [[contrast.words for contrast in one.contrasts] for one in found]
    titles = distinct_titles(words, ["all" if one.share == 1 else "in between" for one in found])
    return ClusterDescriptions(
        replace(one, title=title) for one, title in zip(found, titles, strict=True)
    )


def contrast_clusters(
    X: Any,
    labels: Any,
    first: Any,
    second: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    top: int = 8,
) -> tuple[Contrast, ...]:
    """Features in which two clusters differ, clearest first; ``others`` is the second one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data in the units to be told.
    labels : array-like of shape (n_samples,)
        Cluster of each sample.
    first, second : label
        The two clusters.
    feature_names : sequence of str, default=None
        Names of the features; their numbers if not given.
    top : int, default=8
        Most features.

    Returns
    -------
    tuple of Contrast

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.describe import contrast_clusters
    >>> X = np.tile([[9, 1], [8, 2], [1, 2], [2, 1], [5, 5], [5, 6.0]], (5, 1))
    >>> print(contrast_clusters(X, [0, 0, 1, 1, 2, 2] * 5, 0, 1, top=1)[0])
    feature 0 8.5 (others 1.5)
    """
    stats = cluster_statistics(X, labels)
    names = _checked_names(feature_names, len(stats.spread))
    known = stats.names.tolist()
    for one in (first, second):
        if one not in known:
            raise ValueError(f"{one!r} is no cluster; there are {known}.")
    a, b = known.index(first), known.index(second)
    scale = np.where(stats.spread > 0, stats.spread, 1.0)
    effect = (stats.means[a] - stats.means[b]) / scale
    error = standard_error(stats.cells[a], stats.cells[b])
    clear = np.abs(effect) >= np.maximum(_LEAST_EFFECT, notice(len(names)) * error)
    chosen = of_different_columns(np.where(clear, np.abs(effect), 0.0), names, top)
    figures = stats.means[a], stats.means[b], effect
    rows = stats.codes == a, stats.codes == b
    return tuple(_contrast(X, k, names, figures, rows) for k in chosen)


def _checked_names(names: Sequence[Any] | None, n_features: int) -> list[str]:
    if names is None:
        return [f"feature {k}" for k in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but X has {n_features} features.")
    return [visible(name) for name in names]


def of_different_columns(strength: np.ndarray, names: list[str], top: int) -> list[int]:
    """The strongest features; of the values of one category only the strongest."""
    chosen: dict[str | int, int] = {}
    # A category has at most some thirty values.
    for k in top_indices(strength, 32 * top):
        if strength[k] > 0 and len(chosen) < top:
            chosen.setdefault(names[k].partition("=")[0] if "=" in names[k] else k, k)
    return list(chosen.values())


def _contrast(
    X: Any,
    k: int,
    names: list[str],
    figures: tuple[np.ndarray, np.ndarray, np.ndarray],
    rows: tuple[np.ndarray, np.ndarray],
) -> Contrast:
    """A feature with its medians in two sets of rows, or what says more."""
    mean, rest, effect = (float(array[k]) for array in figures)
    column = _column(X, k)
    measure, here, others = "mean", mean, rest
    if column is not None:
        known = ~np.isnan(column)
        middle = [float(np.median(column[part & known])) for part in rows]
        if np.isin(column[known], (0, 1)).all():
            measure = "share"
        elif (middle[0] - middle[1]) * effect > 0:
            # Of counts that are mostly 0, and of small clusters, medians may say nothing.
            measure, (here, others) = "median", middle
    return Contrast(names[k], k, mean, rest, effect, here, others, measure)


def _column(X: Any, k: int) -> np.ndarray | None:
    """One column of data in memory."""
    if sp.issparse(X):
        matrix: Any = X
        return np.asarray(matrix[:, [k]].toarray()).ravel()
    return np.asarray(X[:, k], dtype=float) if isinstance(X, np.ndarray) else None


def _differences_html(one: ClusterDescription) -> str:
    if not one.contrasts:
        return html.escape(one.traits)
    return ", ".join(
        f'<span title="{html.escape(c.detail, quote=True)}">{html.escape(str(c))}</span>'
        for c in one.contrasts
    )
