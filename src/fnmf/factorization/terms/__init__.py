"""What is minimised: feature weights, ties between samples, and how they go together."""

from fnmf.factorization.terms._anchors import AnchorTies
from fnmf.factorization.terms._objective import (
    RULES,
    Edges,
    GraphTies,
    Kinds,
    NoTies,
    Objective,
    Rule,
    Ties,
    graph_ties,
)
from fnmf.factorization.terms._paper import PaperWeighting, collapsed, uniform_weights
from fnmf.factorization.terms._weighting import (
    FixedWeighting,
    ResidualWeighting,
    Weighting,
    effective_features,
    empty_share,
    overlap,
)
