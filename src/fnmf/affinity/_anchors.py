"""Ties through anchors: each sample is held to its nearest of a few hundred to a few thousand rows.

With Z the adaptive weights of the samples to their anchors and Λ the mass of each anchor,
S = Z Λ⁻¹ Zᵀ is a graph in which samples are neighbours through the anchors they share. It is
never made: S V is two thin products. The search grows linearly with the samples.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._adaptive import adaptive_weights, products_with
from fnmf.affinity._kernels import few_nearest
from fnmf.data import SPARSE_BELOW, View, spans
from fnmf.execution import BlockSource, RowArray, Rows, Runner, parts_of

# Rows whose products with this many anchors are held at once; with fewer there are more rows.
_ROWS = 1024


class Nearest(NamedTuple):
    """The nearest anchors of each sample and its adaptive weights to them, both (n, k)."""

    indices: RowArray
    shares: RowArray


def nearest_anchors(samples: View, anchors: Any, n_neighbors: int, runner: Runner) -> Nearest:
    """Which anchors hold the samples, and how much each.

    Distances are in single precision, in units of the largest anchor: twice as fast, and one
    compiled search whatever the type of the data.

    Parameters
    ----------
    samples : View
        Rows to be held.
    anchors : ndarray or csr_array of shape (a, d)
        Anchors, with the features of ``samples``.
    n_neighbors : int
        Anchors of a sample; at most one less than there are.
    runner : Runner
        Who works through the blocks.
    """
    count, d = anchors.shape
    k, centre = min(n_neighbors, count - 1), np.zeros(d, samples.dtype)
    sparse = not isinstance(anchors, np.ndarray)
    if samples.sparse and sparse and anchors.nnz < SPARSE_BELOW * count * d:
        scale = _unit(anchors.data)
        turned: Any = sp.csr_array(anchors.T * scale, dtype=np.float32)
        energy = turned.multiply(turned).sum(axis=0, dtype=np.float64)
        return _searched(_Search(turned, energy, centre, scale, k), samples, runner)
    dense = np.asarray(anchors.toarray() if sparse else anchors, samples.dtype)
    if not samples.sparse:
        # Distances do not change when both are shifted; about the mean they keep more digits.
        centre = dense.mean(axis=0)
    dense = dense - centre
    scale = _unit(dense)
    turned = np.ascontiguousarray((dense * scale).T, np.float32)
    squares = np.einsum("ka,ka->a", turned, turned, dtype=np.float64)
    return _searched(_Search(turned, squares, centre, scale, k), samples, runner)


def _unit(values: np.ndarray) -> np.floating:
    """The power of two that brings the largest value near 1, in the type of the values."""
    exponent = int(np.frexp(np.abs(values).max(initial=0))[1])
    return np.ldexp(values.dtype.type(1), -exponent)


def _searched(search: "_Search", samples: View, runner: Runner) -> Nearest:
    # Numbers of a few thousand anchors take two bytes.
    number = np.int16 if len(search.squares) <= np.iinfo(np.int16).max else np.int32
    indices, shares = (runner.empty(samples, (search.k,), dt) for dt in (number, samples.dtype))
    runner.sweep(search, parts_of(samples), (indices, shares))
    return Nearest(indices, shares)


@dataclass(frozen=True)
class _Search:
    """The search for the rows of a block, a few at a time; rows are anchors and shares."""

    fills: ClassVar = (0, 1)
    turned: Any
    squares: np.ndarray
    centre: np.ndarray
    scale: np.floating
    k: int

    def __call__(self, block: tuple[View], rows: Rows) -> tuple[Rows, tuple[()]]:
        (part,), (indices, shares) = block, rows
        most = max(_ROWS, _ROWS**2 // len(self.squares))
        # One place for all products: memory that comes and goes is dear on some workers.
        place = np.empty((min(most, part.shape[0]), len(self.squares)), np.float32)
        for start, stop in spans(part.shape[0], most):
            found = self._nearest(part, start, stop, place[: stop - start])
            indices[start:stop], shares[start:stop] = found
        return rows, ()

    def _nearest(self, part: View, start: int, stop: int, place: np.ndarray) -> Nearest:
        values, *where = part.block(start, stop)
        if not part.sparse:
            values = values - self.centre
        values = (values * self.scale).astype(np.float32, copy=False)
        products = products_with(part.matrix((values, *where)), self.turned, place)
        values *= values
        if part.sparse:
            places = where[1] - where[1][0]
            # The sum of a row without entries would be the entry at its place.
            lengths = np.add.reduceat(np.append(values, 0), places[:-1], dtype=np.float64)
            lengths[places[1:] == places[:-1]] = 0
        else:
            lengths = values.sum(axis=1).astype(np.float64)
        indices, distances = few_nearest(products, self.squares, lengths, self.k + 1, False)
        return Nearest(indices[:, : self.k], adaptive_weights(distances).astype(part.dtype))


def anchor_mass(nearest: Nearest, n_anchors: int, view: View, runner: Runner) -> np.ndarray:
    """Λ: the sum of the weights to each anchor."""
    rows = (*nearest, *counted(view))
    return runner.sum_rows(partial(_mass, n_anchors), BlockSource(view), *rows)[0]


def counted(view: View) -> Rows:
    """What samples count, as rows for a sweep; nothing if all count once."""
    return () if view.weights is None else (view.weights,)


def _mass(
    n_anchors: int, indices: np.ndarray, shares: np.ndarray, *weights: np.ndarray
) -> tuple[np.ndarray]:
    shares = shares.astype(np.float64)
    for own in weights:
        shares = shares * own[:, None]
    return (np.bincount(indices.ravel(), shares.ravel(), n_anchors),)


def vote(nearest: Nearest, labels: np.ndarray) -> np.ndarray:
    """The cluster that most of a sample's neighbours belong to, by their shares."""
    return anchor_votes(nearest, labels, int(labels.max()) + 1).argmax(axis=1)


def anchor_votes(nearest: Nearest, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Share of each cluster among the anchors that hold a sample, (n, n_clusters)."""
    n = len(nearest.indices)
    votes = np.zeros((n, n_clusters))
    for indices, shares in zip(nearest.indices.T, nearest.shares.T, strict=True):
        votes[np.arange(n), labels[indices]] += shares
    return votes
