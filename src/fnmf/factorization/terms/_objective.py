"""The objective: its terms together, and whether they fit each other and the solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fnmf.factorization.terms._ties import Ties
from fnmf.factorization.terms._weighting import Weighting


@dataclass(frozen=True)
class Rule:
    """How codes and basis are updated.

    Attributes
    ----------
    name : str
        As the user spells it.
    in_turn : bool
        Whether samples are updated one after the other, each seeing the newest codes of those
        it is tied to. All samples must then be at hand, and their ties as lists of neighbours.
    """

    name: str
    in_turn: bool = False


RULES = {rule.name: rule for rule in (Rule("mu"), Rule("mu-fast"), Rule("hals", in_turn=True))}


class EvenRows:
    """All samples alike: squared residuals."""

    # Whether a sample counts with one over the length of its residual.
    robust: ClassVar[bool] = False


class RobustRows(EvenRows):
    """Lengths of residuals instead of their squares, the ℓ2,1 loss."""

    robust: ClassVar[bool] = True


class FreeBasis:
    """Components of any length."""

    # Whether components have unit length, and whether they are a product of several layers.
    unit: ClassVar[bool] = False
    layered: ClassVar[bool] = False


class UnitBasis(FreeBasis):
    """Components of unit length.

    The term of the ties is then β Σ_a ‖u_a‖² v_aᵀ L v_a, which no rescaling of a component
    changes, so the objective falls although the columns of U are set to unit length.
    """

    unit: ClassVar[bool] = True


class LayeredBasis(UnitBasis):
    """A product of non-negative layers, with components of unit length."""

    layered: ClassVar[bool] = True


@dataclass(frozen=True)
class Kinds:
    """Which terms an objective has: enough to say whether they fit, before any work is done."""

    weighting: type[Weighting]
    ties: type[Ties]
    rows: type[EvenRows]
    basis: type[FreeBasis]
    shared: bool

    def check(self, rule: Rule) -> None:
        """Raise unless the terms fit each other and the solver."""
        for reason in self._misfits(rule):
            raise ValueError(f"{reason}.")

    def _misfits(self, rule: Rule) -> Iterator[str]:
        if rule.in_turn and not self.ties.listed:
            yield (
                f'solver="{rule.name}" updates samples one after the other and needs the ties of '
                f"each as a list of neighbours, which {self.ties.__name__} does not have; use "
                '"mu" or "mu-fast"'
            )
        if rule.in_turn and self.basis.layered:
            yield (
                f'solver="{rule.name}" minimises over one coordinate of the basis after the other, '
                'which layers do not have; use "mu" or "mu-fast"'
            )
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
    rows: EvenRows
    basis: FreeBasis
    shared: bool

    @property
    def kinds(self) -> Kinds:
        """Which terms it has."""
        return Kinds(
            type(self.weighting), type(self.ties), type(self.rows), type(self.basis), self.shared
        )
