"""``weighting="relevance"`` as a scheme: the pipeline for fits, the record for new rows."""

from __future__ import annotations

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.execution import Runner
from fnmf.factorization import Problem, Scheme
from fnmf.factorization.terms import (
    EvenRows,
    GraphTies,
    Kinds,
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
from fnmf.relevance.pipeline import Stage, fit, inputs_of
from fnmf.relevance.record import finished_record
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
        return Kinds(ResidualWeighting, ties, EvenRows, UnitBasis, shared)

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
        return finished_record(start_result, inputs.problem, view, inputs.runner)
