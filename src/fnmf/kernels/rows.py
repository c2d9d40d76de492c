"""Compiled updates of single rows: the code v by coordinate descent, the assignment p, or both."""

import numpy as np

from fnmf._compile import FAST, njit
from fnmf.kernels.lanes import (
    QUAD,
    add_product,
    add_scaled,
    divided,
    filled,
    item,
    kept,
    lines,
    load_line,
    load_part,
    load_quad,
    nothing,
    store,
    store_part,
    summed,
)
from fnmf.kernels.tiles import LINE, wide_vectors

# How a row of V is updated inside a sweep.
KEEP, SQUARE_ROOT, PLAIN = 0, 1, 2
# Rows without neighbours: pointers, neighbours, similarities, degrees.
_NOBODY = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0)


# No residual that is divided by is zero: without Python's check for it the loop is straight.
@njit(nogil=True, cache=True, error_model="numpy")
def assign_row(residuals, r, floor, P, i):  # type: ignore[no-untyped-def]
    """P[i, j] = (1/q_j) / Σ_l (1/q_l), for the residuals q in row ``r``, which has whole quads.

    Residuals at or below ``floor`` count as equal and as zero.
    """
    n_weightings = P.shape[1]
    smallest = residuals[r, 0]
    for j in range(1, n_weightings):
        smallest = min(smallest, residuals[r, j])
    if smallest <= floor:
        n_zero = 0
        for j in range(n_weightings):
            n_zero += residuals[r, j] <= floor
        for j in range(n_weightings):
            P[i, j] = 1.0 / n_zero if residuals[r, j] <= floor else 0.0
        return
    total = residuals.dtype.type(0)
    for j in range(0, n_weightings, QUAD):
        own = load_quad(residuals, r, j)
        # Relative to the smallest, so that tiny residuals do not overflow.
        share = kept(divided(filled(smallest, own), own), n_weightings - j)
        total += summed(share)
        store(residuals, r, j, share)
    for j in range(0, n_weightings, QUAD):
        share = load_quad(residuals, r, j)
        store_part(P, i, j, divided(share, filled(total, share)))


@njit(nogil=True, cache=True, forceinline=True)
def assign_rows(start, stop, residuals, prices, floor, P):  # type: ignore[no-untyped-def]
    """``assign_row`` for each row of a group, with what weightings cost if they cost anything."""
    for i in range(start, stop):
        for j in range(P.shape[1] if prices.shape[0] > 0 else 0):
            residuals[i - start, j] += prices[i, j]
        assign_row(residuals, i - start, floor, P, i)


def moves(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Sums of (step², step · after, after²) over rows, added in double precision, (3, c)."""
    sums = np.zeros((3, lines(after.shape[1])))
    _add_moves(after, before, sums)
    return sums[:, : after.shape[1]]


# Room is made outside of compiled code: every way to make an array would have to be compiled too.
@njit(nogil=True, cache=True)
def _add_moves(after, before, sums):  # type: ignore[no-untyped-def]
    wide_vectors()
    for a in range(0, sums.shape[1], LINE):
        steps, along, squares = load_line(sums, 0, a), load_line(sums, 1, a), load_line(sums, 2, a)
        for i in range(after.shape[0]):
            new = load_part(after, i, a)
            step = add_scaled(new, after.dtype.type(-1), load_part(before, i, a))
            steps = add_product(steps, step, step)
            along = add_product(along, step, new)
            squares = add_product(squares, new, new)
        store(sums, 0, a, steps)
        store(sums, 1, a, along)
        store(sums, 2, a, squares)


def graph_product(
    start: int,
    stop: int,
    V: np.ndarray,
    edges: tuple[np.ndarray, ...],
    degree: np.ndarray,
    out: np.ndarray,
) -> np.ndarray:
    """Rows ``start`` to ``stop`` of S V; returns their part of v_aᵀ L v_a for each component."""
    roughness = np.zeros((1, lines(V.shape[1])))
    _add_neighbours(start, stop, V, *edges, degree, out, roughness)
    return roughness[0, : V.shape[1]]


@njit(nogil=True, cache=True)
def _add_neighbours(  # type: ignore[no-untyped-def]
    start, stop, V, pointers, neighbours, similarity, degree, out, roughness
):
    wide_vectors()
    for i in range(start, stop):
        first, count = pointers[i], pointers[i + 1] - pointers[i]
        for a in range(0, roughness.shape[1], LINE):
            own = load_part(V, i, a)
            pull = nothing(own)
            for e in range(count):
                row = load_part(V, item(neighbours, first + e), a)
                pull = add_scaled(pull, item(similarity, first + e), row)
            store_part(out, i, a, pull)
            # Σ v (degree v − pull), its terms in the type of the codes, their sum in double.
            gap = add_scaled(add_scaled(nothing(own), degree[i], own), V.dtype.type(-1), pull)
            store(roughness, 0, a, add_product(load_line(roughness, 0, a), own, gap))


def descend_rows(
    values: np.ndarray,
    cross: np.ndarray,
    scales: np.ndarray,
    grams: np.ndarray,
    rounds: int,
    strength: float = 0.0,
    ties: tuple[np.ndarray, ...] = _NOBODY,
) -> None:
    """Minimise ½ vᵀHv − (cross + pull)·v over each v_a ≥ 0 in turn, for all rows v of ``values``.

    In double precision. Row k has the Hessian H = Σ_j scales_kj grams_j; with a single row of
    scales it serves all. With ``ties``, lists of neighbours and degrees, rows are taken in turn,
    each seeing its neighbours' newest values: so every single step lowers the objective with its
    graph term, which updating all rows at once would not. Without neighbours the degrees are
    drags on single rows.
    """
    pointers, near, similarity, degree = ties
    # One compiled version, whatever the type of the data.
    given = values, cross, scales, grams, similarity, degree
    exact, *others = (np.ascontiguousarray(one, np.float64) for one in given)
    c = values.shape[1]
    # One Hessian is read where it is; several are mixed.
    hessian = others[2][0] if len(grams) == 1 else np.empty((c, c))
    room = hessian, np.empty(c)
    # In turn means one step of each row before the next step of any.
    how = float(strength), *((int(rounds), 1) if len(near) else (1, int(rounds)))
    _descend(exact, *others, pointers, near, *how, *room)
    if exact is not values:
        values[:] = exact


# One function: each that is inlined is compiled by itself as well.
@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _descend(  # type: ignore[no-untyped-def]
    values,
    cross,
    scales,
    grams,
    similarity,
    degree,
    pointers,
    near,
    strength,
    turns,
    steps,
    hessian,
    slopes,
):
    """``slopes`` is room for −gradient: kept up to date, a step needs no product but the one that
    follows from it, and an entry that stays at 0 needs none.
    """
    c, shared = len(slopes), len(scales) == 1
    for _ in range(turns):
        for i in range(len(values)):
            drag = 0.0
            scale = scales[0 if shared else i, 0] if len(grams) == 1 else 1.0
            if len(grams) > 1 and (i == 0 or not shared):
                hessian[:] = 0
                for j in range(len(grams)):
                    for a in range(c):
                        for b in range(c):
                            hessian[a, b] += scales[i, j] * grams[j, a, b]
            for a in range(c):
                slopes[a] = cross[i, a]
            if strength > 0:
                drag = strength * degree[i]
                for entry in range(pointers[i], pointers[i + 1]):
                    weight, k = strength * similarity[entry], near[entry]
                    for a in range(c):
                        slopes[a] += weight * values[k, a]
                for a in range(c):
                    slopes[a] -= drag * values[i, a]
            # First all entries as they are, then one after the other as it moves.
            for step in range(-1, steps):
                for a in range(c):
                    before, curvature = values[i, a], scale * hessian[a, a] + drag
                    moved = before
                    if step >= 0:
                        after = max(before + slopes[a] / curvature, 0.0)
                        if curvature <= 0 or after == before:
                            continue
                        values[i, a] = after
                        moved = after - before
                        slopes[a] -= drag * moved
                    if moved != 0:
                        for b in range(c):
                            slopes[b] -= scale * moved * hessian[a, b]
