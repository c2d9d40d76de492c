"""The sweeps of an iteration over all rows, for one objective.

With ``shared`` assignment one sweep does everything: ``shared``. With an assignment for each
sample ``codes`` updates V and gathers what U needs, ``assign`` updates P and gathers what Θ needs;
where Θ is given ``assign_and_step`` does both at once.
``hals`` needs all codes before any sum: ``solve_codes`` projects in a sweep of its own, and
``assign`` then gathers for every weighting apart, so that Θ and U follow from one sweep.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fnmf.execution import RowArray
from fnmf.factorization.solver._anchor_pull import TiedSums
from fnmf.factorization.solver._pull import AsKept, ExecutionContext, OnBlock, pull_of
from fnmf.factorization.solver._state import Factors
from fnmf.factorization.solver._work import (
    AssignWork,
    CodesSums,
    CodesWork,
    DescentWork,
    GivenSums,
    GivenWork,
    ProjectWork,
    SharedWork,
    squared_shares,
)
from fnmf.factorization.terms import Objective, Rule
from fnmf.kernels.rows import KEEP, PLAIN, SQUARE_ROOT, descend_rows, moves

_STEPS = {"mu": SQUARE_ROOT, "mu-fast": PLAIN, "hals": KEEP}
# Rounds of coordinate descent on the codes: cheap, since they need no pass over the data.
_ROUNDS = 2


@dataclass
class Assigned:
    """What ``assign`` leaves behind.

    Attributes
    ----------
    energy, cross : ndarray of shape (m, d)
        P²ᵀ(X∘X) and P²ᵀ(X∘VUᵀ) with the new P: all that Θ needs.
    grams : ndarray of shape (m, c, c) or (1, c, c)
        Vᵀ diag(p_j²) V, or their sum if the weights act on the data.
    crosses : ndarray of shape (m, d, c)
        Xᵀ diag(p_j²) V, if it was gathered; else empty.
    priced : float
        Σ_ij p_ij² times the price of weighting j for sample i.
    """

    energy: np.ndarray
    cross: np.ndarray
    grams: np.ndarray
    crosses: np.ndarray
    priced: float


class Given(NamedTuple):
    """What ``assign_and_step`` leaves behind.

    Attributes
    ----------
    energy : ndarray of shape (m, d)
        P²ᵀ(X∘X) with the new P.
    priced : float
        Σ_ij p_ij² times the price of weighting j for sample i.
    targets, grams : ndarray of shape (d, c) and (g, c, c)
        (X∘P²Θ)ᵀV and the Gram matrices of the new codes.
    """

    energy: np.ndarray
    priced: float
    targets: np.ndarray
    grams: np.ndarray


@dataclass
class Together:
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
    """An execution context for one objective, and what it keeps between sweeps.

    Parameters
    ----------
    context : ExecutionContext
        Data and runner.
    objective : Objective
        The terms.
    rule : Rule
        How codes are updated.
    """

    def __init__(self, context: ExecutionContext, objective: Objective, rule: Rule) -> None:
        self.context, self.objective, self.rule = context, objective, rule
        self._dtype = context.view.dtype
        self._nothing = np.empty((0, 0), self._dtype)
        self.pull = pull_of(objective.ties, context)
        self._tied: TiedSums | None = None
        self._hessians: np.ndarray | None = None
        # Places for the projected rows and last codes of ``hals``, the same in every iteration.
        self._places: tuple[np.ndarray, np.ndarray] | None = None
        self._of: tuple[np.ndarray | None, ...] = (None, None)
        # Whether sweeps measure what the step of V does; that, and factors of columns since then.
        self.follows = True
        self._moves, self._rescaled = np.zeros((3, 1)), np.ones(1)

    def refresh_ties(self, V: RowArray) -> np.ndarray:
        """Let the pull follow new codes; returns β v_aᵀ L v_a for each component."""
        # What the last sweep has gathered for the ties serves once: it is of these codes.
        sums, self._tied = self._tied, None
        return self.pull.refresh(V, sums)

    def rescale(self, V: RowArray, norms: np.ndarray) -> None:
        """Multiply the columns of V, and of S V with them."""
        factors = norms.astype(V.dtype)
        V *= factors
        self.pull.rescale(factors)
        self._rescaled = factors.astype(np.float64)

    def moved(self) -> float:
        """How far the last iteration has moved the codes, relative to their size.

        Infinitely far for all that is known if it was not followed.
        """
        if not self.follows:
            return np.inf
        steps, along, squares = self._moves
        # Columns were multiplied after the step; so written nothing cancels where both are small.
        more = self._rescaled - 1
        change = float(np.sum(steps + 2 * more * along + more**2 * squares))
        size = float(self._rescaled**2 @ squares)
        return float(np.sqrt(max(change, 0.0) / size)) if size > 0 else 0.0

    def codes(self, factors: Factors) -> tuple[np.ndarray, np.ndarray]:
        """Multiplicative step of V; returns (X∘P²Θ)ᵀV (d x c) and the Gram matrices U needs."""
        tied, work = self._codes_work(*self._packed(factors))
        sums = self.context.sweep(work, factors.V, factors.P, *tied)
        return self._stepped_codes(sums, factors)

    def assign(self, factors: Factors, *, crosses: bool = False) -> Assigned:
        """P of every sample; what Θ needs, and with ``crosses`` U too."""
        layout, V, P = self.context.layout, factors.V, factors.P
        on_residual = self.objective.weighting.on_residual
        work = AssignWork(layout, *self._packed(factors), on_residual, crosses)
        n_weightings, n_components = P.shape[1], V.shape[1]
        sums = self.context.sweep(work, V, P, self._prices(P))
        energy, cross = layout.unpack_moments(sums.moments, n_weightings)
        gathered = sums.crosses
        if crosses:
            gathered = layout.unpack_crosses(gathered, n_weightings, n_components)
        grams = layout.unpack_grams(sums.grams, n_components)
        return Assigned(energy, cross, grams, gathered, float(sums.priced))

    def assign_and_step(self, factors: Factors, *, keep: bool = False) -> Given:
        """P of every sample and the step of V, for weights that stay as they are.

        With ``keep`` the codes too stay as they are.
        """
        layout, V, P = self.context.layout, factors.V, factors.P
        tied, codes = self._codes_work(*self._packed(factors))
        if keep:
            codes = replace(codes, rule=KEEP)
        sums = self.context.sweep(GivenWork(codes), V, P, self._prices(P), *tied)
        energy = layout.unpack_energy(sums.energy, P.shape[1])
        return Given(energy, float(sums.priced), *self._stepped_codes(sums, factors))

    def _packed(self, factors: Factors) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Basis and weights, and the Hessians, in the layout of the kernels."""
        layout = self.context.layout
        hessians = layout.pack_grams(self.hessians(factors))
        return layout.pack_factors(factors.U, factors.weights), hessians

    def _codes_work(
        self, packed: tuple[np.ndarray, ...], hessians: np.ndarray
    ) -> tuple[tuple[RowArray, ...], CodesWork]:
        tied, ties, strength = self._pulling()
        step = _STEPS[self.rule.name]
        layout = self.context.layout
        return tied, CodesWork(layout, packed, hessians, ties, strength, step, self.follows)

    def _prices(self, P: RowArray) -> RowArray:
        """What each weighting costs a sample; without rows if nothing."""
        prices = self.objective.weighting.prices
        return np.empty((0, P.shape[1]), self._dtype) if prices is None else prices

    def _stepped_codes(
        self, sums: CodesSums | GivenSums, factors: Factors
    ) -> tuple[np.ndarray, np.ndarray]:
        """What U needs; the rest is kept for the ties and for who asks how far codes have moved."""
        layout, n_components = self.context.layout, factors.V.shape[1]
        self._tied = TiedSums(sums.held, sums.squares)
        self._stepped(sums.moves)
        return (
            layout.unpack_basis(sums.targets, n_components),
            layout.unpack_grams(sums.grams, n_components),
        )

    def shared(self, factors: Factors) -> Together:
        """Step of V (unless ``hals`` has made it); all that Θ, P and U need."""
        context, layout, V = self.context, self.context.layout, factors.V
        basis = layout.pack_basis(self._weighted_basis(factors))
        hessian = self._shared_hessian(factors)[0].astype(self._dtype)
        robust = self.objective.robust
        tied, ties, strength = self._pulling()
        step = _STEPS[self.rule.name], robust, self.follows
        work = SharedWork(layout, basis, hessian, ties, strength, *step)
        # Before the codes move: what is expected of missing cells moves with them.
        energy = context.column_energy
        norms = context.row_energy if robust else self._nothing.ravel()
        sums = context.sweep(work, V, norms, *tied)
        self._tied = TiedSums(sums.held, sums.squares)
        if not self.rule.in_turn:
            self._stepped(sums.moves)
        codes_cross = layout.unpack_basis(sums.cross, V.shape[1])
        along = np.einsum("kc,kc->k", factors.U.astype(np.float64), codes_cross)
        return Together(
            column_energy=energy,
            codes_cross=codes_cross,
            codes_gram=sums.gram,
            cross=factors.P[0].astype(np.float64)[:, None] ** 2 * along,
            loss=float(sums.loss),
        )

    def solve_codes(self, factors: Factors, rounds: int = _ROUNDS, least: float = 0.0) -> None:
        """Coordinate descent on V, given X projected on the basis.

        With a rule that takes samples in turn each sees its neighbours' newest codes; with any
        other what the ties pull towards stands still, and a code is at least this share of the
        largest of its row.
        """
        layout, V, P = self.context.layout, factors.V, factors.P
        ties, shared = self.objective.ties, self.objective.shared
        if shared:
            project = ProjectWork(layout, (layout.pack_basis(self._weighted_basis(factors)),))
        else:
            project = ProjectWork(layout, layout.pack_factors(factors.U, factors.weights))
        hessians = self._shared_hessian(factors) if shared else self.hessians(factors)
        own = () if shared else (P,)
        tied, on_block, strength = self._pulling()
        if ties.strength == 0 or strength > 0:
            grams = hessians.astype(self._dtype)
            work = DescentWork(project, grams, on_block, strength, rounds, least)
            (moved,) = self.context.sweep(work, V, *tied, *own)
            self._stepped(moved)
            return
        if self._places is None:
            self._places = np.empty_like(V), np.empty_like(V)
        cross, before = self._places
        np.copyto(before, V)
        self.context.sweep(project, cross, *own)
        assert ties.edges is not None
        squares = squared_shares(None if shared else P, len(hessians), self._dtype)
        held = ties.strength, (*ties.edges, ties.degree)
        descend_rows(V, cross, squares, hessians, rounds, *held)
        self._stepped(moves(V, before))

    def _stepped(self, sums: np.ndarray) -> None:
        self._moves, self._rescaled = sums, np.ones(sums.shape[1])

    def effective_weights(self, factors: Factors) -> np.ndarray:
        """Σ_j p_j² θ_j, the one weight of a feature when all samples share the assignment."""
        return factors.P[0].astype(np.float64) ** 2 @ factors.weights

    def hessians(self, factors: Factors) -> np.ndarray:
        """Uᵀ diag(gain_j) U: the Hessians of the data term in v.

        One for each weighting if the weights act on the residual, else one for all.
        """
        on_residual = self.objective.weighting.on_residual
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

    def _shared_hessian(self, factors: Factors) -> np.ndarray:
        """The one Hessian of all samples, when they share the assignment."""
        squares = factors.P[0].astype(np.float64) ** 2
        hessians = self.hessians(factors)
        if len(hessians) == 1:
            return squares.sum() * hessians
        return np.einsum("j,jab->ab", squares, hessians)[None]

    def _weighted_basis(self, factors: Factors) -> np.ndarray:
        return self.effective_weights(factors)[:, None] * factors.U

    def _pulling(self) -> tuple[tuple[RowArray, ...], OnBlock, np.floating]:
        """What the ties contribute to a multiplicative step: rows, what is done with them, β."""
        ties, scalar = self.objective.ties, self._dtype.type
        if ties.strength == 0 or self.rule.in_turn:
            return (self._nothing, self._nothing.ravel()), AsKept(), scalar(0)
        return self.pull.rows, self.pull.on_block, scalar(ties.strength)
