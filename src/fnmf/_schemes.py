"""The one table from the name of a weighting to the scheme that fits with it."""

from fnmf.factorization import GivenScheme, PaperScheme, Scheme, UniformScheme
from fnmf.relevance.scheme import RelevanceScheme

SCHEMES: dict[str, type[Scheme]] = {
    "relevance": RelevanceScheme,
    "paper": PaperScheme,
    "uniform": UniformScheme,
    "given": GivenScheme,
}
