"""The weightings of a fit by name, the default among them, and the best of several starts.

The default is the pipeline for fits, and the record for new rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.execution import Runner
from fnmf.factorization import GivenScheme, PaperScheme, Problem, Scheme, UniformScheme
from fnmf.factorization.terms import (
    GraphTies,
    Kinds,
    NoTies,
    ResidualWeighting,
)
from fnmf.relevance.new_rows import (
    comparable_rows,
    decode,
    encode_rows,
    predict_rows,
    row_lengths,
)
from fnmf.relevance.pipeline import Stage, clusters_of, fit, inputs_of
from fnmf.relevance.record import clusters_record, faint_features, finished_record
from fnmf.relevance.results import FactorizedClusters


class RelevanceScheme(Scheme):
    """The default fit.

    Parameters
    ----------
    problem : Problem
        Data and settings.
    runner : Runner
        Works through the blocks.
    """

    stages = tuple(Stage)

    def __init__(self, problem: Problem, runner: Runner) -> None:
        self.inputs = inputs_of(problem, runner)

    @classmethod
    def kinds(cls, settings: Settings) -> Kinds:
        ties = NoTies if settings.graph is None or settings.smoothness == 0 else GraphTies
        shared = settings.assignment == "shared" or settings.n_weightings == 1
        return Kinds(ResidualWeighting, ties, shared, layered=bool(settings.layers))

    @classmethod
    def most_iterations(cls, settings: Settings) -> int:
        return settings.max_iter

    # New rows enter in the units of the fit, and leave in those of the data.
    encode = staticmethod(encode_rows)
    decode = staticmethod(decode)
    predict = staticmethod(predict_rows)
    comparable_rows = staticmethod(comparable_rows)
    lengths = staticmethod(row_lengths)

    def start(self, seed: int) -> FactorizedClusters:
        """A fit from one seed."""
        return fit(self.inputs, seed)

    def fitted(self, start_result: FactorizedClusters) -> Fitted:
        """The record of a fit."""
        inputs = self.inputs
        view = start_result.found.statistics.view
        record = finished_record(start_result, inputs.problem, view, inputs.runner)
        left_out = faint_features(inputs.statistics.n_faint)
        return replace(record, warnings=(*left_out, *record.warnings))


class ClusterScheme(RelevanceScheme):
    """Clusters and features of the default fit, without its factorisation."""

    stages = (Stage.SEARCH, Stage.MEANS, Stage.AFFINITY, Stage.DESCRIBE)

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Nothing is minimised, so that all settings fit."""

    @classmethod
    def most_iterations(cls, settings: Settings) -> int:
        return 0

    def start(self, seed: int) -> Any:
        """Clusters from one seed."""
        return clusters_of(self.inputs, seed)

    def fitted(self, start_result: Any) -> Any:
        """The record of the clusters."""
        inputs = self.inputs
        view = inputs.statistics.view
        return clusters_record(start_result, inputs.problem, view, inputs.runner)


SCHEMES: dict[str, type[Scheme]] = {
    "relevance": RelevanceScheme,
    "paper": PaperScheme,
    "uniform": UniformScheme,
    "given": GivenScheme,
}


def best_start(
    problem: Problem, seeds: Iterable[int], runner: Runner, kind: type[Scheme] | None = None
) -> Fitted:
    """Fit from every seed with the scheme of the problem; the one of the best quality is kept.

    Of equal ones the first stays. What does not depend on the start is done once. ``kind`` is
    the scheme, if it is not that of the weighting.
    """
    scheme = (kind or SCHEMES[problem.settings.scheme])(problem, runner)
    best: Any = None
    for number, seed in enumerate(seeds):
        problem.observer.begin_start()
        start_result = scheme.start(int(seed))
        problem.observer.end_start()
        if problem.settings.verbose:
            print(f"[FNMF] start {number}: {start_result}")
        if best is None or start_result.quality > best.quality:
            best = start_result
        if start_result.ended:
            break
    assert best is not None
    return scheme.fitted(best)
