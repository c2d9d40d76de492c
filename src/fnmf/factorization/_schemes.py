"""The schemes that search nothing: even weights, the article's, and those that a user gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fnmf._fitted import Fitted
from fnmf._settings import Settings
from fnmf.data import View
from fnmf.exceptions import WeightCollapseWarning
from fnmf.execution import Runner
from fnmf.factorization._plain import PlainScheme, plain_scaling
from fnmf.factorization._problem import Problem
from fnmf.factorization.terms import PaperWeighting, Weighting, collapsed, effective_features


class UniformScheme(PlainScheme):
    """All features weigh the same."""

    @staticmethod
    def decode(fitted: Fitted, codes: np.ndarray) -> np.ndarray:
        rows = codes @ fitted.components
        weights = fitted.feature_weights[0]
        return np.divide(rows, weights, out=np.zeros_like(rows), where=weights > 0)


class PaperScheme(PlainScheme):
    """Weights on the simplex, learned as in the article."""

    decodes = False
    weighting_kind = PaperWeighting

    @classmethod
    def refreshes(cls, settings: Settings) -> int:
        return (settings.graph_refresh or 0) if settings.builds_graph else 0

    def weighting(self) -> Weighting:
        return PaperWeighting(float(self.settings.diversity), self.live)

    def _weight_warnings(self, model: Fitted, energy: np.ndarray) -> tuple[Warning, ...]:
        mean = model.feature_importances.astype(np.float64)
        if not collapsed(mean, energy, self.settings.n_components):
            return ()
        count = float(effective_features(mean))
        return (
            WeightCollapseWarning(
                f"The feature weights have collapsed: they rest on about {count:.0f} of "
                f"{np.count_nonzero(energy)} features, which the model fits without learning "
                'anything. Use weighting="relevance" for weights that mean something, or '
                'weighting="uniform" for none.'
            ),
        )


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
