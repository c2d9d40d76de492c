"""What is minimised: feature weights, ties between samples, sample weights, basis."""

from fnmf.factorization.terms._basis import FreeBasis, LayeredBasis, UnitBasis
from fnmf.factorization.terms._objective import Kinds, Objective
from fnmf.factorization.terms._row_weights import EvenRows, RobustRows, RowWeights
from fnmf.factorization.terms._rules import RULES, Rule
from fnmf.factorization.terms._ties import (
    AnchorTies,
    Edges,
    GraphTies,
    NoTies,
    Ties,
    WithoutLists,
    graph_ties,
)
from fnmf.factorization.terms._weighting import (
    FixedWeighting,
    PaperWeighting,
    ResidualWeighting,
    Weighting,
    collapsed,
    effective_features,
    empty_share,
    overlap,
    uniform_weights,
)

__all__ = [
    "RULES",
    "AnchorTies",
    "Edges",
    "EvenRows",
    "FixedWeighting",
    "FreeBasis",
    "GraphTies",
    "Kinds",
    "LayeredBasis",
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
    "collapsed",
    "effective_features",
    "empty_share",
    "graph_ties",
    "overlap",
    "uniform_weights",
]
