"""The fitted record of a default fit, at its end or between two iterations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fnmf._fitted import Fitted
from fnmf.affinity import LabelledRows, confidence, neighbors_of
from fnmf.data import IncompleteView, View
from fnmf.execution import Runner
from fnmf.factorization import Problem, anchor_codes, every_row, kept_rows, with_rounds
from fnmf.factorization.solver import ExecutionContext, Factors
from fnmf.factorization.terms import Ties, effective_features, empty_share, overlap
from fnmf.relevance.choice import weight_shares
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.fit_warnings import fit_warnings
from fnmf.relevance.results import FactorizedClusters, FoundClusters
from fnmf.relevance.weights import qvalues, relevance


def finished_record(
    fit: FactorizedClusters, problem: Problem, view: View, runner: Runner
) -> Fitted:
    """The record of a whole fit."""
    found, settings, labels, moments = (
        fit.found,
        problem.settings,
        fit.found.labels,
        fit.found.moments,
    )
    assert moments is not None
    defaults = problem.defaults
    choice, prepared, anchors = found.choice, found.prepared, found.affinity.anchors
    model = unfinished_record(found, fit.ties, fit.result.factors, view, runner, defaults)
    weights, dtype = model.feature_weights.astype(np.float64), model.embedding.dtype
    mean = prepared.mean / prepared.columns.units
    energy = (moments.total + len(model.embedding) * mean**2) * choice.units**2
    history = with_rounds([fit.result.history])
    if problem.sure:
        votes = found.affinity.votes(labels, settings.clusters)
        rows = LabelledRows(votes, model.embedding, labels)
        sure, second = confidence(rows, settings.clusters, found.stability, view, runner, defaults)
        model = replace(
            model,
            sample_confidence=sure,
            second_labels=second,
            cluster_stability=found.stability,
        )
    return replace(
        model,
        feature_qvalues=qvalues(moments, found.structure_found).astype(dtype),
        weighting_overlap=overlap(weights).astype(dtype),
        empty_weight=empty_share(weights, energy, defaults).astype(dtype),
        objective=fit.result.objective,
        history=history,
        n_iter=len(history),
        kmeans=fit.kmeans,
        centres=found.centres,
        labels=labels,
        held_labels=None if anchors is None or labels is None else labels[anchors],
        chosen=[one.summary() for one in choice.candidates],
        structure=found.structure,
        structure_found=found.structure_found,
        warnings=tuple(fit_warnings(choice, moments, fit.result.converged, settings, defaults)),
    )


def unfinished_record(
    found: FoundClusters,
    ties: Ties,
    factors: Factors,
    view: View,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> Fitted:
    """The record of factors as they are now; relevance is 0 until moments are known.

    ``view`` are the rows of X as they are.
    """
    prepared, anchors, omega = found.prepared, found.affinity.anchors, found.weights.omega
    shares, dtype, moments = weight_shares(omega), factors.V.dtype, found.moments
    explained = relevance(moments, defaults) if moments is not None else np.zeros(omega.shape[1])
    total = explained.sum()
    importances = explained / total if total > 0 else shares.mean(axis=0)
    X, codes, nearest = kept_rows(view), None, None
    if isinstance(view, IncompleteView):
        nearest = view.fill.nearest
    scales = np.empty(0)
    if anchors is not None:
        X, scales = view.subset(anchors).X, prepared.scales[anchors]
        if isinstance(view, IncompleteView):
            here = prepared.weighted.subset(anchors)
            wanted = min(defaults.missing_neighbors, len(anchors) - 1)
            nearest = neighbors_of(here, wanted, runner)[0].astype(np.int32)
        codes = anchor_codes(found.affinity, factors.V, ExecutionContext(prepared.view, runner))
    elif not view.remote:
        scales = prepared.scales
    return Fitted(
        components=np.ascontiguousarray(factors.U.T),
        embedding=factors.V,
        feature_weights=shares.astype(dtype),
        assignments=every_row(factors.P, view),
        feature_relevance=explained.astype(dtype),
        feature_importances=importances.astype(dtype),
        effective_features=effective_features(shares).astype(dtype),
        graph=found.affinity.graph,
        rows=X,
        held_codes=codes,
        caps=prepared.columns.caps,
        units=prepared.columns.units,
        omega=omega,
        prices=found.weights.price,
        mean=prepared.mean,
        row_scales=np.array(scales, np.float64),
        row_scale=prepared.row_scale,
        strength=ties.strength,
        missing_neighbors=nearest,
    )
