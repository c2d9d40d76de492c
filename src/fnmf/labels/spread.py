"""Labels carried along the affinity: what a random walk from a row meets first.

Of a graph, F solves (D (1 + ε) − W) F = 0 with the labelled rows held at their labels; ε lets a
walk end without a label. Of anchors the same is solved for their own graph, and rows read it off
theirs. No array of rows by rows is made.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import Nearest

# Share of the steps at which a walk ends. With one label a class, 0.01 finds .740 of the banknotes
# and .941 of Mfeat, this .838 and .949; with 5 % of the labels or more no set sees the difference.
_ENDS = 1e-4
# Squared residual of the solution, relative; iterations at most.
_PRECISION, _STEPS = 1e-8, 300
# Weight of a label against the ties of an anchor.
_HELD = 100.0
_TINY = 1e-12


class Spread(Protocol):
    """Carries the values of some rows to all."""

    def __call__(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Values of all rows, (n, k), from those (l, k) of some."""


class GraphSpread:
    """Along a graph of all rows.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric ties.
    """

    def __init__(self, graph: sp.csr_array) -> None:
        degree = np.asarray(graph.sum(axis=1), np.float64).ravel()
        self._root = 1 / np.sqrt(np.maximum(degree, _TINY) * (1 + _ENDS))
        scale = sp.diags_array(self._root)
        self._ties = sp.csr_array(scale @ graph.astype(np.float64) @ scale)

    def __call__(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        n = len(self._root)
        free = np.ones(n, bool)
        free[rows] = False
        found = np.zeros((n, values.shape[1]))
        found[rows] = values
        ties = self._ties[free]
        right = ties[:, rows] @ (values / self._root[rows, None])
        solved = _conjugate_gradients(sp.csr_array(ties[:, free]), right)
        found[free] = np.maximum(solved * self._root[free, None], 0)
        return found


def _conjugate_gradients(ties: sp.csr_array, right: np.ndarray) -> np.ndarray:
    """The solution X of X − ties X = right, all columns at once."""
    found, rest, way = np.zeros_like(right), right.copy(), right.copy()
    size = first = np.sum(rest**2, axis=0)
    for _ in range(_STEPS):
        if (size <= _PRECISION * first).all():
            break
        image = way - ties @ way
        step = size / np.maximum(np.sum(way * image, axis=0), np.finfo(float).tiny)
        found += step * way
        rest -= step * image
        new = np.sum(rest**2, axis=0)
        way = rest + new / np.maximum(size, np.finfo(float).tiny) * way
        size = new
    return found


class AnchorSpread:
    """Through anchors: their graph carries what labelled rows tell them, rows read it off theirs.

    With Z the shares of rows in anchors and D, W of their graph, F solves
    (λ Zₗᵀ1 + D (1 + ε) − W) F = λ ZₗᵀY.

    Parameters
    ----------
    nearest : Nearest
        Anchors of the rows, and their shares.
    graph : csr_array of shape (m, m)
        Ties of the anchors.
    """

    def __init__(self, nearest: Nearest, graph: sp.csr_array) -> None:
        indices, shares = nearest
        n, k = indices.shape
        starts = np.arange(0, n * k + 1, k)
        flat = shares.ravel().astype(np.float64), indices.ravel().astype(np.int64), starts
        self._shares = sp.csr_array(flat, (n, graph.shape[0]))
        self._graph = graph.astype(np.float64)
        self._degree = np.asarray(graph.sum(axis=1), np.float64).ravel() * (1 + _ENDS)

    def __call__(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        held: Any = self._shares[rows]
        told = _HELD * np.asarray(held.sum(axis=0)).ravel()
        root = 1 / np.sqrt(np.maximum(told + self._degree, _TINY))
        scale = sp.diags_array(root)
        right = root[:, None] * (_HELD * (held.T @ values))
        solved = _conjugate_gradients(sp.csr_array(scale @ self._graph @ scale), right)
        found = np.maximum(self._shares @ (root[:, None] * solved), 0)
        found[rows] = values
        return found
