"""What a model fitted with ``weighting="relevance"`` holds, and how new rows enter it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fnmf._fitting import graph_ties
from fnmf._relevance import RelevanceFit, Setting, weight_shares
from fnmf._validation import Data
from fnmf.engine.encode import encode
from fnmf.engine.moments import row_lengths, weighted_distances
from fnmf.engine.parallel import crew
from fnmf.engine.scaled import Scaling, scaled_view_of
from fnmf.engine.solver import Factors
from fnmf.engine.views import working_dtype
from fnmf.graph._rows import ScaledRows
from fnmf.model.diagnosis import effective_features
from fnmf.model.relevance import Moments, relevance

if TYPE_CHECKING:
    from fnmf._fnmf import FNMF


def relevance_attributes(
    fit: RelevanceFit, setting: Setting, factors: Factors, found: Moments | None
) -> dict[str, Any]:
    """Fitted attributes of a round, at its end or on the way."""
    omega = setting.weights.omega
    shares = weight_shares(omega)
    n = len(factors.V)
    P = factors.P if len(factors.P) == n else np.repeat(factors.P, n, axis=0)
    dtype = factors.V.dtype
    explained = relevance(found) if found is not None else np.zeros(fit.data.shape[1])
    total = explained.sum()
    importances = explained / total if total > 0 else shares.mean(axis=0)
    return {
        "components_": np.ascontiguousarray(factors.U.T),
        "embedding_": factors.V,
        "feature_weights_": shares.astype(dtype),
        "assignments_": P,
        "feature_relevance_": explained.astype(dtype),
        "feature_importances_": importances.astype(dtype),
        "effective_features_": effective_features(shares).astype(dtype),
        "graph_": setting.graph,
        "_fit_X": fit.data,
        "_caps": fit.caps,
        "_units": fit.units,
        "_omega": omega,
        "_prices": setting.weights.price,
        "_mean": setting.mean,
        "_row_scales": setting.row_scales,
        "_strength": setting.strength,
    }


def encode_relevance(model: FNMF, data: Data) -> np.ndarray:
    """Codes of new rows, in the units of the last round."""
    n = data.shape[0]
    root = np.sqrt(model._omega.max(axis=0)) * model._units
    with crew(model.n_jobs) as workers:
        raw = scaled_view_of(data, Scaling(np.ones(n), model._caps, root))
        lengths = row_lengths(raw, workers)
        scales = np.divide(1, lengths, out=np.ones(n), where=lengths > 0)
        view = scaled_view_of(data, Scaling(scales, model._caps, model._units))
        nothing = np.zeros(n, np.intp)
        prices = weighted_distances(view, model._mean[None], nothing, model._prices, workers)
    # Sparse rows keep all features, so dense rows must when they meet.
    drop = all(isinstance(X, np.ndarray) for X in (data, model._fit_X))
    fitted = ScaledRows(model._fit_X, Scaling(model._row_scales, model._caps, root), drop)
    queries = ScaledRows(data, Scaling(scales, model._caps, root), drop)
    pull, drag = graph_ties(model, fitted, queries, model._strength)
    one = len(model._omega) == 1 or model.assignment == "shared"
    shared = model.assignments_[0] if one else None
    V, _, _ = encode(
        view, model.components_.T, model._omega, True, shared, pull, drag, prices=prices
    )
    return V.astype(working_dtype(data.dtype))
