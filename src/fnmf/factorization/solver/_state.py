"""What a run works on, reports and leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fnmf.relevance.defaults import DEFAULTS

TERMS = ("total", "reconstruction", "diversity", "smoothness")
HISTORY = np.dtype([(term, np.float64) for term in TERMS])


@dataclass
class Factors:
    """The unknowns. With shared assignment P has a single row.

    Where the basis has layers U is their product, (d, c₁) (c₁, c₂) …, and follows from them.
    ``fixed`` says which columns of U stay as they are, (c,); ``None`` for none.
    """

    U: np.ndarray
    V: np.ndarray
    P: np.ndarray
    weights: np.ndarray
    layers: list[np.ndarray] | None = None
    fixed: np.ndarray | None = None

    def without(self, root: np.ndarray | None) -> Factors:
        """The same with codes that were multiplied by the roots of what samples count."""
        if root is None:
            return self
        return replace(self, V=self.V / root[:, None].astype(self.V.dtype))


@dataclass(frozen=True)
class Stopping:
    """When a run ends.

    Attributes
    ----------
    max_iter, min_iter : int
        Most iterations, and how many there are in any case.
    tol : float
        Relative change of the objective below which it has settled.
    floor : float
        A smaller objective counts as this one when changes are compared with it, so that a
        nearly exact fit settles too.
    codes : float
        Codes may still change by this many times ``tol``.
    nearly : float
        Their change is measured once that of the objective is below this many times ``tol``.
    """

    max_iter: int = 300
    min_iter: int = 1
    tol: float = 1e-4
    floor: float = 0.0
    codes: float = 10.0
    nearly: float = 1 / DEFAULTS.negligible


class Progress(NamedTuple):
    """What an observer sees after each iteration."""

    iteration: int
    terms: dict[str, float]
    factors: Factors


Observe = Callable[[Progress], bool]


class Snapshot(NamedTuple):
    """A run between two iterations, with all that the next one needs to come out the same.

    ``pull`` is S V as it was rescaled on the way: computed anew it would differ in rounding.
    """

    U: np.ndarray
    V: np.ndarray
    P: np.ndarray
    weights: np.ndarray
    pull: np.ndarray
    history: np.ndarray
    converged: np.ndarray
    ended: np.ndarray


class SolverCheckpoint:
    """Where a run writes how far it has come; this one keeps nothing."""

    def last(self) -> Snapshot | None:
        """Where to go on, if the run has been there before."""
        return None

    def due(self) -> bool:
        """Whether it is time to write."""
        return False

    def write(self, snapshot: Snapshot) -> None:
        """Keep this instead of what was kept before."""


@dataclass
class Result:
    """Where a run ended."""

    factors: Factors
    history: np.ndarray
    converged: bool
    objective: float

    @property
    def n_iter(self) -> int:
        return len(self.history)
