"""Missing cells filled anew, from the rows nearest in the features that count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fnmf.affinity import filled_anew, refilled
from fnmf.data import Scaling, View
from fnmf.execution import Runner
from fnmf.relevance.choice import Choice, SampleSearch
from fnmf.relevance.defaults import DEFAULTS, Defaults
from fnmf.relevance.prepare import FeatureStatistics, Weights, capped_statistics, prepare
from fnmf.relevance.tables import TableColumns


def refilled_by_choice(
    statistics: FeatureStatistics, choice: Choice, runner: Runner, defaults: Defaults = DEFAULTS
) -> FeatureStatistics:
    """Rows filled by what was chosen, their own caps kept; unchanged if nothing is missing."""
    how = choice.units, choice.weights, choice.unit, choice.columns
    return _refilled(statistics, *how, runner, defaults)


def refilled_by_search(
    statistics: FeatureStatistics,
    search: SampleSearch,
    runner: Runner,
    defaults: Defaults = DEFAULTS,
) -> FeatureStatistics:
    """The same by the best candidate of a search."""
    best = search.candidates[0]
    omega = (best.weights * search.context.duplicate_weights)[None]
    how = search.units(best), Weights(omega, omega), best.unit, search.columns
    return _refilled(statistics, *how, runner, defaults)


def most_unused(weights: Weights) -> bool:
    """Whether more than half of the features have no weight."""
    return bool(2 * np.count_nonzero(weights.top) < len(weights.top))


def _refilled(
    statistics: FeatureStatistics,
    units: np.ndarray,
    weights: Weights,
    unit: bool,
    columns: TableColumns | None,
    runner: Runner,
    defaults: Defaults,
) -> FeatureStatistics:
    if not statistics.view.incomplete:
        return statistics
    capped = statistics if columns is None else statistics.capped_at(columns.caps)
    if most_unused(weights):
        # What useless features were filled by would stay in the way.
        rows, factors = capped.view.constant(1.0), units * np.sqrt(weights.top)
        features = Scaling(rows, capped.caps, factors)
        capped = _with_view(capped, filled_anew(capped.view, features, runner, defaults))
    for _ in range(defaults.missing_rounds):
        rough = prepare(capped, units, weights, unit, runner)
        view = refilled(capped.view, rough.weighted, runner, defaults)
        capped = _with_view(capped, view)
    return _with_view(statistics, capped.view)


def _with_view(statistics: FeatureStatistics, view: View) -> FeatureStatistics:
    """The same of rows that are filled otherwise."""
    again = capped_statistics(view, statistics.typical, statistics.caps, statistics.n_faint)
    return replace(again, signed=statistics.signed)
