"""Missing cells filled anew, from the rows nearest in the features that count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fnmf.affinity import refilled
from fnmf.execution import Runner
from fnmf.relevance.choice import SampleSearch
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.prepare import FeatureStatistics, Weights, capped_statistics, prepare


def refilled_by_weights(
    statistics: FeatureStatistics,
    units: np.ndarray,
    weights: Weights,
    unit: bool,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> FeatureStatistics:
    """Rows filled from the nearest by their weighted features."""
    for _ in range(defaults.missing_rounds):
        rough = prepare(statistics, units, weights, unit, runner)
        view = refilled(statistics.view, rough.weighted, runner, defaults)
        again = capped_statistics(view, statistics.typical, statistics.caps, statistics.n_faint)
        statistics = replace(again, signed=statistics.signed)
    return statistics


def refilled_by_search(
    statistics: FeatureStatistics,
    search: SampleSearch,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> FeatureStatistics:
    """Rows filled by what the best candidate of a search weights, their own caps kept.

    Unchanged if nothing is missing.
    """
    best = search.candidates[0]
    omega = (best.weights * search.context.duplicate_weights)[None]
    if not statistics.view.incomplete:
        return statistics
    capped = statistics if search.columns is None else statistics.capped_at(search.columns.caps)
    filled = refilled_by_weights(
        capped, search.units(best), Weights(omega, omega), best.unit, runner, defaults
    )
    again = capped_statistics(filled.view, statistics.typical, statistics.caps, statistics.n_faint)
    return replace(again, signed=statistics.signed)
