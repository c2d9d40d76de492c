"""The fitted record of a default fit, at its end or between two iterations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from fnmf._fitted import Fitted, FittedClusters
from fnmf._settings import Settings
from fnmf.affinity import LabelledRows, confidence, neighbors_of
from fnmf.data import IncompleteView, View
from fnmf.exceptions import AmbiguousClustersWarning, NoStructureWarning, WeightCollapseWarning
from fnmf.execution import RowArray, Runner
from fnmf.factorization import Problem, anchor_codes, every_row, kept_rows, with_rounds
from fnmf.factorization.solver import ExecutionContext, Factors
from fnmf.factorization.terms import Ties, effective_features, empty_share, overlap
from fnmf.relevance.choice import Choice
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.lloyd import mean_coordinates
from fnmf.relevance.mixture import Mixture
from fnmf.relevance.results import FactorizedClusters, FoundClusters
from fnmf.relevance.weights import qvalues, relevance, weight_shares
from fnmf.statistics import Moments


def clusters_record(
    found: FoundClusters, problem: Problem, view: View, runner: Runner
) -> FittedClusters:
    """The record of clusters without factors.

    Where neighbours do not tell the second-best cluster, distances to the means do.
    """
    assert found.moments is not None
    dtype, defaults = found.prepared.view.dtype, problem.defaults
    k = problem.settings.clusters
    near = mean_coordinates(found.prepared, found.weights, found.labels, k, runner)
    said = fit_warnings(found.choice, found.moments, problem.settings, defaults)
    return FittedClusters(
        **_for_new_rows(found, view, dtype, runner, defaults),
        **_about_clusters(found, near, problem, view, runner),
        warnings=tuple(said),
    )


def finished_record(
    fit: FactorizedClusters, problem: Problem, view: View, runner: Runner
) -> Fitted:
    """The record of a whole fit."""
    found, settings, moments = fit.found, problem.settings, fit.found.moments
    assert moments is not None
    defaults = problem.defaults
    choice, prepared = found.choice, found.prepared
    model = unfinished_record(found, fit.codes.ties, fit.result.factors, view, runner, defaults)
    weights, dtype = model.feature_weights.astype(np.float64), model.embedding.dtype
    mean = prepared.mean / prepared.columns.units
    energy = (moments.total + view.total * mean**2) * choice.units**2
    history = with_rounds([*fit.before, fit.result.history])
    return replace(
        model,
        **_about_clusters(found, model.embedding, problem, view, runner),
        weighting_overlap=overlap(weights).astype(dtype),
        empty_weight=empty_share(weights, energy, defaults).astype(dtype),
        objective=fit.result.objective,
        history=history,
        n_iter=len(history),
        smoothness=fit.codes.smoothness,
        kmeans=fit.kmeans,
        warnings=tuple(fit_warnings(choice, moments, settings, defaults)),
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
    prepared, shares, dtype = found.prepared, weight_shares(found.weights.omega), factors.V.dtype
    codes, anchors = None, found.affinity.anchors
    if anchors is not None:
        codes = anchor_codes(found.affinity, factors.V, ExecutionContext(prepared.view, runner))
    return Fitted(
        **_for_new_rows(found, view, dtype, runner, defaults),
        components=np.ascontiguousarray(factors.U.T),
        embedding=factors.V,
        feature_weights=shares.astype(dtype),
        assignments=every_row(factors.P, view),
        effective_features=effective_features(shares).astype(dtype),
        held_codes=codes,
        prices=found.weights.price,
        mean=prepared.mean,
        strength=ties.strength,
        layers=_layer_components(factors),
    )


def _for_new_rows(
    found: FoundClusters, view: View, dtype: np.dtype, runner: Runner, defaults: Defaults
) -> dict[str, Any]:
    """What a record keeps of features, and of rows among which new ones find their neighbours."""
    prepared, anchors, omega = found.prepared, found.affinity.anchors, found.weights.omega
    moments = found.moments
    explained = relevance(moments, defaults) if moments is not None else np.zeros(omega.shape[1])
    total = explained.sum()
    importances = explained / total if total > 0 else weight_shares(omega).mean(axis=0)
    X, scales = kept_rows(view), np.empty(0)
    if anchors is not None:
        X, scales = view.subset(anchors).X, prepared.scales[anchors]
    elif not view.remote:
        scales = prepared.scales
    return {
        "feature_relevance": explained.astype(dtype),
        "feature_importances": importances.astype(dtype),
        "graph": found.affinity.graph,
        "rows": X,
        "caps": prepared.columns.caps,
        "units": prepared.columns.units,
        "omega": omega,
        "row_scales": np.array(scales, np.float64),
        "row_scale": prepared.row_scale,
        "missing_neighbors": _fills_kept(found, view, runner, defaults),
    }


def _fills_kept(
    found: FoundClusters, view: View, runner: Runner, defaults: Defaults
) -> np.ndarray | None:
    """Which of the rows kept their missing cells are filled from; ``None`` if none is missing."""
    if not isinstance(view, IncompleteView):
        return None
    anchors = found.affinity.anchors
    if anchors is None:
        return view.fill.nearest
    here = found.prepared.weighted.subset(anchors)
    wanted = min(defaults.nearest_rows, len(anchors) - 1)
    return neighbors_of(here, wanted, runner)[0].astype(np.int32)


def _about_clusters(
    found: FoundClusters, codes: RowArray, problem: Problem, view: View, runner: Runner
) -> dict[str, Any]:
    """What is said about the final clusters; ``codes`` tell how near samples are to others."""
    labels, k, anchors = found.labels, problem.settings.clusters, found.affinity.anchors
    moments, columns = found.moments, found.choice.columns
    assert moments is not None
    said: dict[str, Any] = {}
    if problem.sure:
        rows = LabelledRows(found.affinity.votes(labels, k), codes, labels)
        sure, second = confidence(rows, k, found.stability, view, runner, problem.defaults)
        said = {
            "sample_confidence": sure,
            "second_labels": second,
            "cluster_stability": found.stability,
        }
    effect = found.batch_effect
    if effect is not None:
        said |= {"batch_relevance": effect.relevance, "batch_mixing": effect.mixing}
    return {
        **said,
        "feature_qvalues": qvalues(moments, found.choice.real).astype(codes.dtype),
        "column_kinds": None if columns is None else columns.kinds,
        "centres": found.centres,
        **_about_mixture(found.mixture),
        "labels": labels,
        "held_labels": None if anchors is None or labels is None else labels[anchors],
        "chosen": [one.summary() for one in found.choice.candidates],
        "structure": found.choice.structure,
        "structure_found": found.choice.real,
    }


def _about_mixture(mixture: Mixture | None) -> dict[str, Any]:
    """What tells the groups of a mixture apart, beside their centres."""
    if mixture is None:
        return {}
    low, offset = mixture.curves
    return {
        "precisions": mixture.precisions,
        "intercepts": mixture.intercepts,
        "cell_offsets": mixture.offsets,
        "log_low": low,
        "log_offset": offset,
    }


def _layer_components(factors: Factors) -> tuple[np.ndarray, ...] | None:
    """The basis of each layer, components as rows; ``None`` if there is only one."""
    if factors.layers is None:
        return None
    return tuple(np.ascontiguousarray(layer.T, factors.V.dtype) for layer in factors.layers)


def faint_features(count: int) -> tuple[Warning, ...]:
    """That some features are nothing beside the largest one, and what to do."""
    if not count:
        return ()
    shown = (
        f"{count} features are so much smaller than the largest one that they cannot be seen "
        "beside it and were left out; bring the columns of X to common units, for example with "
        "sklearn.preprocessing.MinMaxScaler."
    )
    return (UserWarning(shown),)


def fit_warnings(
    choice: Choice, found: Moments, settings: Settings, defaults: Defaults = DEFAULTS
) -> list[Warning]:
    """Warnings, the gravest first.

    That the factorisation used all its iterations is none: weights and clusters are found before.
    """
    said: list[Warning] = []
    if choice.real is False:
        said.append(
            NoStructureWarning(
                "No structure beyond chance was found: clusters from one half of the features do "
                "not come back in the other. The labels cut the data into parts that may mean "
                "nothing; see structure_found_."
            )
        )
    elif _ambiguous(choice, defaults):
        said.append(
            AmbiguousClustersWarning(
                "Two ways to cluster these rows hold up equally well and lead to different "
                "clusters; see chosen_ for both, cluster_stability_ for the clusters that they "
                "share, and compare n_clusters or leave columns out."
            )
        )
    if settings.column_kinds is not None and choice.columns is None and choice.candidates:
        said.append(
            UserWarning(
                "column_kinds has no effect: X is not treated as a table, which has at most 100 "
                "columns of different units."
            )
        )
    used, live = _carrying(choice, found, defaults)
    few = min(settings.clusters, max(defaults.negligible * live, 1))
    if used <= few and used < defaults.minor * live:
        what = "features" if choice.columns is None else "columns"
        said.append(
            WeightCollapseWarning(
                f"The clusters rest on {used} of {live} {what}; more {what} may carry them in "
                f"other ways. Compare row_norm and column_units, or leave such {what} out."
            )
        )
    return said


def _carrying(choice: Choice, found: Moments, defaults: Defaults) -> tuple[int, int]:
    """Features, or columns of a table, that nearly all distances are of, and how many vary."""
    scatter = choice.weights.top * choice.units**2 * found.total
    groups = np.arange(len(scatter)) if choice.columns is None else choice.columns.groups
    scatter = np.sort(np.bincount(groups, scatter))[::-1]
    share = np.cumsum(scatter) / max(float(scatter.sum()), np.finfo(float).tiny)
    used = int(np.searchsorted(share, 1 - defaults.small)) + 1
    return used, len(np.unique(groups[found.live]))


def _ambiguous(choice: Choice, defaults: Defaults) -> bool:
    """Whether another candidate that is as good has clusters nearer to chance than to these."""
    rivals = choice.rivals(1 - defaults.small)
    return any(adjusted_rand_score(choice.labels, other) < 0.5 for other in rivals)
