"""The sweeps of an iteration over all row blocks of a data view.

With ``shared`` assignment one sweep does everything. With an assignment for each sample the
first sweep updates V and P and gathers what Θ needs; the second gathers what U needs, because
that depends on the new Θ. ``hals`` needs all codes before any sum, so it projects in one sweep and
gathers, for every weighting apart, in a second.
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
# Rounds of coordinate descent on the codes: cheap, since they need no pass over the data.
_ROUNDS = 3


@dataclass
class SampleSums:
    """What the sweeps leave behind when every sample has its own assignment.

    Attributes
    ----------
    energy, cross : ndarray of shape (m, d)
        P²ᵀ(X∘X) and P²ᵀ(X∘VUᵀ) with the new V and P: all that Θ needs.
    grams : ndarray of shape (m, c, c)
        Vᵀ diag(p_j²) V.
    crosses : ndarray of shape (m, d, c) or None
        Xᵀ diag(p_j²) V, if it was gathered.
    """

    energy: np.ndarray
    cross: np.ndarray
    grams: np.ndarray
    crosses: np.ndarray | None

    def weighted_energy(self, P: np.ndarray) -> np.ndarray:
        return self.energy

    def weighted_grams(self, P: np.ndarray) -> np.ndarray:
        return self.grams


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

    def weighted_energy(self, P: np.ndarray) -> np.ndarray:
        return P[0].astype(np.float64)[:, None] ** 2 * self.column_energy

    def weighted_grams(self, P: np.ndarray) -> np.ndarray:
        return P[0].astype(np.float64)[:, None, None] ** 2 * self.codes_gram


Sums = SampleSums | SharedSums


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
        self._pointers = graph.indptr.astype(np.int64)
        self._neighbours = graph.indices.astype(np.int32 if n_samples < 2**31 else np.int64)
        self._similarity = graph.data.astype(view.dtype, copy=False)
        self._degree = np.asarray(graph.sum(axis=1), dtype=view.dtype).ravel()
        self._mean = np.empty((0, 0), view.dtype)
        self._has_graph = graph.nnz > 0
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

        def task(start: int, stop: int) -> tuple[np.ndarray]:
            graph_product(
                start, stop, V, self._pointers, self._neighbours, self._similarity, self._mean
            )
            rows = slice(start, stop)
            gap = self._degree[rows, None] * V[rows] - self._mean[rows]
            return (np.einsum("ic,ic->c", V[rows], gap, dtype=np.float64),)

        (roughness,) = add_up(self.crew.each(task, self.blocks))
        return np.maximum(roughness, 0.0)

    def rescale(self, V: np.ndarray, norms: np.ndarray) -> None:
        """Multiply the columns of V, and of S V with them."""
        V *= norms.astype(V.dtype)
        if self._has_graph:
            self._mean *= norms.astype(V.dtype)

    def samples(self, factors: Factors, options: Options) -> Sums:
        """Update V and P; gather what Θ needs."""
        if options.solver == "hals":
            self._solve_codes(factors, options)
        if options.shared:
            return self._shared_sums(factors, options)
        return self._sample_sums(factors, options)

    def targets(self, factors: Factors, sums: Sums, options: Options) -> np.ndarray:
        """(X ∘ P²Θ)ᵀ V with the new Θ: what U needs."""
        if isinstance(sums, SharedSums):
            return self._effective(factors)[:, None] * sums.codes_cross
        if sums.crosses is not None:
            return np.einsum("jk,jkc->kc", factors.weights, sums.crosses)
        view, V, P = self.view, factors.V, factors.P
        weights = view.pack_weights(factors.weights)

        def task(start: int, stop: int) -> tuple[np.ndarray]:
            rows = slice(start, stop)
            return (
                view.kernels.features_block(*view.block(start, stop), weights, V[rows], P[rows]),
            )

        (total,) = add_up(self.crew.each(task, self.blocks))
        return view.unpack_basis(total, V.shape[1])

    def _effective(self, factors: Factors) -> np.ndarray:
        """Σ_j p_j² θ_j, the one weight of a feature when all samples share the assignment."""
        return factors.P[0].astype(np.float64) ** 2 @ factors.weights

    def _hessians(self, factors: Factors, options: Options) -> np.ndarray:
        """Uᵀ diag(gain_j) U for each weighting: the Hessians of the data term in v."""
        U = factors.U.astype(np.float64)
        if options.weighting.on_residual:
            grams = np.stack([(U * w[:, None]).T @ U for w in factors.weights])
        else:
            grams = np.repeat((U.T @ U)[None], len(factors.weights), axis=0)
        return np.ascontiguousarray(grams, dtype=self.view.dtype)

    def _basis(self, factors: Factors, options: Options) -> np.ndarray:
        if options.shared:
            return self.view.pack_basis(self._effective(factors)[:, None] * factors.U)
        return self.view.pack_basis(factors.U)

    def _solve_codes(self, factors: Factors, options: Options) -> None:
        view, V, P = self.view, factors.V, factors.P
        basis = self._basis(factors, options)
        weights = view.pack_weights(factors.weights)
        cross = np.empty_like(V)

        def task(start: int, stop: int) -> None:
            rows = slice(start, stop)
            block = view.block(start, stop)
            assigned = P if options.shared else P[rows]
            view.kernels.project_block(
                *block, basis, weights, assigned, options.shared, cross[rows]
            )

        for _ in self.crew.each(task, self.blocks):
            pass
        solve_codes(
            cross,
            V,
            P * P,
            self._hessians(factors, options),
            view.dtype.type(options.smoothness if self._has_graph else 0),
            self._pointers,
            self._neighbours,
            self._similarity,
            _ROUNDS,
        )

    def _shared_sums(self, factors: Factors, options: Options) -> SharedSums:
        view, V = self.view, factors.V
        basis = self._basis(factors, options)
        squares = factors.P[0].astype(view.dtype) ** 2
        hessian = np.einsum("j,jab->ab", squares, self._hessians(factors, options))
        norms = self._norms if options.robust else np.zeros(1)
        arguments = self._row_arguments(options)

        def task(start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            rows = slice(start, stop)
            mean, degree, smoothness = arguments(rows)
            cross, gram, loss = view.kernels.shared_block(
                *view.block(start, stop),
                basis,
                V[rows],
                mean,
                degree,
                smoothness,
                hessian,
                _RULES[options.solver],
                options.robust,
                norms[rows] if options.robust else norms,
                self._tiny,
            )
            return cross, gram, np.asarray(loss)

        cross, gram, loss = add_up(self.crew.each(task, self.blocks))
        codes_cross = view.unpack_basis(cross, V.shape[1])
        along = np.einsum("kc,kc->k", factors.U.astype(np.float64), codes_cross)
        return SharedSums(
            column_energy=self.column_energy,
            codes_cross=codes_cross,
            codes_gram=gram,
            cross=factors.P[0].astype(np.float64)[:, None] ** 2 * along,
            loss=float(loss),
        )

    def _sample_sums(self, factors: Factors, options: Options) -> SampleSums:
        view, V, P = self.view, factors.V, factors.P
        basis = self._basis(factors, options)
        weights = view.pack_weights(factors.weights)
        hessians = self._hessians(factors, options)
        n_weightings = P.shape[1]
        prices = np.empty((0, n_weightings)) if options.prices is None else options.prices
        prices = prices.astype(view.dtype, copy=False)
        arguments = self._row_arguments(options)
        crosses = options.solver == "hals"

        def task(start: int, stop: int) -> tuple[np.ndarray, ...]:
            rows = slice(start, stop)
            mean, degree, smoothness = arguments(rows)
            return view.kernels.samples_block(
                *view.block(start, stop),
                basis,
                weights,
                V[rows],
                P[rows],
                mean,
                degree,
                smoothness,
                hessians,
                prices[rows],
                options.weighting.on_residual,
                _RULES[options.solver],
                crosses,
                self._tiny,
            )

        energy, cross, grams, totals = add_up(self.crew.each(task, self.blocks))
        return SampleSums(
            energy=view.unpack_weights(energy, n_weightings),
            cross=view.unpack_weights(cross, n_weightings),
            grams=grams,
            crosses=view.unpack_crosses(totals, n_weightings, V.shape[1]) if crosses else None,
        )

    def _row_arguments(
        self, options: Options
    ) -> Callable[[slice], tuple[np.ndarray, np.ndarray, np.floating]]:
        """What the graph contributes to the rows of a block."""
        scalar = self.view.dtype.type
        if not self._has_graph or options.smoothness == 0 or options.solver == "hals":
            nothing = np.empty((0, 0), self.view.dtype)
            return lambda rows: (nothing, nothing.ravel(), scalar(0))
        strength = scalar(options.smoothness)
        return lambda rows: (self._mean[rows], self._degree[rows], strength)
