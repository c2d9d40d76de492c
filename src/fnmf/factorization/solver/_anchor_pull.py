"""The pull of anchors: from their codes, which follow from what blocks gather of new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fnmf.execution import RowArray, Rows
from fnmf.factorization.terms import AnchorTies
from fnmf.kernels.anchors import gather, spread


class TiedSums(NamedTuple):
    """Zᵀ V and Σ_i v_i² of new codes; both empty where nobody asks."""

    held: np.ndarray
    squares: np.ndarray


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
