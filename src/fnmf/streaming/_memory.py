"""What a stream remembers between two renewals of the model: sums that decay.

Weights, preparation and the rows kept stand still meanwhile; basis, centres and relevance follow
the rows that come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fnmf._fitted import Fitted, present
from fnmf.data import View
from fnmf.execution import Runner, add_up
from fnmf.factorization.solver import update_basis
from fnmf.relevance.weights import relevance
from fnmf.statistics import Moments
from fnmf.streaming._reading import Reading, Sums

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Memory:
    """Sums over rows, each with what it still counts for.

    Attributes
    ----------
    sums : Sums
        By cluster, and for the basis.
    about : ndarray of shape (d,)
        Where moments are taken about: the mean at the last renewal.
    limit : ndarray of shape (1,)
        Squared distance to the nearest centre that nearly all rows were within then.
    """

    sums: Sums
    about: np.ndarray
    limit: np.ndarray

    def decayed(self, factor: float) -> Memory:
        """All of it, worth less."""
        return replace(self, sums=Sums(*(factor * array for array in self.sums)))

    @property
    def moments(self) -> Moments:
        """What the clusters look like, about the mean of now."""
        own = self.sums
        n = max(own.counts.sum(), _TINY)
        drift = own.sums.sum(axis=0) / n
        counts = own.counts[:, None]
        sums = own.sums - counts * drift
        squares = own.squares - 2 * drift * own.sums + counts * drift**2
        return Moments.from_sums(
            own.counts, self.about + drift, sums, np.maximum(squares, 0), own.fourth
        )

    def relevance(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Relevance of the features, and as a share of its sum, or else of their ``weights``."""
        found = relevance(self.moments)
        total = found.sum()
        return found, found / total if total > 0 else weights.mean(axis=0)

    def with_batch(self, fitted: Fitted, view: View, runner: Runner) -> tuple[Memory, Fitted]:
        """After a batch: its rows join the nearest centres, and the basis follows the sums."""
        centres, alive = self.sums.centres
        reading = Reading(fitted, self.about, centres, alive, self.limit[0])
        new = add_up(runner.over(reading, view))
        sums = Sums(*(old + added for old, added in zip(self.sums, new, strict=True)))
        return replace(self, sums=sums)._with_basis(fitted)

    def _with_basis(self, fitted: Fitted) -> tuple[Memory, Fitted]:
        """The basis that these sums ask for, its columns at unit length in the used features."""
        omega, own = present(fitted.omega), self.sums
        targets = np.einsum("jk,jkc->kc", omega, own.crosses)
        U = update_basis(fitted.components.T, targets, own.grams, omega, "hals")
        norms = np.sqrt(np.sum(omega.max(axis=0)[:, None] * U**2, axis=0))
        norms = np.where(norms > 0, norms, 1.0)
        dtype = fitted.components.dtype
        scaled = own._replace(crosses=own.crosses * norms, grams=own.grams * np.outer(norms, norms))
        moved = replace(
            fitted,
            components=np.ascontiguousarray((U / norms).T, dtype),
            embedding=(fitted.embedding * norms).astype(dtype),
        )
        return replace(self, sums=scaled), moved
