"""The scheme of weights that the user gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.data import View
from fnmf.execution import Runner
from fnmf.factorization._plain import UniformScheme, plain_scaling
from fnmf.factorization._problem import Problem


class GivenScheme(UniformScheme):
    """One weighting, as the user gives it; neighbours are those in the weighted features."""

    def __init__(self, problem: Problem, runner: Runner) -> None:
        settings = replace(problem.settings, n_weightings=1)
        super().__init__(replace(problem, settings=settings), runner)

    @staticmethod
    def is_shared(settings: Settings) -> bool:
        """One weighting leaves nothing to assign."""
        return True

    @classmethod
    def rows_of_graph(cls, fitted: Fitted, view: View, runner: Runner) -> tuple[View, View]:
        return cls.comparable_rows(fitted, view, runner)

    def _start_weights(self) -> np.ndarray:
        """Shares of the features that are not zero everywhere."""
        weights = np.where(self.live, self.settings.weighting, 0.0)
        return (weights / max(weights.sum(), np.finfo(float).tiny))[None]

    def _neighbor_graph(self, view: View, name: str) -> sp.csr_array:
        weighted = view.scaled(plain_scaling(view.shape[0], self.settings.weighting), drop=True)
        return super()._neighbor_graph(weighted, name)
