"""What a term must know of a solver in order to say whether they fit."""

from dataclasses import dataclass


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


class AnyRule:
    """A term that every solver can have."""

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """Compatible with every solver."""
        return None
