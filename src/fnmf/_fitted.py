"""What a fit leaves behind: one record, from which attributes, model files and new rows read."""

# ruff: noqa: RUF009 (_kept makes fields of a dataclass)

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, get_type_hints

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from fnmf.data import Data


def _kept(attribute: str, shape: str | None, default: Any = None, **traits: bool) -> Any:
    """A field that an estimator keeps under a name, with its shape in letters.

    Letters stand for sizes that must be the same everywhere: n samples, d features, c
    components, m weightings, k clusters, r rows kept, g of the graph; ``None`` is no array.
    ``live``: the solver goes on to change it. ``optional``: kept even if it is ``None``.
    """
    return field(default=default, metadata={"attribute": attribute, "shape": shape, **traits})


def present(value: Any) -> Any:
    """What a fit of this kind always has."""
    assert value is not None
    return value


@dataclass(frozen=True, kw_only=True)
class FittedClusters:
    """Clusters and features, explained at :class:`fnmf.RelevanceClusterer`.

    Hidden ones serve new rows.

    Attributes
    ----------
    missing_neighbors : ndarray of shape (r, k) or None
        The rows that missing cells of ``rows`` are filled from; ``None`` if none is missing.
    rows_without_values : ndarray of int, or None
        Training rows of which every cell is missing.
    rows : array, CSR or MappedCSR
        Training data, among which neighbours of new rows are looked up; a reference.
    caps, units : ndarray of shape (d,)
        Largest values let through, and factors that bring features to common units.
    omega : ndarray of shape (m, d)
        Weights on the features.
    row_scales : ndarray of shape (n,)
        One over the lengths of the rows.
    row_scale : float or None
        The one factor of all rows; ``None`` if each was brought to unit length.
    held_labels : ndarray of shape (r,) or None
        Labels of ``rows``, where these are only some of the training data.
    centres : ndarray of shape (k, d) or None
        Means of the clusters in scaled rows, where these decide who belongs to them.
    precisions : ndarray of shape (k, d) or None
        One over the variances about ``centres``, where clusters are the groups of a mixture.
    intercepts : ndarray of shape (k,) or None
        What is added to the log likelihood of each of these groups.
    cell_offsets : ndarray of shape (k, d) or None
        Part of each feature in that, which a row without a value of it goes without.
    log_low, log_offset : ndarray of shape (d,) or None
        Its features with an offset enter as the logarithm of how far above the low value they are,
        plus it.
    graph_rows : ndarray of shape (n,) or None
        Which of ``rows`` and of the graph each sample is, -1 if it does not count; ``None`` where
        all samples are different and count once.
    warnings : tuple of Warning
        What the user should be told.
    """

    # Fields that new rows need together, each kept under its name with an underscore.
    serving: ClassVar[tuple[str, ...]] = ("caps", "units", "omega", "row_scales")

    feature_importances: np.ndarray = _kept("feature_importances_", "d")
    feature_relevance: np.ndarray | None = _kept("feature_relevance_", "d")
    feature_qvalues: np.ndarray | None = _kept("feature_qvalues_", "d")
    column_kinds: np.ndarray | None = _kept("column_kinds_", "d")
    graph: sp.csr_array | None = _kept("graph_", "gg", optional=True)
    graph_rows: np.ndarray | None = _kept("graph_rows_", "n")
    labels: np.ndarray | None = _kept("labels_", "n")
    sample_confidence: np.ndarray | None = _kept("sample_confidence_", "n")
    second_labels: np.ndarray | None = _kept("second_labels_", "n")
    cluster_stability: np.ndarray | None = _kept("cluster_stability_", "k")
    n_clusters: int | None = _kept("n_clusters_", None)
    k_scores: np.ndarray | None = _kept("k_scores_", None)
    k_interval: tuple[int, int] | None = _kept("k_interval_", None)
    k_also: tuple[int, ...] | None = _kept("k_also_", None)
    chosen: list[dict[str, Any]] | None = _kept("chosen_", None)
    structure: float | None = _kept("structure_", None, optional=True)
    structure_found: bool | None = _kept("structure_found_", None, optional=True)
    batch_relevance: np.ndarray | None = _kept("batch_relevance_", "d")
    batch_mixing: np.ndarray | None = _kept("batch_mixing_", "k")
    rows: Data = _kept("_fit_X", "rd")
    caps: np.ndarray | None = _kept("_caps", "d")
    units: np.ndarray | None = _kept("_units", "d")
    omega: np.ndarray | None = _kept("_omega", "md")
    row_scales: np.ndarray | None = _kept("_row_scales", "r")
    row_scale: float | None = _kept("_row_scale", None)
    held_labels: np.ndarray | None = _kept("_held_labels", "r")
    centres: np.ndarray | None = _kept("_centres", "kd")
    precisions: np.ndarray | None = _kept("_precisions", "kd")
    intercepts: np.ndarray | None = _kept("_intercepts", "k")
    cell_offsets: np.ndarray | None = _kept("_cell_offsets", "kd")
    log_low: np.ndarray | None = _kept("_log_low", "d")
    log_offset: np.ndarray | None = _kept("_log_offset", "d")
    missing_neighbors: np.ndarray | None = _kept("_missing_neighbors", None)
    rows_without_values: np.ndarray | None = _kept("rows_without_values_", None)
    warnings: tuple[Warning, ...] = ()

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Self:
        """The record of an estimator that keeps it."""
        names = {f.name: f.metadata["attribute"] for f in fields(cls) if f.metadata}
        values: dict[str, Any] = {name: attributes.get(kept) for name, kept in names.items()}
        return cls(**values)

    @classmethod
    def shapes(cls) -> dict[str, str]:
        """Shapes of the attributes that are arrays, in letters."""
        kept = (f.metadata for f in fields(cls) if f.metadata)
        return {m["attribute"]: m["shape"] for m in kept if m["shape"] is not None}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All attributes that an estimator may keep."""
        return tuple(f.metadata["attribute"] for f in fields(cls) if f.metadata)

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """Types of the attributes that have no shape."""
        types = get_type_hints(cls)
        kept = {f.name: f.metadata for f in fields(cls) if f.metadata}
        return {m["attribute"]: types[name] for name, m in kept.items() if m["shape"] is None}

    @classmethod
    def lacking(cls, attributes: Collection[str], *, relevance: bool = False) -> list[str]:
        """Attributes without which a fitted model cannot work, among those it does not have.

        What every fit leaves behind must be there, and of what serves new rows of the relevance
        weighting all or nothing; all if the model is known to be ``relevance``.
        """
        needed = {
            f.metadata["attribute"] for f in fields(cls) if f.metadata and "None" not in str(f.type)
        }
        serving = {f"_{name}" for name in cls.serving}
        if relevance or serving & set(attributes):
            needed |= serving
        return sorted(needed - set(attributes))

    @classmethod
    def serves_relevance(cls, attributes: Collection[str]) -> bool:
        """Whether a model that keeps these serves new rows by the relevance weighting."""
        return "_omega" in attributes

    def attributes(self, *, copy: bool = False) -> dict[str, Any]:
        """What an estimator keeps; with ``copy`` a later iteration changes nothing in it."""
        found = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if not f.metadata or (value is None and not f.metadata.get("optional")):
                continue
            live = copy and f.metadata.get("live")
            found[f.metadata["attribute"]] = value.copy() if live else value
        return found


@dataclass(frozen=True, kw_only=True)
class Fitted(FittedClusters):
    """A fitted factorisation, explained at :class:`fnmf.FNMF`; hidden ones serve new rows.

    Attributes
    ----------
    prices : ndarray of shape (m, d)
        Prices of leaving features out.
    mean : ndarray of shape (d,)
        Mean of the scaled rows.
    held_codes : ndarray of shape (r, c) or None
        Codes of ``rows``, where these are only some of the training data.
    strength : float
        β in the units of the data.
    """

    serving: ClassVar[tuple[str, ...]] = (*FittedClusters.serving, "prices", "mean", "strength")

    components: np.ndarray = _kept("components_", "cd")
    embedding: np.ndarray = _kept("embedding_", "nc", live=True)
    feature_weights: np.ndarray = _kept("feature_weights_", "md")
    assignments: np.ndarray = _kept("assignments_", "nm", live=True)
    effective_features: np.ndarray = _kept("effective_features_", "m")
    weighting_overlap: np.ndarray | None = _kept("weighting_overlap_", "mm")
    empty_weight: np.ndarray | None = _kept("empty_weight_", "m")
    n_components: int | None = _kept("n_components_", None)
    objective: float | None = _kept("objective_", None)
    history: np.ndarray | None = _kept("history_", None)
    n_iter: int | None = _kept("n_iter_", None)
    kmeans: KMeans | None = _kept("_kmeans", None)
    prices: np.ndarray | None = _kept("_prices", "md")
    mean: np.ndarray | None = _kept("_mean", "d")
    held_codes: np.ndarray | None = _kept("_held_codes", "rc")
    strength: float | None = _kept("_strength", None)
    smoothness: float | None = _kept("smoothness_", None)
    layers: tuple[np.ndarray, ...] | None = _kept("layer_components_", None)
