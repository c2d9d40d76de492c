"""Views: how everything inside sees X. Nobody else touches X itself.

A view hands out rows by block or by index, rescaled if it has a ``Scaling``. Two forms of the
same rows are needed: in the working type, without a copy where that is possible, for kernels
that read them once (``block``); and as double precision copies free to be changed (``exact``,
``take``) for sums and distances that must not lose digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import sha256
from typing import Any, Self

import numpy as np

from fnmf.data._blocks import spans
from fnmf.data._scaling import Scaling
from fnmf.data._types import working_dtype

# Entries of dense rows that are copied at a time.
_FEW = 1 << 18


class View(ABC):
    """Rows of X.

    Attributes
    ----------
    shape : tuple of int
        Samples and features.
    dtype : dtype
        Working type: float32 or float64.
    sparse : bool
        Whether blocks are CSR.
    scaling : Scaling or None
        How rows are rescaled on the way, in the working type.
    kept : ndarray of shape (d,)
        Which features of X the view has.
    in_place : ndarray or None
        The rows themselves, where compiled loops can read them without a converted copy.
    remote : bool
        Whether rows are elsewhere: only runners can reach them.
    incomplete : bool
        Whether cells are missing; these are filled on the way.
    filled : float
        Share of entries that are stored, if a dense copy may be made; else 0.
    weights : ndarray of shape (n,) or None
        As how many rows each counts; ``None`` if all count once.
    """

    sparse: bool
    remote: bool = False
    incomplete: bool = False
    filled: float = 0.0
    in_place: np.ndarray | None = None
    weights: np.ndarray | None = None
    shape: tuple[int, int]
    kept: np.ndarray

    def __init__(self, X: Any, scaling: Scaling | None) -> None:
        self.X = X
        self.dtype = working_dtype(X.dtype)
        self._exact_scaling = scaling
        self.scaling = None if scaling is None else scaling.astype(self.dtype)

    def constant(self, value: float) -> np.ndarray:
        """The same number for every row, kept once."""
        return np.broadcast_to(np.float64(value), self.shape[:1])

    @property
    def total(self) -> float:
        """How many rows there are, as they count."""
        return self.shape[0] if self.weights is None else float(self.weights.sum())

    @property
    def root(self) -> np.ndarray | None:
        """Roots of the weights; ``None`` if all rows count once."""
        return None if self.weights is None else np.sqrt(self.weights)

    def weighing(self, weights: np.ndarray | None, rows: Any = slice(None)) -> Self:
        """This view with weights, those of some rows of another."""
        self.weights = None if weights is None else weights[rows]
        return self

    def dense(self) -> View:
        """The same rows as they are, dense."""
        return self

    @abstractmethod
    def scaled(self, scaling: Scaling, drop: bool = False) -> View:
        """The same rows rescaled; with ``drop`` dense ones lose the features of factor 0."""

    @abstractmethod
    def subset(self, rows: np.ndarray) -> View:
        """Some of the rows, copied into memory, with their scaling."""

    @abstractmethod
    def part(self, start: int, stop: int) -> View:
        """These rows as a view of their own, not copied where that is possible."""

    @abstractmethod
    def blocks(self) -> list[tuple[int, int]]:
        """Row ranges. They depend on the data alone, so that sums come out the same anywhere."""

    def few(self) -> list[tuple[int, int]]:
        """Row ranges whose copies in double precision are small; stored entries always are."""
        n, d = self.shape
        return spans(n, max(n, 1) if self.sparse else max(_FEW // max(d, 1), 1))

    @abstractmethod
    def stored(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """These rows as they are, not rescaled: a dense array, or the three arrays of CSR."""

    @abstractmethod
    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """These rows, rescaled: a dense array, or the three arrays of CSR."""

    @abstractmethod
    def exact(self, start: int, stop: int) -> Any:
        """These rows in double precision, an array or CSR matrix of our own, free to change."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Any:
        """Any rows, as ``exact``."""

    @abstractmethod
    def matrix(self, block: tuple[np.ndarray, ...]) -> Any:
        """A block as an array or CSR matrix."""

    @abstractmethod
    def mean(self) -> float:
        """Mean of all entries of X."""

    def digest(self) -> bytes:
        """A hash of all rows as they are stored."""
        whole = sha256()
        for part in self.stored(0, self.shape[0]):
            whole.update(np.ascontiguousarray(part).reshape(-1).data)
        if self.weights is not None:
            whole.update(self.weights.data)
        return whole.digest()

    def rows(self, start: int, stop: int) -> Any:
        """These rows as an array or CSR matrix in the working type, for scikit-learn to read."""
        if self.scaling is None:
            return self.matrix(self.stored(start, stop))
        return self.narrowed(self.exact(start, stop))

    def narrowed(self, rows: Any) -> Any:
        """Exact rows in the working type, for scikit-learn to read."""
        return rows.astype(self.dtype)

    def double(self, start: int, stop: int) -> Any:
        """A block in double precision after it was rounded to the working type, free to change."""
        return self.matrix(self.block(start, stop)).astype(np.float64)
