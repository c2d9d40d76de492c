"""What holds samples together: it pulls a code towards others and drags on it in turn.

With ties S of strength β the objective has β tr(Vᵀ L V), L = D − S. A solver sees β, the degrees
D and the pull S V, and never S itself, so that ties need not be a list of neighbours.
"""

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from fnmf.factorization.terms._rules import AnyRule, Rule


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

    # Whether there is anything that holds.
    tied: ClassVar[bool]
    strength: float
    degree: np.ndarray
    # For solvers that take samples one after the other.
    edges: Edges | None

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """Why a solver with this rule cannot have the term; ``None`` if it can."""


class PullingTies(Ties, Protocol):
    """Ties whose pull is kept for all samples."""

    def pull(self, V: np.ndarray, out: np.ndarray, context: SupportsNeighbourSums) -> np.ndarray:
        """Fill ``out`` with S V; returns v_aᵀ L v_a for each component."""


class NoTies(AnyRule):
    """Samples on their own."""

    tied: ClassVar[bool] = False
    strength = 0.0

    def __init__(self, dtype: np.dtype) -> None:
        self.degree = np.empty(0, dtype)
        nobody = np.empty(0, np.int64), np.empty(0, np.int32)
        self.edges: Edges | None = Edges(*nobody, np.empty(0, dtype))

    def pull(self, V: np.ndarray, out: np.ndarray, context: SupportsNeighbourSums) -> np.ndarray:
        return np.zeros(V.shape[1])


class GraphTies(AnyRule):
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


class WithoutLists:
    """Ties that have no lists of neighbours: a base for those that pull in another way."""

    tied: ClassVar[bool] = True
    edges: Edges | None = None

    @classmethod
    def misfit(cls, rule: Rule) -> str | None:
        """A solver that takes samples one after the other needs lists."""
        if not rule.in_turn:
            return None
        return (
            f'solver="{rule.name}" updates samples one after the other and needs the ties of each '
            f'as a list of neighbours, which {cls.__name__} does not have; use "mu" or "mu-fast"'
        )


class AnchorTies(WithoutLists):
    """Samples held together by the anchors they share: S = Z Λ⁻¹ Zᵀ.

    Rows of Z sum to 1, and so do those of S: all degrees are 1. The pull of a sample follows from
    the codes of its anchors, Λ⁻¹ Zᵀ V, so that nothing need be kept for all samples.

    Parameters
    ----------
    indices, shares : array of shape (n, k)
        Anchors of each sample, and its weights to them.
    mass : ndarray
        Λ, the sum of the weights to each anchor.
    strength : float
        β.
    """

    degree = np.empty(0)

    def __init__(self, indices: Any, shares: Any, mass: np.ndarray, strength: float) -> None:
        self.indices, self.shares, self.strength = indices, shares, strength
        self.mass = np.where(mass > 0, mass, 1)

    def codes(self, sums: np.ndarray) -> np.ndarray:
        """Codes of the anchors, means of the samples they hold, from Zᵀ V."""
        return sums / self.mass[:, None]

    def roughness(self, squares: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """v_aᵀ L v_a for each component, from Σ_i v_i² and the codes of the anchors."""
        return np.maximum(squares - self.mass @ codes**2, 0.0)


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
