"""What is asked of the basis U beside being non-negative."""

from dataclasses import dataclass
from typing import Protocol

from fnmf.terms._rules import Rule


class Basis(Protocol):
    """What a solver needs to know of the basis."""

    @property
    def unit(self) -> bool:
        """Whether components have unit length."""

    def misfit(self, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


@dataclass(frozen=True)
class FreeBasis:
    """Components of any length."""

    @property
    def unit(self) -> bool:
        return False

    def misfit(self, rule: Rule) -> str | None:
        return None


@dataclass(frozen=True)
class UnitBasis:
    """Components of unit length.

    The term of the ties is then β Σ_a ‖u_a‖² v_aᵀ L v_a, which no rescaling of a component
    changes, so the objective falls although the columns of U are set to unit length.
    """

    @property
    def unit(self) -> bool:
        return True

    def misfit(self, rule: Rule) -> str | None:
        return None
