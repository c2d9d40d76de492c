"""How much each sample counts in the data term."""

from dataclasses import dataclass
from typing import Protocol

from fnmf.terms._rules import Rule


class RowWeights(Protocol):
    """What a solver needs to know of the weights of samples."""

    @property
    def robust(self) -> bool:
        """Whether a sample counts with one over the length of its residual."""

    def misfit(self, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


@dataclass(frozen=True)
class EvenRows:
    """All samples alike: squared residuals."""

    @property
    def robust(self) -> bool:
        return False

    def misfit(self, rule: Rule) -> str | None:
        return None


@dataclass(frozen=True)
class RobustRows:
    """Lengths of residuals instead of their squares, the ℓ2,1 loss."""

    @property
    def robust(self) -> bool:
        return True

    def misfit(self, rule: Rule) -> str | None:
        return None
