"""What is asked of the basis U beside being non-negative."""

from typing import ClassVar, Protocol

from fnmf.factorization.terms._rules import AnyRule, Rule


class Basis(Protocol):
    """What a solver needs to know of the basis."""

    # Whether components have unit length.
    unit: ClassVar[bool]

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


class FreeBasis(AnyRule):
    """Components of any length."""

    unit: ClassVar[bool] = False


class UnitBasis(AnyRule):
    """Components of unit length.

    The term of the ties is then β Σ_a ‖u_a‖² v_aᵀ L v_a, which no rescaling of a component
    changes, so the objective falls although the columns of U are set to unit length.
    """

    unit: ClassVar[bool] = True


class LayeredBasis(UnitBasis):
    """A product of non-negative layers, with components of unit length."""

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """Layers are multiplied by ratios."""
        if not rule.in_turn:
            return None
        return (
            f'solver="{rule.name}" minimises over one coordinate of the basis after the other, '
            'which layers do not have; use "mu" or "mu-fast"'
        )
