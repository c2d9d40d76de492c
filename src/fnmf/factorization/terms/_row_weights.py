"""How much each sample counts in the data term."""

from typing import ClassVar, Protocol

from fnmf.factorization.terms._rules import AnyRule, Rule


class RowWeights(Protocol):
    """What a solver needs to know of the weights of samples."""

    # Whether a sample counts with one over the length of its residual.
    robust: ClassVar[bool]

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


class EvenRows(AnyRule):
    """All samples alike: squared residuals."""

    robust: ClassVar[bool] = False


class RobustRows(AnyRule):
    """Lengths of residuals instead of their squares, the ℓ2,1 loss."""

    robust: ClassVar[bool] = True
