"""``weighting="relevance"`` as a scheme: the pipeline for fits, the record for new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.execution import Runner
from fnmf.factorization import Problem, Scheme
from fnmf.factorization.terms import (
    EvenRows,
    GraphTies,
    Kinds,
    LayeredBasis,
    NoTies,
    ResidualWeighting,
    UnitBasis,
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
        basis = LayeredBasis if settings.layers else UnitBasis
        shared = settings.assignment == "shared" or settings.n_weightings == 1
        return Kinds(ResidualWeighting, ties, EvenRows, basis, shared)

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
