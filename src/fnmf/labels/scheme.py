"""A fit that labels and links guide, as a scheme, and the record it leaves."""

# ruff: noqa: RUF009 (_kept makes fields of a dataclass)

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fnmf._fitted import Fitted, _kept
from fnmf.labels.guided import Spoken, guided_clusters
from fnmf.relevance.pipeline import factorize
from fnmf.relevance.results import FactorizedClusters
from fnmf.relevance.scheme import RelevanceScheme


@dataclass(frozen=True, kw_only=True)
class FittedLabels(Fitted):
    """A fit that was guided, explained at :class:`fnmf.SemiFNMF`; hidden ones serve new rows.

    Attributes
    ----------
    by_graph, by_clusters, held_shares : ndarray of shape (r, k)
        Log probabilities by graph and clusters of the rows kept, and their probabilities.
    held_reached : ndarray of shape (r,)
        Whether a label reaches them.
    slopes, levels : ndarray of shape (2, d, k) and (2, k)
        The linear opinions.
    pool, offsets : ndarray of shape (4,) and (k,)
        How opinions are pooled, and what class sizes add.
    spread_by : ndarray of shape (d,) or None
        Weights of the features that labels spread by, if they are not those of the fit.
    """

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
    slopes: np.ndarray | None = _kept("_slopes", "?dk")
    levels: np.ndarray | None = _kept("_levels", "?k")
    pool: np.ndarray | None = _kept("_pool", "?")
    spread_by: np.ndarray | None = _kept("_spread_by", "d")
    offsets: np.ndarray | None = _kept("_offsets", "k")


@dataclass(frozen=True)
class GuidedStart:
    """A guided fit from one seed."""

    fit: FactorizedClusters
    spoken: Spoken

    @property
    def quality(self) -> float:
        """By which starts are compared."""
        return self.fit.quality

    @property
    def ended(self) -> bool:
        """Whether an observer wants no further start."""
        return self.fit.ended

    def __str__(self) -> str:
        return str(self.fit)


class GuidedScheme(RelevanceScheme):
    """The default fit, guided by what the user knows of some rows, if anything."""

    def start(self, seed: int) -> Any:
        """A guided fit from one seed."""
        guidance = self.inputs.problem.guidance
        if guidance is None:
            return super().start(seed)
        found, spoken = guided_clusters(self.inputs, guidance, seed)
        return GuidedStart(factorize(self.inputs, found, seed), spoken)

    def fitted(self, start_result: Any) -> Any:
        """The record of a guided fit, or of one that nothing guides."""
        if isinstance(start_result, FactorizedClusters):
            return super().fitted(start_result)
        spoken, record = start_result.spoken, super().fitted(start_result.fit)
        anchors = start_result.fit.found.affinity.anchors
        held = slice(None) if anchors is None else anchors
        shares = spoken.shares
        values = {field.name: getattr(record, field.name) for field in fields(record)}
        order = np.argsort(-shares, axis=1, kind="stable")
        values["sample_confidence"] = shares.max(axis=1).astype(record.embedding.dtype)
        values["second_labels"] = order[:, min(1, shares.shape[1] - 1)]
        return FittedLabels(
            **values,
            classes=spoken.classes,
            label_distributions=shares,
            label_relevance=spoken.told,
            labelled=self.inputs.problem.guidance.known.codes >= 0,
            reached=spoken.reached,
            suspicious_labels=spoken.suspicious,
            violated_links=spoken.violated,
            by_graph=spoken.graph[held],
            by_clusters=spoken.clusters[held],
            held_shares=shares[held],
            held_reached=spoken.reached[held],
            slopes=np.stack([one.slopes for one in spoken.linear]),
            levels=np.stack([one.level for one in spoken.linear]),
            pool=spoken.weights,
            spread_by=spoken.by,
            offsets=spoken.offsets,
        )
