"""How ties act on a sweep: what they pull codes towards, and what they need to know of new codes.

The pull of most ties is kept for all samples. That of anchors follows from the codes of the
anchors: each block makes its own, and gathers what the next codes of the anchors are made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from fnmf.execution import RowArray, Rows
from fnmf.factorization.terms import AnchorTies, Ties
from fnmf.kernels.anchors import gather, spread


class TiedSums(NamedTuple):
    """Zᵀ V and Σ_i v_i² of new codes; both empty where nobody asks."""

    held: np.ndarray
    squares: np.ndarray


class OnBlock(Protocol):
    """What a block does about ties; ``tied`` are its rows of ``Pull.rows``."""

    def pulled(self, *tied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """S V and the degrees."""

    def sums(self, V: np.ndarray, *tied: np.ndarray) -> TiedSums:
        """What the ties need of new codes."""


class Pull(Protocol):
    """The pull of ties between sweeps."""

    @property
    def rows(self) -> Rows:
        """What a block needs."""

    @property
    def on_block(self) -> OnBlock:
        """What it does with it."""

    def refresh(self, V: RowArray, sums: TiedSums | None) -> np.ndarray:
        """Follow new codes, with what a sweep has gathered; returns β v_aᵀ L v_a by component."""

    def rescale(self, factors: np.ndarray) -> None:
        """Columns of V have been multiplied."""

    def kept(self) -> np.ndarray:
        """All that the next sweep depends on."""

    def restore(self, kept: np.ndarray, V: RowArray) -> bool:
        """Go on with it; false if it does not fit."""


@dataclass(frozen=True)
class AsKept:
    """Pull and degrees lie ready."""

    def pulled(self, *tied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return tied[0], tied[1]

    def sums(self, V: np.ndarray, *tied: np.ndarray) -> TiedSums:
        return TiedSums(np.empty((0, 0)), np.empty(0))


@dataclass(frozen=True)
class FromAnchors:
    """Made from the codes of the anchors, whose columns are yet to be multiplied by ``scale``."""

    codes: np.ndarray
    scale: np.ndarray

    def pulled(self, *tied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        indices, shares = tied
        return spread(indices, shares, self.codes, self.scale), np.ones(len(shares), shares.dtype)

    def sums(self, V: np.ndarray, *tied: np.ndarray) -> TiedSums:
        indices, shares = tied
        return tied_sums(len(self.codes), V, indices, shares)


def tied_sums(count: int, V: np.ndarray, indices: np.ndarray, shares: np.ndarray) -> TiedSums:
    """What anchors need of a block; it may have a long way to go, so no wider than the codes."""
    held, squares = gather(V, indices, shares, count)
    return TiedSums(held.astype(V.dtype), squares)


class KeptPull:
    """S V of all samples."""

    on_block = AsKept()

    def __init__(self, ties: Any, context: Any) -> None:
        self._ties, self._context = ties, context
        self._pull = np.empty((0, 0), context.view.dtype)

    @property
    def rows(self) -> Rows:
        return self._pull, self._ties.degree

    def refresh(self, V: RowArray, sums: TiedSums | None) -> np.ndarray:
        if self._ties.strength > 0 and self._pull.shape != V.shape:
            self._pull = np.empty_like(V)
        return self._ties.strength * self._ties.pull(V, self._pull, self._context)

    def rescale(self, factors: np.ndarray) -> None:
        if len(self._pull):
            self._pull *= factors

    def kept(self) -> np.ndarray:
        return self._pull

    def restore(self, kept: np.ndarray, V: RowArray) -> bool:
        shape = V.shape if self._ties.strength > 0 else (0, 0)
        if kept.shape != shape or kept.dtype != V.dtype:
            return False
        self._pull = kept
        return True


class AnchorPull:
    """The codes of the anchors, and how columns were multiplied since."""

    def __init__(self, ties: AnchorTies, context: Any) -> None:
        self._ties, self._context = ties, context
        self._codes = self._scale = np.empty(0)

    @property
    def rows(self) -> Rows:
        return self._ties.indices, self._ties.shares

    @property
    def on_block(self) -> FromAnchors:
        return FromAnchors(self._codes, self._scale)

    def refresh(self, V: RowArray, sums: TiedSums | None) -> np.ndarray:
        if sums is None:
            sums = self._context.anchor_sums(self._ties, V)
        codes = self._ties.codes(sums.held)
        self._codes, self._scale = codes.astype(V.dtype), np.ones(V.shape[1], V.dtype)
        return self._ties.strength * self._ties.roughness(sums.squares, codes)

    def rescale(self, factors: np.ndarray) -> None:
        self._scale = self._scale * factors

    def kept(self) -> np.ndarray:
        return np.vstack([self._codes, self._scale])

    def restore(self, kept: np.ndarray, V: RowArray) -> bool:
        if kept.shape != (len(self._ties.mass) + 1, V.shape[1]) or kept.dtype != V.dtype:
            return False
        self._codes, self._scale = np.ascontiguousarray(kept[:-1]), kept[-1].copy()
        return True


def pull_of(ties: Ties, context: Any) -> Pull:
    """How these ties pull."""
    return AnchorPull(ties, context) if isinstance(ties, AnchorTies) else KeptPull(ties, context)
