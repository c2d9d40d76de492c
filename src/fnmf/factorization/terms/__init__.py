"""What is minimised: feature weights, ties between samples, sample weights, basis."""

from fnmf.factorization.terms._anchors import AnchorTies, WithoutLists
from fnmf.factorization.terms._objective import (
    RULES,
    EvenRows,
    FreeBasis,
    Kinds,
    LayeredBasis,
    Objective,
    RobustRows,
    Rule,
    UnitBasis,
)
from fnmf.factorization.terms._paper import PaperWeighting, collapsed, uniform_weights
from fnmf.factorization.terms._ties import Edges, GraphTies, NoTies, Ties, graph_ties
from fnmf.factorization.terms._weighting import (
    FixedWeighting,
    ResidualWeighting,
    Weighting,
    effective_features,
    empty_share,
    overlap,
)
