"""What an affinity does in the objective: ties that pull codes together."""

import numpy as np

from fnmf.affinity import Affinity, AnchorAffinity
from fnmf.execution import RowArray
from fnmf.factorization.solver import ExecutionContext
from fnmf.factorization.terms import AnchorTies, NoTies, Ties, graph_ties


def ties_along(affinity: Affinity, strength: float, dtype: np.dtype) -> Ties:
    """Ties of all samples along an affinity."""
    if not isinstance(affinity, AnchorAffinity):
        return graph_ties(affinity.graph, strength, dtype, affinity.root)
    if strength == 0:
        return NoTies(dtype)
    indices, shares = affinity.nearest
    if affinity.root is not None:
        shares = _times(shares, affinity.root)
    return AnchorTies(indices, shares, affinity.mass, strength)


def ties_of_rows(
    affinity: AnchorAffinity, rows: np.ndarray, strength: float, dtype: np.dtype
) -> Ties:
    """Ties of some of the samples to their anchors."""
    if strength == 0:
        return NoTies(dtype)
    indices, shares = (array[rows] for array in affinity.nearest)
    held = shares
    if affinity.root is not None:
        root = affinity.root[rows]
        held, shares = _times(shares, root**2), _times(shares, root)
    mass = np.bincount(indices.ravel(), held.ravel(), len(affinity.mass))
    return AnchorTies(indices, shares, mass, strength)


def anchor_codes(affinity: Affinity, V: RowArray, context: ExecutionContext) -> np.ndarray | None:
    """Codes of the anchors, if there are any."""
    if not isinstance(affinity, AnchorAffinity):
        return None
    indices, shares = affinity.nearest
    if affinity.root is not None:
        shares = _times(shares, affinity.root**2)
    ties = AnchorTies(indices, shares, affinity.mass, 1.0)
    return ties.codes(context.anchor_sums(ties, V).held).astype(V.dtype)


def _times(shares: np.ndarray, factors: np.ndarray) -> np.ndarray:
    return shares * factors[:, None].astype(shares.dtype)
