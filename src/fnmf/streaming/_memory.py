"""What a stream remembers between two renewals of the model: sums that decay.

Weights, preparation and the reservoir stand still meanwhile; basis, centres and relevance follow
the rows that come.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from fnmf._fitted import Fitted
from fnmf.data import Scaling, View, view_of
from fnmf.runners import Runner
from fnmf.schemes import Arrival, encode_arrival
from fnmf.solver import cluster_sums, update_basis
from fnmf.terms import Moments


class Members(NamedTuple):
    """The cluster of each row, and how many clusters there are."""

    labels: np.ndarray
    n_clusters: int


@dataclass(frozen=True)
class Memory:
    """Sums over rows, each with what it still counts for.

    Attributes
    ----------
    counts, sums, squares, fourth : ndarray of shape (k,), (k, d), (k, d), (d,)
        Rows of each cluster; their capped values about ``about``, the squares of these, and over
        all clusters their fourth powers.
    places : ndarray of shape (k, d)
        Sums of the scaled rows of each cluster.
    crosses, grams : ndarray of shape (m, d, c) and (m, c, c)
        Zᵀ diag(p_j²) V and Vᵀ diag(p_j²) V, for the basis.
    about : ndarray of shape (d,)
        Where moments are taken about: the mean at the last renewal.
    """

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    fourth: np.ndarray
    places: np.ndarray
    crosses: np.ndarray
    grams: np.ndarray
    about: np.ndarray

    def decayed(self, factor: float) -> Memory:
        """All of it, worth less."""
        faded = {f.name: factor * getattr(self, f.name) for f in fields(self) if f.name != "about"}
        return replace(self, **faded)

    def plus(self, other: Memory) -> Memory:
        """Both together."""
        names = [f.name for f in fields(self) if f.name != "about"]
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def moments(self) -> Moments:
        """What the clusters look like, about the mean of now."""
        n = max(self.counts.sum(), np.finfo(float).tiny)
        drift = self.sums.sum(axis=0) / n
        counts = self.counts[:, None]
        sums = self.sums - counts * drift
        squares = self.squares - 2 * drift * self.sums + counts * drift**2
        return Moments.from_sums(
            self.counts, self.about + drift, sums, np.maximum(squares, 0), self.fourth
        )

    @property
    def centres(self) -> np.ndarray:
        """Mean of the scaled rows of each cluster, (k, d)."""
        return self.places / np.maximum(self.counts, np.finfo(float).tiny)[:, None]

    @classmethod
    def of_rows(
        cls, fitted: Fitted, new: Arrival, members: Members, about: np.ndarray, runner: Runner
    ) -> Memory:
        """Sums over rows whose clusters are known, codes solved row by row."""
        V, P = encode_arrival(fitted, new, runner)
        n, d = new.scaled.shape
        capped = view_of(new.scaled.X).scaled(Scaling(np.ones(n), present(fitted.caps), np.ones(d)))
        raw = cluster_sums(capped, *members, about, runner)
        placed = cluster_sums(new.scaled, *members, np.zeros(d), runner)
        m, c = P.shape[1], V.shape[1]
        crosses, grams = np.zeros((m, d, c)), np.zeros((m, c, c))
        for start, stop in new.scaled.blocks():
            Z = new.scaled.double(start, stop)
            for j in range(m):
                codes = V[start:stop] * P[start:stop, j : j + 1] ** 2
                crosses[j] += np.asarray(Z.T @ codes)
                grams[j] += codes.T @ V[start:stop]
        counts = np.bincount(members.labels, minlength=members.n_clusters).astype(np.float64)
        return cls(counts, *raw, placed.sums, crosses, grams, about)

    def with_batch(self, fitted: Fitted, view: View, runner: Runner) -> tuple[Memory, Fitted]:
        """After a batch: its rows join the nearest centres, and the basis follows the sums."""
        new = Arrival.of(fitted, view, runner)
        root = np.sqrt(present(fitted.omega).max(axis=0))
        centres = (self.centres * root)[:, new.weighted.kept]
        # A cluster that has been forgotten altogether attracts nothing.
        alive = np.flatnonzero(self.counts > np.finfo(np.float32).eps * self.counts.sum())
        rows = new.weighted.rows(0, view.shape[0])
        labels = alive[pairwise_distances_argmin(rows, centres[alive].astype(rows.dtype))]
        members = Members(labels, len(self.counts))
        together = self.plus(Memory.of_rows(fitted, new, members, self.about, runner))
        return together._with_basis(fitted)

    def _with_basis(self, fitted: Fitted) -> tuple[Memory, Fitted]:
        """The basis that these sums ask for, its columns at unit length in the used features."""
        omega = present(fitted.omega)
        targets = np.einsum("jk,jkc->kc", omega, self.crosses)
        U = update_basis(fitted.components.T, targets, self.grams, omega, "hals")
        norms = np.sqrt(np.sum(omega.max(axis=0)[:, None] * U**2, axis=0))
        norms = np.where(norms > 0, norms, 1.0)
        dtype = fitted.components.dtype
        memory = replace(
            self, crosses=self.crosses * norms, grams=self.grams * np.outer(norms, norms)
        )
        moved = replace(
            fitted,
            components=np.ascontiguousarray((U / norms).T, dtype),
            embedding=(fitted.embedding * norms).astype(dtype),
        )
        return memory, moved


def present(array: np.ndarray | None) -> np.ndarray:
    """What a fit by relevance always has."""
    assert array is not None
    return array
