"""Compiled updates of a single sample: its code v and its assignment p."""

import numpy as np

from fnmf._compile import njit
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


@njit(nogil=True, cache=True)
def moves(after, before):  # type: ignore[no-untyped-def]
    """Sums of (step², step · after, after²) over rows, added in double precision, (3, c)."""
    wide_vectors()
    n, c = after.shape
    sums = np.zeros((3, lines(c)))
    for a in range(0, sums.shape[1], LINE):
        steps, along, squares = load_line(sums, 0, a), load_line(sums, 1, a), load_line(sums, 2, a)
        for i in range(n):
            new = load_part(after, i, a)
            step = add_scaled(new, after.dtype.type(-1), load_part(before, i, a))
            steps = add_product(steps, step, step)
            along = add_product(along, step, new)
            squares = add_product(squares, new, new)
        store(sums, 0, a, steps)
        store(sums, 1, a, along)
        store(sums, 2, a, squares)
    return sums[:, :c]


@njit(nogil=True, cache=True)
def graph_product(start, stop, V, pointers, neighbours, similarity, degree, out):  # type: ignore[no-untyped-def]
    """Rows ``start`` to ``stop`` of S V; returns their part of v_aᵀ L v_a for each component."""
    wide_vectors()
    width = lines(V.shape[1])
    roughness = np.zeros((1, width))
    for i in range(start, stop):
        first, count = pointers[i], pointers[i + 1] - pointers[i]
        for a in range(0, width, LINE):
            own = load_part(V, i, a)
            pull = nothing(own)
            for e in range(count):
                row = load_part(V, item(neighbours, first + e), a)
                pull = add_scaled(pull, item(similarity, first + e), row)
            store_part(out, i, a, pull)
            # Σ v (degree v − pull), its terms in the type of the codes, their sum in double.
            gap = add_scaled(add_scaled(nothing(own), degree[i], own), V.dtype.type(-1), pull)
            store(roughness, 0, a, add_product(load_line(roughness, 0, a), own, gap))
    return roughness[0, : V.shape[1]]
