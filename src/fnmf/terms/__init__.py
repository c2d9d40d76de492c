"""What is minimised: feature weights, ties between samples, sample weights, basis.

Each term gives its value and what it adds to the sums, and says which solvers can have it.
"""

from fnmf.terms._basis import Basis, FreeBasis, UnitBasis
from fnmf.terms._diagnosis import collapsed, effective_features, empty_share, overlap
from fnmf.terms._discoveries import adjusted, chance_probabilities, qvalues
from fnmf.terms._objective import Kinds, Objective
from fnmf.terms._relevance import Moments, profiles, relevance, relevance_weights
from fnmf.terms._rows import EvenRows, RobustRows, RowWeights
from fnmf.terms._rules import RULES, Rule
from fnmf.terms._ties import (
    AnchorTies,
    Attraction,
    Edges,
    GraphTies,
    NoTies,
    Ties,
    WithoutLists,
    graph_ties,
)
from fnmf.terms._weighting import (
    FixedWeighting,
    PaperWeighting,
    ResidualWeighting,
    Weighting,
    uniform_weights,
)

__all__ = [
    "RULES",
    "AnchorTies",
    "Attraction",
    "Basis",
    "Edges",
    "EvenRows",
    "FixedWeighting",
    "FreeBasis",
    "GraphTies",
    "Kinds",
    "Moments",
    "NoTies",
    "Objective",
    "PaperWeighting",
    "ResidualWeighting",
    "RobustRows",
    "RowWeights",
    "Rule",
    "Ties",
    "UnitBasis",
    "Weighting",
    "WithoutLists",
    "adjusted",
    "chance_probabilities",
    "collapsed",
    "effective_features",
    "empty_share",
    "graph_ties",
    "overlap",
    "profiles",
    "qvalues",
    "relevance",
    "relevance_weights",
    "uniform_weights",
]
