"""The objective: its terms together, and whether they fit each other and the solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fnmf.factorization.terms._basis import Basis
from fnmf.factorization.terms._row_weights import RowWeights
from fnmf.factorization.terms._rules import Rule
from fnmf.factorization.terms._ties import Ties
from fnmf.factorization.terms._weighting import Weighting


@dataclass(frozen=True)
class Kinds:
    """Which terms an objective has: enough to say whether they fit, before any work is done."""

    weighting: type[Weighting]
    ties: type[Ties]
    rows: type[RowWeights]
    basis: type[Basis]
    shared: bool

    def check(self, rule: Rule) -> None:
        """Raise unless the terms fit each other and the solver."""
        for reason in self._misfits(rule):
            raise ValueError(f"{reason}.")

    def _misfits(self, rule: Rule) -> Iterator[str]:
        for term in (self.weighting, self.ties, self.rows, self.basis):
            if (reason := term.misfit(rule)) is not None:
                yield reason
        if not self.rows.robust:
            return
        name = self.rows.__name__
        if not self.shared:
            yield (
                f"{name} counts samples by their residuals, which a sweep knows only if all "
                'samples share the assignment; use assignment="shared"'
            )
        if self.weighting.learned or self.weighting.on_residual:
            yield (
                f"{name} weighs samples while {self.weighting.__name__} weighs features, and the "
                "sums of a sweep hold one of the two; use fixed weights"
            )
        if self.ties.tied:
            yield (
                f"{name} weighs the data term of each sample but not what {self.ties.__name__} "
                "add, so a step of the codes could raise the objective; leave the ties out"
            )


@dataclass(frozen=True)
class Objective:
    """What is minimised.

    Attributes
    ----------
    weighting, ties, rows, basis
        The terms.
    shared : bool
        Whether all samples mix the weightings in the same way.
    """

    weighting: Weighting
    ties: Ties
    rows: RowWeights
    basis: Basis
    shared: bool

    @property
    def kinds(self) -> Kinds:
        """Which terms it has."""
        return Kinds(
            type(self.weighting), type(self.ties), type(self.rows), type(self.basis), self.shared
        )
