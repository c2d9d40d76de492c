"""A fit that labels and links guide, as a scheme, and the record it leaves."""

# ruff: noqa: RUF009 (_kept makes fields of a dataclass)

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from fnmf._fitted import Fitted, FittedClusters, _kept
from fnmf.labels.guided import GuidedClasses, guided_clusters
from fnmf.labels.rows import ClassTables, confidence_of, second_class
from fnmf.relevance.pipeline import factorize, with_moments
from fnmf.relevance.results import FoundClusters
from fnmf.relevance.scheme import ClusterScheme, RelevanceScheme


@dataclass(frozen=True, kw_only=True)
class _Classes:
    """Classes, explained at :class:`fnmf.SemiFNMF`; hidden ones are those of ``ClassTables``."""

    classes: np.ndarray | None = _kept("classes_", "k")
    label_distributions: np.ndarray | None = _kept("label_distributions_", "nk")
    label_relevance: np.ndarray | None = _kept("label_relevance_", "d")
    labelled: np.ndarray | None = _kept("labelled_", "n")
    reached: np.ndarray | None = _kept("reached_", "n")
    suspicious_labels: np.ndarray | None = _kept("suspicious_labels_", None)
    violated_links: np.ndarray | None = _kept("violated_links_", "v?")
    by_graph: np.ndarray | None = _kept("_by_graph", "rk")
    by_clusters: np.ndarray | None = _kept("_by_clusters", "rk")
    held_shares: np.ndarray | None = _kept("_held_shares", "rk")
    held_reached: np.ndarray | None = _kept("_held_reached", "r")
    slopes: np.ndarray | None = _kept("_slopes", "dk")
    level: np.ndarray | None = _kept("_level", "k")
    pool: np.ndarray | None = _kept("_pool", "?")
    spread_by: np.ndarray | None = _kept("_spread_by", "d")
    offsets: np.ndarray | None = _kept("_offsets", "k")

    @property
    def tables(self) -> ClassTables:
        """What classes of new rows are read from."""
        return ClassTables(**{name: getattr(self, kept) for name, kept in _TABLES.items()})


# Fields of ``ClassTables`` and of the record.
_TABLES = {
    "graph": "by_graph",
    "clusters": "by_clusters",
    "shares": "held_shares",
    "reached": "held_reached",
    "slopes": "slopes",
    "level": "level",
    "weights": "pool",
    "offsets": "offsets",
    "spread_by": "spread_by",
}


@dataclass(frozen=True, kw_only=True)
class FittedClassClusters(_Classes, FittedClusters):
    """Clusters that were guided."""


@dataclass(frozen=True, kw_only=True)
class FittedLabels(_Classes, Fitted):
    """A factorisation that was guided."""


@dataclass(frozen=True)
class GuidedStart:
    """A guided fit from one seed."""

    fit: Any
    classes: GuidedClasses

    @property
    def quality(self) -> float:
        """By which starts are compared."""
        return float(self.fit.quality)

    @property
    def ended(self) -> bool:
        """Whether an observer wants no further start."""
        return bool(self.fit.ended)

    def __str__(self) -> str:
        return str(self.fit)


class GuidedScheme(RelevanceScheme):
    """The default fit, guided by what the user knows of some rows, if anything."""

    record: ClassVar[Any] = FittedLabels

    def start(self, seed: int) -> Any:
        """A guided fit from one seed."""
        guidance = self.inputs.problem.guidance
        if guidance is None:
            return super().start(seed)
        found, classes = guided_clusters(self.inputs, guidance, seed)
        return GuidedStart(self._completed(found, seed), classes)

    def _completed(self, found: FoundClusters, seed: int) -> Any:
        return factorize(self.inputs, found, seed)

    def fitted(self, start_result: Any) -> Any:
        """The record of a guided fit, or of one that nothing guides."""
        if not isinstance(start_result, GuidedStart):
            return super().fitted(start_result)
        classes, record = start_result.classes, super().fitted(start_result.fit)
        view, runner = self.inputs.statistics.view, self.inputs.runner
        values = {field.name: getattr(record, field.name) for field in fields(record)}
        values["sample_confidence"] = confidence_of(classes.shares, view, runner)
        values["second_labels"] = second_class(classes.shares, view, runner)
        return self.record(
            **values,
            **{kept: getattr(classes.tables, name) for name, kept in _TABLES.items()},
            classes=classes.classes,
            label_distributions=classes.shares,
            label_relevance=classes.relevance,
            labelled=self.inputs.problem.guidance.known.codes >= 0,
            reached=classes.reached,
            suspicious_labels=classes.suspicious,
            violated_links=classes.violated,
        )


class GuidedClusterScheme(GuidedScheme, ClusterScheme):
    """Classes and features, without a factorisation."""

    record = FittedClassClusters

    def _completed(self, found: FoundClusters, seed: int) -> Any:
        return with_moments(self.inputs, found)
