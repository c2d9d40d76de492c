"""The sweeps of an iteration over all row blocks of a data view.

With ``shared`` assignment one sweep does everything: ``shared``. With an assignment for each
sample ``codes`` updates V and gathers what U needs, ``assign`` updates P and gathers what Θ needs.
``hals`` needs all codes before any sum: ``solve_codes`` projects in a sweep of its own, and
``assign`` then gathers for every weighting apart, so that Θ and U follow from one sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fnmf.engine.parallel import Crew, add_up
from fnmf.engine.rows import KEEP, PLAIN, SQUARE_ROOT, graph_product, solve_codes
from fnmf.engine.views import View

if TYPE_CHECKING:
    from fnmf.engine.solver import Factors, Options

_RULES = {"mu": SQUARE_ROOT, "mu-fast": PLAIN, "hals": KEEP}
# A product with a smaller graph takes no longer than handing it to other threads.
_LARGE_GRAPH = 1 << 16
# Rounds of coordinate descent on the codes: cheap, since they need no pass over the data.
_ROUNDS = 2


@dataclass
class SampleSums:
    """What ``assign`` leaves behind.

    Attributes
    ----------
    energy, cross : ndarray of shape (m, d)
        P²ᵀ(X∘X) and P²ᵀ(X∘VUᵀ) with the new P: all that Θ needs.
    grams : ndarray of shape (m, c, c) or (1, c, c)
        Vᵀ diag(p_j²) V, or their sum if the weights act on the data.
    crosses : ndarray of shape (m, d, c)
        Xᵀ diag(p_j²) V, if it was gathered; else empty.
    """

    energy: np.ndarray
    cross: np.ndarray
    grams: np.ndarray
    crosses: np.ndarray


@dataclass
class SharedSums:
    """What the sweep leaves behind when all samples share the assignment.

    Nothing in it depends on the assignment but ``cross``, so P can follow from it too.

    Attributes
    ----------
    column_energy : ndarray of shape (d,)
        Σ_i x_ik².
    codes_cross, codes_gram : ndarray of shape (d, c) and (c, c)
        Xᵀ V and Vᵀ V; with the robust loss each sample counts with 1/‖residual‖.
    cross : ndarray of shape (m, d)
        P²ᵀ(X∘VUᵀ), with the U and P of the sweep.
    loss : float
        Σ_i ‖x_i − U v_i‖ of the robust loss, before the step of U.
    """

    column_energy: np.ndarray
    codes_cross: np.ndarray
    codes_gram: np.ndarray
    cross: np.ndarray
    loss: float


class Sweeps:
    """A data view, a neighbour graph and a crew, put to work together.

    Parameters
    ----------
    view : View
        The data.
    graph : csr_array or None
        Symmetric neighbour graph S.
    crew : Crew
        Threads.
    """

    def __init__(self, view: View, graph: sp.csr_array | None, crew: Crew) -> None:
        self.view, self.crew = view, crew
        self.blocks = view.blocks()
        n_samples = view.shape[0]
        if graph is None:
            graph = sp.csr_array((n_samples, n_samples), dtype=view.dtype)
        self._pointers = graph.indptr.astype(np.int64, copy=False)
        index = np.int32 if n_samples < 2**31 else np.int64
        self._neighbours = graph.indices.astype(index, copy=False)
        self._similarity = graph.data.astype(view.dtype, copy=False)
        self._degree = np.asarray(graph.sum(axis=1), dtype=view.dtype).ravel()
        self._mean = np.empty((0, 0), view.dtype)
        self._has_graph = graph.nnz > 0
        self._hessians: np.ndarray | None = None
        self._of: tuple[np.ndarray | None, ...] = (None, None)
        self._tiny = view.dtype.type(np.finfo(view.dtype).tiny)

    @cached_property
    def column_energy(self) -> np.ndarray:
        """Σ_i x_ik²."""
        return sum(self.crew.each(self.view.column_energy, self.blocks), np.zeros(1))

    @cached_property
    def _norms(self) -> np.ndarray:
        return np.concatenate(list(self.crew.each(self.view.row_energy, self.blocks)))

    def refresh_graph(self, V: np.ndarray) -> np.ndarray:
        """Compute S V, keep it for the next sweep, return v_aᵀ L v_a for each component."""
        if not self._has_graph:
            return np.zeros(V.shape[1])
        if self._mean.shape != V.shape:
            self._mean = np.empty_like(V)

        graph = self._pointers, self._neighbours, self._similarity, self._degree

        def task(start: int, stop: int) -> tuple[np.ndarray]:
            return (graph_product(start, stop, V, *graph, self._mean),)

        blocks = self.blocks if len(self._neighbours) >= _LARGE_GRAPH else [(0, len(V))]
        (roughness,) = add_up(self.crew.each(task, blocks))
        return np.maximum(roughness, 0.0)

    def rescale(self, V: np.ndarray, norms: np.ndarray) -> None:
        """Multiply the columns of V, and of S V with them."""
        V *= norms.astype(V.dtype)
        if self._has_graph:
            self._mean *= norms.astype(V.dtype)

    def codes(self, factors: Factors, options: Options) -> tuple[np.ndarray, np.ndarray]:
        """Multiplicative step of V; returns (X∘P²Θ)ᵀV (d x c) and the Gram matrices U needs."""
        view, V, P = self.view, factors.V, factors.P
        packed = view.pack_factors(factors.U, factors.weights)
        hessians = view.pack_grams(self.hessians(factors, options))
        graph = self._graph_rows(options)
        rule = _RULES[options.solver]

        def task(start: int, stop: int) -> tuple[np.ndarray, ...]:
            rows = slice(start, stop)
            block = view.operands(start, stop)
            own = V[rows], P[rows], *graph(rows)
            return view.kernels.codes_block(*block, *packed, *own, hessians, rule, self._tiny)

        targets, grams = add_up(self.crew.each(task, self.blocks))
        n_components = V.shape[1]
        return view.unpack_basis(targets, n_components), view.unpack_grams(grams, n_components)

    def assign(self, factors: Factors, options: Options, *, crosses: bool = False) -> SampleSums:
        """P of every sample; what Θ needs, and with ``crosses`` U too."""
        view, V, P = self.view, factors.V, factors.P
        packed = view.pack_factors(factors.U, factors.weights)
        hessians = view.pack_grams(self.hessians(factors, options))
        n_weightings, n_components = P.shape[1], V.shape[1]
        prices = np.empty((0, n_weightings)) if options.prices is None else options.prices
        prices = prices.astype(view.dtype, copy=False)
        on_residual = options.weighting.on_residual

        def task(start: int, stop: int) -> tuple[np.ndarray, ...]:
            rows = slice(start, stop)
            block = view.operands(start, stop)
            own = V[rows], P[rows], hessians, prices[rows]
            return view.kernels.assign_block(
                *block, *packed, *own, on_residual, crosses, self._tiny
            )

        moments, grams, totals = add_up(self.crew.each(task, self.blocks))
        energy, cross = view.unpack_moments(moments, n_weightings)
        return SampleSums(
            energy=energy,
            cross=cross,
            grams=view.unpack_grams(grams, n_components),
            crosses=view.unpack_crosses(totals, n_weightings, n_components) if crosses else totals,
        )

    def effective_weights(self, factors: Factors) -> np.ndarray:
        """Σ_j p_j² θ_j, the one weight of a feature when all samples share the assignment."""
        return factors.P[0].astype(np.float64) ** 2 @ factors.weights

    def hessians(self, factors: Factors, options: Options) -> np.ndarray:
        """Uᵀ diag(gain_j) U: the Hessians of the data term in v.

        One for each weighting if the weights act on the residual, else one for all.
        """
        on_residual = options.weighting.on_residual
        key = factors.U, factors.weights if on_residual else None
        # Between two steps of U several sweeps ask for the same.
        if self._hessians is None or any(a is not b for a, b in zip(key, self._of, strict=True)):
            U = factors.U.astype(np.float64)
            self._of = key
            if on_residual:
                self._hessians = np.stack([(U * w[:, None]).T @ U for w in factors.weights])
            else:
                self._hessians = (U.T @ U)[None]
        return self._hessians

    def _shared_hessian(self, factors: Factors, options: Options) -> np.ndarray:
        """The one Hessian of all samples, when they share the assignment."""
        squares = factors.P[0].astype(np.float64) ** 2
        hessians = self.hessians(factors, options)
        if len(hessians) == 1:
            return squares.sum() * hessians
        return np.einsum("j,jab->ab", squares, hessians)[None]

    def _weighted_basis(self, factors: Factors) -> np.ndarray:
        return self.effective_weights(factors)[:, None] * factors.U

    def solve_codes(self, factors: Factors, options: Options) -> None:
        """Coordinate descent on V, given X projected on the basis."""
        view, V, P = self.view, factors.V, factors.P
        U = self._weighted_basis(factors) if options.shared else factors.U
        packed = view.pack_factors(U, factors.weights)
        cross = np.empty_like(V)

        def task(start: int, stop: int) -> None:
            rows = slice(start, stop)
            block = view.operands(start, stop)
            assigned = P if options.shared else P[rows]
            view.kernels.project_block(*block, *packed, assigned, options.shared, cross[rows])

        for _ in self.crew.each(task, self.blocks):
            pass
        if options.shared:
            squares, hessians = np.ones((1, 1)), self._shared_hessian(factors, options)
        else:
            hessians = self.hessians(factors, options)
            squares = P * P if len(hessians) > 1 else np.sum(P * P, axis=1, keepdims=True)
        solve_codes(
            cross,
            V,
            squares.astype(view.dtype, copy=False),
            hessians.astype(view.dtype),
            view.dtype.type(options.smoothness if self._has_graph else 0),
            self._pointers,
            self._neighbours,
            self._similarity,
            _ROUNDS,
        )

    def shared(self, factors: Factors, options: Options) -> SharedSums:
        """Step of V (unless ``hals`` has made it); all that Θ, P and U need."""
        view, V = self.view, factors.V
        basis = view.pack_basis(self._weighted_basis(factors))
        hessian = view.pack_grams(self._shared_hessian(factors, options))
        norms = self._norms if options.robust else np.zeros(len(V))
        graph = self._graph_rows(options)
        rule = _RULES[options.solver]

        def task(start: int, stop: int) -> tuple[np.ndarray, ...]:
            rows = slice(start, stop)
            block = view.operands(start, stop)
            own = V[rows], *graph(rows)
            cross, gram, loss = view.kernels.shared_block(
                *block, basis, *own, hessian, rule, options.robust, norms[rows], self._tiny
            )
            return cross, gram, np.asarray(loss)

        cross, gram, loss = add_up(self.crew.each(task, self.blocks))
        codes_cross = view.unpack_basis(cross, V.shape[1])
        along = np.einsum("kc,kc->k", factors.U.astype(np.float64), codes_cross)
        return SharedSums(
            column_energy=self.column_energy,
            codes_cross=codes_cross,
            codes_gram=view.unpack_grams(gram, V.shape[1])[0],
            cross=factors.P[0].astype(np.float64)[:, None] ** 2 * along,
            loss=float(loss),
        )

    def _graph_rows(
        self, options: Options
    ) -> Callable[[slice], tuple[np.ndarray, np.ndarray, np.floating]]:
        """What the graph contributes to the rows of a block: S V, degrees, β."""
        scalar = self.view.dtype.type
        if not self._has_graph or options.smoothness == 0 or options.solver == "hals":
            nothing = np.empty((0, 0), self.view.dtype)
            return lambda rows: (nothing, nothing.ravel(), scalar(0))
        strength = scalar(options.smoothness)
        return lambda rows: (self._mean[rows], self._degree[rows], strength)
