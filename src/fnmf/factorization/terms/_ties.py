"""What holds samples together: it pulls a code towards others and drags on it in turn.

With ties S of strength β the objective has β tr(Vᵀ L V), L = D − S. A solver sees β, the degrees
D and the pull S V, and never S itself, so that ties need not be a list of neighbours.
"""

from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp


class Edges(NamedTuple):
    """Ties as lists of neighbours: the arrays of a symmetric CSR matrix."""

    pointers: np.ndarray
    neighbours: np.ndarray
    similarity: np.ndarray


class SupportsNeighbourSums(Protocol):
    """What a solver lends to ties: work that goes through all rows."""

    def neighbour_sums(
        self, edges: Edges, degree: np.ndarray, V: np.ndarray, out: np.ndarray
    ) -> np.ndarray:
        """Fill ``out`` with S V; returns v_aᵀ L v_a for each component."""


class Ties(Protocol):
    """What a solver needs to know of whatever holds samples together."""

    # Whether there is anything that holds, and whether there are lists of neighbours.
    tied: ClassVar[bool]
    listed: ClassVar[bool]
    strength: float
    degree: np.ndarray
    # For solvers that take samples one after the other.
    edges: Edges | None


class NoTies:
    """Samples on their own."""

    tied: ClassVar[bool] = False
    listed: ClassVar[bool] = True
    strength = 0.0

    def __init__(self, dtype: np.dtype) -> None:
        self.degree = np.empty(0, dtype)
        nobody = np.empty(0, np.int64), np.empty(0, np.int32)
        self.edges: Edges | None = Edges(*nobody, np.empty(0, dtype))

    def pull(self, V: np.ndarray, out: np.ndarray, context: SupportsNeighbourSums) -> np.ndarray:
        """Fill ``out`` with S V; returns v_aᵀ L v_a for each component."""
        return np.zeros(V.shape[1])


class GraphTies:
    """A neighbour graph.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric S.
    strength : float
        β.
    dtype : dtype
        Type of the codes.
    root : ndarray of shape (n,) or None
        Roots of what samples count, if their codes are multiplied with these: the term is then
        β tr(Vᵀ W^-½ L W^-½ V).
    """

    tied: ClassVar[bool] = True
    listed: ClassVar[bool] = True

    def __init__(
        self,
        graph: sp.csr_array,
        strength: float,
        dtype: np.dtype,
        root: np.ndarray | None = None,
    ) -> None:
        self.strength = strength
        degree = np.asarray(graph.sum(axis=1)).ravel()
        if root is not None:
            degree = degree / root**2
            apart = sp.diags_array(1 / root)
            graph = sp.csr_array(apart @ graph @ apart)
        index = np.int32 if graph.shape[0] < 2**31 else np.int64
        self.edges: Edges | None = Edges(
            graph.indptr.astype(np.int64, copy=False),
            graph.indices.astype(index, copy=False),
            graph.data.astype(dtype, copy=False),
        )
        self.degree = degree.astype(dtype, copy=False)

    def pull(self, V: np.ndarray, out: np.ndarray, context: SupportsNeighbourSums) -> np.ndarray:
        assert self.edges is not None
        return context.neighbour_sums(self.edges, self.degree, V, out)


def graph_ties(
    graph: sp.csr_array | None,
    strength: float,
    dtype: np.dtype,
    root: np.ndarray | None = None,
) -> Ties:
    """Ties along a graph, or none where there is nothing that holds."""
    if graph is None or graph.nnz == 0 or strength == 0:
        return NoTies(dtype)
    return GraphTies(graph, strength, dtype, root)
