"""How much samples belong together: neighbours, graph, anchors, and clusters of them."""

from fnmf.affinity._adaptive import (
    Graphs,
    adaptive_weights,
    in_few_parts,
    nearest_rows,
    neighbor_graph,
    neighbors_of,
    products_of,
    release_freed_memory,
    small_graph,
    small_graphs,
)
from fnmf.affinity._affinity import (
    Affinity,
    GraphAffinity,
    build_affinity,
    cached_graph,
)
from fnmf.affinity._anchor_affinity import AnchorAffinity, ArrayCache, Arrays, KnownLabels
from fnmf.affinity._anchor_moves import cluster_by_anchors
from fnmf.affinity._anchors import Nearest, anchor_mass, nearest_anchors, vote
from fnmf.affinity._attraction import Attraction, attraction, attraction_to
from fnmf.affinity._confidence import LabelledRows, confidence, graph_votes, known_votes
from fnmf.affinity._incomplete import (
    completed,
    completed_new,
    filled_anew,
    filled_blocks,
    filled_within,
    kept_view,
    refilled,
)
from fnmf.affinity._moves import improve, modularity, ties_between
from fnmf.affinity._partition import (
    SpectralStarts,
    best_of,
    connected_parts,
    partition,
    spectral_starts,
    spectrum,
)
from fnmf.affinity._public import adaptive_neighbors, estimate_recall, nearest_neighbors
