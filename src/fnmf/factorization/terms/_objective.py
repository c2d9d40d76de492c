"""The objective: its terms together, and whether they fit each other and the solver.

Ties pull a code towards others and drag on it in turn. With ties S of strength β the objective has
β tr(Vᵀ L V), L = D − S. A solver sees β, the degrees D and the pull S V, and never S itself, so
that ties need not be a list of neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.factorization.terms._weighting import Weighting


class Edges(NamedTuple):
    """Ties as lists of neighbours: the arrays of a symmetric CSR matrix."""

    pointers: np.ndarray
    neighbours: np.ndarray
    similarity: np.ndarray


class Ties:
    """What a solver needs to know of whatever holds samples together."""

    # Whether there is anything that holds, and whether there are lists of neighbours.
    tied: ClassVar[bool] = True
    listed: ClassVar[bool] = False
    strength: float
    degree: np.ndarray
    # For solvers that take samples one after the other.
    edges: Edges | None = None


class NoTies(Ties):
    """Samples on their own."""

    tied: ClassVar[bool] = False
    listed: ClassVar[bool] = True
    strength = 0.0

    def __init__(self, dtype: np.dtype) -> None:
        self.degree = np.empty(0, dtype)
        nobody = np.empty(0, np.int64), np.empty(0, np.int32)
        self.edges = Edges(*nobody, np.empty(0, dtype))

    def pull(self, V: np.ndarray, out: np.ndarray, context: Any) -> np.ndarray:
        """Fill ``out`` with S V; returns v_aᵀ L v_a for each component."""
        return np.zeros(V.shape[1])


class GraphTies(Ties):
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
        self.edges = Edges(
            graph.indptr.astype(np.int64, copy=False),
            graph.indices.astype(index, copy=False),
            graph.data.astype(dtype, copy=False),
        )
        self.degree = degree.astype(dtype, copy=False)

    def pull(self, V: np.ndarray, out: np.ndarray, context: Any) -> np.ndarray:
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


@dataclass(frozen=True)
class Rule:
    """How codes and basis are updated.

    Attributes
    ----------
    name : str
        As the user spells it.
    in_turn : bool
        Whether samples are updated one after the other, each seeing the newest codes of those
        it is tied to. All samples must then be at hand, and their ties as lists of neighbours.
    """

    name: str
    in_turn: bool = False


RULES = {rule.name: rule for rule in (Rule("mu"), Rule("mu-fast"), Rule("hals", in_turn=True))}


@dataclass(frozen=True)
class Kinds:
    """What decides whether the terms of an objective fit, before any work is done.

    Attributes
    ----------
    weighting, ties : type
        Those of the terms.
    shared : bool
        Whether all samples mix the weightings in the same way.
    robust : bool
        Whether lengths of residuals are added up, not their squares: the ℓ2,1 loss, in which a
        sample counts with one over the length of its residual.
    layered : bool
        Whether the basis is a product of several layers.
    """

    weighting: type[Weighting]
    ties: type[Ties]
    shared: bool
    robust: bool = False
    layered: bool = False

    def check(self, rule: Rule) -> None:
        """Raise unless the terms fit each other and the solver."""
        for reason in self._misfits(rule):
            raise ValueError(f"{reason}.")

    def _misfits(self, rule: Rule) -> Iterator[str]:
        if rule.in_turn and not self.ties.listed:
            yield (
                f'solver="{rule.name}" updates samples one after the other and needs the ties of '
                f"each as a list of neighbours, which {self.ties.__name__} does not have; use "
                '"mu" or "mu-fast"'
            )
        if rule.in_turn and self.layered:
            yield (
                f'solver="{rule.name}" minimises over one coordinate of the basis after the other, '
                'which layers do not have; use "mu" or "mu-fast"'
            )
        if not self.robust:
            return
        name = "The robust loss"
        if not self.shared:
            yield (
                f"{name} counts samples by their residuals, which a sweep knows only if all "
                'samples share the assignment; use assignment="shared"'
            )
        if self.weighting.learned or self.weighting.on_residual:
            yield (
                f"{name} weighs samples while {self.weighting.__name__} weighs features, and the "
                "sums of a sweep hold one of the two; use fixed weights"
            )
        if self.ties.tied:
            yield (
                f"{name} weighs the data term of each sample but not what {self.ties.__name__} "
                "add, so a step of the codes could raise the objective; leave the ties out"
            )


@dataclass(frozen=True)
class Objective:
    """What is minimised.

    Attributes
    ----------
    weighting, ties
        The terms.
    shared, robust, layered : bool
        As for ``Kinds``.
    unit : bool
        Whether components have unit length. The term of the ties is then β Σ_a ‖u_a‖² v_aᵀ L v_a,
        which no rescaling of a component changes, so the objective falls although the columns of U
        are set to unit length.
    """

    weighting: Weighting
    ties: Ties
    shared: bool
    unit: bool = True
    robust: bool = False
    layered: bool = False

    @property
    def kinds(self) -> Kinds:
        """Which terms it has."""
        kinds = type(self.weighting), type(self.ties)
        return Kinds(*kinds, self.shared, self.robust, self.layered)
