"""Ways to fit: each owns its rounds. The one table from the name of a weighting to its scheme."""

from fnmf.schemes._choice import explored
from fnmf.schemes._confidence import Voters, confidence, counted_already
from fnmf.schemes._plain import PaperScheme, UniformScheme
from fnmf.schemes._problem import (
    Arrays,
    BlankLedger,
    Ledger,
    Observer,
    Outcome,
    Problem,
    Scheme,
    Silent,
)
from fnmf.schemes._relevance import RelevanceScheme
from fnmf.schemes._stages import measure
from fnmf.schemes._start import initial_factors

SCHEMES: dict[str, type[Scheme]] = {
    "relevance": RelevanceScheme,
    "paper": PaperScheme,
    "uniform": UniformScheme,
}

__all__ = [
    "SCHEMES",
    "Arrays",
    "BlankLedger",
    "Ledger",
    "Observer",
    "Outcome",
    "Problem",
    "Scheme",
    "Silent",
    "Voters",
    "confidence",
    "counted_already",
    "explored",
    "initial_factors",
    "measure",
]
