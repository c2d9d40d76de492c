"""Block functions for dense rows.

Each takes a block of rows with the current factors and returns small sums; rows of V and P that
belong to the block are updated in place. Nothing else is touched, so blocks can run anywhere.
All arrays over the features are padded to whole cache lines, over the components and
weightings to whole tiles (see ``tiles``); only X is not. X is an array or ``Rescaled``, of the
same float type as all the rest.
"""

import numpy as np

from fnmf._compile import FAST, njit
from fnmf.data import BATCH
from fnmf.kernels.groups import (
    PANEL,
    add_grams,
    add_outer,
    curve,
    load_codes,
    load_squares,
    reconstruct,
    step,
    weigh_codes,
)
from fnmf.kernels.lanes import add_scaled, load_line, load_part, quads, smaller, store
from fnmf.kernels.rescale import Rescaled, four_rows, rescaled
from fnmf.kernels.rows import KEEP, assign_rows
from fnmf.kernels.tiles import (
    COMPONENTS,
    LINE,
    ROWS,
    add_energy,
    add_moments,
    padded,
    project,
    target_residuals,
    weigh,
    weighted_residuals,
    wide_vectors,
    zeros,
)

# Entries of rows that are weighed at a time, each in its own way.
_CACHED = 1 << 15


# Four rows meet five components, so that every value loaded takes part in several multiply-adds.
# With so few components the products of linear algebra libraries take half as long again.
@njit(nogil=True, cache=True, fastmath=FAST)
def project_rows(X, caps, basis, out):  # type: ignore[no-untyped-def]
    """out = min(X, caps) @ basisᵀ; rows of ``basis`` in whole tiles, of ``out`` in whole groups."""
    wide_vectors()
    last, zero = X.shape[0] - 1, X.dtype.type(0)
    for i in range(0, X.shape[0], ROWS):
        x0, x1, x2, x3 = X[i], X[min(i + 1, last)], X[min(i + 2, last)], X[min(i + 3, last)]
        for c in range(0, basis.shape[0], COMPONENTS):
            u0, u1, u2, u3, u4 = basis[c], basis[c + 1], basis[c + 2], basis[c + 3], basis[c + 4]
            a0 = a1 = a2 = a3 = a4 = zero
            b0 = b1 = b2 = b3 = b4 = zero
            c0 = c1 = c2 = c3 = c4 = zero
            d0 = d1 = d2 = d3 = d4 = zero
            for k in range(x0.shape[0]):
                cap, u, v, w, x, y = caps[k], u0[k], u1[k], u2[k], u3[k], u4[k]
                p, q, r, s = min(x0[k], cap), min(x1[k], cap), min(x2[k], cap), min(x3[k], cap)
                a0, a1, a2, a3, a4 = a0 + p * u, a1 + p * v, a2 + p * w, a3 + p * x, a4 + p * y
                b0, b1, b2, b3, b4 = b0 + q * u, b1 + q * v, b2 + q * w, b3 + q * x, b4 + q * y
                c0, c1, c2, c3, c4 = c0 + r * u, c1 + r * v, c2 + r * w, c3 + r * x, c4 + r * y
                d0, d1, d2, d3, d4 = d0 + s * u, d1 + s * v, d2 + s * w, d3 + s * x, d4 + s * y
            o0, o1, o2, o3 = out[i], out[i + 1], out[i + 2], out[i + 3]
            o0[c], o0[c + 1], o0[c + 2], o0[c + 3], o0[c + 4] = a0, a1, a2, a3, a4
            o1[c], o1[c + 1], o1[c + 2], o1[c + 3], o1[c + 4] = b0, b1, b2, b3, b4
            o2[c], o2[c + 1], o2[c + 2], o2[c + 3], o2[c + 4] = c0, c1, c2, c3, c4
            o3[c], o3[c + 1], o3[c + 2], o3[c + 3], o3[c + 4] = d0, d1, d2, d3, d4


@njit(nogil=True, cache=True)
def add_outer_rows(codes, X, caps, total):  # type: ignore[no-untyped-def]
    """total += codesᵀ @ min(X, caps); ``codes`` in whole groups and tiles, past the end zero."""
    wide_vectors()
    n, last = X.shape[0], X.shape[0] - 1
    for batch in range(0, n, BATCH):
        for first in range(0, total.shape[1], PANEL):
            for c in range(0, total.shape[0], COMPONENTS):
                for i in range(batch, min(batch + BATCH, n), ROWS):
                    j1, j2, j3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
                    v0, v1, v2, v3 = codes[i], codes[i + 1], codes[i + 2], codes[i + 3]
                    # Read before the loop: one that may overwrite them reads them every time.
                    a0, a1, a2, a3, a4 = v0[c], v0[c + 1], v0[c + 2], v0[c + 3], v0[c + 4]
                    b0, b1, b2, b3, b4 = v1[c], v1[c + 1], v1[c + 2], v1[c + 3], v1[c + 4]
                    c0, c1, c2, c3, c4 = v2[c], v2[c + 1], v2[c + 2], v2[c + 3], v2[c + 4]
                    d0, d1, d2, d3, d4 = v3[c], v3[c + 1], v3[c + 2], v3[c + 3], v3[c + 4]
                    for k in range(first, min(first + PANEL, total.shape[1]), LINE):
                        cap = load_part(caps, 0, k)
                        p, q = smaller(load_part(X, i, k), cap), smaller(load_part(X, j1, k), cap)
                        r, s = smaller(load_part(X, j2, k), cap), smaller(load_part(X, j3, k), cap)
                        t = add_scaled(add_scaled(load_line(total, c, k), a0, p), b0, q)
                        store(total, c, k, add_scaled(add_scaled(t, c0, r), d0, s))
                        t = add_scaled(add_scaled(load_line(total, c + 1, k), a1, p), b1, q)
                        store(total, c + 1, k, add_scaled(add_scaled(t, c1, r), d1, s))
                        t = add_scaled(add_scaled(load_line(total, c + 2, k), a2, p), b2, q)
                        store(total, c + 2, k, add_scaled(add_scaled(t, c2, r), d2, s))
                        t = add_scaled(add_scaled(load_line(total, c + 3, k), a3, p), b3, q)
                        store(total, c + 3, k, add_scaled(add_scaled(t, c3, r), d3, s))
                        t = add_scaled(add_scaled(load_line(total, c + 4, k), a4, p), b4, q)
                        store(total, c + 4, k, add_scaled(add_scaled(t, c4, r), d4, s))


def project_block(X: np.ndarray | Rescaled, basis: np.ndarray, out: np.ndarray) -> None:
    """out = X @ basisᵀ, with the weights that all samples share already in the basis."""
    rows, (n, n_components) = rescaled(X), out.shape
    products = np.empty((padded(n, ROWS), len(basis)), out.dtype)
    # Factors of columns and rows are left to the smaller arrays.
    along = basis.copy()
    along[:, : len(rows.columns)] *= rows.columns
    project_rows(rows.X, rows.caps, along, products)
    np.multiply(products[:n, :n_components], rows.rows[:, None], out=out)


def outer_block(X: np.ndarray | Rescaled, codes: np.ndarray, out: np.ndarray) -> None:
    """out = Xᵀ @ codes; ``out`` has the layout of a basis and is zero."""
    rows, (n, n_components) = rescaled(X), codes.shape
    own = np.zeros((padded(n, ROWS), len(out)), codes.dtype)
    np.multiply(codes, rows.rows[:, None], out=own[:n, :n_components])
    add_outer_rows(own, rows.X, rows.caps[None], out)
    out[:, : len(rows.columns)] *= rows.columns


def project_weighed_block(
    X: np.ndarray | Rescaled, basis: np.ndarray, weights: np.ndarray, P: np.ndarray, out: np.ndarray
) -> None:
    """out = (X ∘ P² weights) @ basisᵀ."""
    X, caps, columns = (rows := rescaled(X)).X, rows.caps, rows.columns
    n, n_components = out.shape
    along = basis[:n_components, : len(columns)].T
    mixed = columns * weights[: P.shape[1], : len(columns)]
    # So many rows that they stay in the cache with their weights.
    size = max(_CACHED // max(len(columns), 1), BATCH)
    for start in range(0, n, size):
        few = slice(start, start + size)
        weighed = np.minimum(X[few], caps) * (np.square(P[few]) @ mixed)
        out[few] = rows.rows[few, None] * (weighed @ along)


@njit(nogil=True, cache=True)
def codes_block(X, basis, weights, V, P, pull, degree, strength, hessians, prices, rule, tiny):  # type: ignore[no-untyped-def]
    """Multiplicative step of V, every sample with its own mixture of weightings.

    With ``prices`` P comes first, its exact minimiser for weights that act on the residual.
    Returns (X ∘ P² weights)ᵀ V with the new V, and for each Hessian that was given
    Vᵀ diag(p_j²) V (of the sum of the p_j², if one serves all): what U needs. With ``prices``
    there follows P²ᵀ(X∘X), m x d.
    """
    wide_vectors()
    n_rows, n_components = V.shape
    n_padded, width = basis.shape
    wide = hessians.shape[1]
    mix = zeros(ROWS, weights.shape[0], V)
    scales = zeros(ROWS, hessians.shape[0] // n_components, V)
    weighed = zeros(BATCH, width, V)
    products = zeros(ROWS, wide, V)
    codes = zeros(BATCH, wide, V)
    curved = zeros(ROWS, wide, V)
    targets = zeros(n_padded, width, V)
    codes_grams = zeros(hessians.shape[0], wide, V)
    buffer = zeros(ROWS, width, V)
    energy = zeros(0 if prices is None else weights.shape[0], width, V)
    residuals = zeros(ROWS, quads(weights.shape[0]), V)
    for first in range(0, n_rows, BATCH):
        for start in range(first, first + BATCH, ROWS):
            group = slice(start - first, start - first + ROWS)
            own, y = codes[group], weighed[group]
            x0, x1, x2, x3 = four_rows(X, start, n_rows, buffer, False)
            stop = min(start + ROWS, n_rows)
            load_codes(start, V, own)
            if prices is not None:
                # The fit has its place where the weighed rows will be.
                reconstruct(own, basis, y)
                weighted_residuals(x0, x1, x2, x3, y, weights, residuals)
                assign_rows(start, stop, residuals, prices, tiny, P)
            load_squares(start, P, mix, scales)
            if prices is not None:
                add_energy(x0, x1, x2, x3, mix, energy)
            weigh(x0, x1, x2, x3, mix, weights, y)
            if rule != KEEP:
                project(y[0], y[1], y[2], y[3], basis, products)
                curve(own, scales, hessians, n_components, curved)
                step(start, stop, V, own, products, curved, pull, degree, strength, rule, tiny)
            add_grams(own, scales, n_components, codes_grams)
        add_outer(codes, weighed, targets)
    return targets, codes_grams, energy


@njit(nogil=True, cache=True)
def assign_block(X, basis, weights, V, P, hessians, prices, on_residual, crosses, tiny):  # type: ignore[no-untyped-def]
    """P of every sample, its exact minimiser.

    Returns, with the new P: P²ᵀ(X∘X) above P²ᵀ(X∘V basis), both m x d; Vᵀ diag(p_j²) V for each
    Hessian that was given (of the sum of the p_j², if one serves all); and, if ``crosses``,
    Xᵀ diag(p_j²) V for each weighting.
    """
    wide_vectors()
    n_rows, n_components = V.shape
    n_weightings = P.shape[1]
    n_padded, width = basis.shape
    n_grams = hessians.shape[0] // n_components
    mix = zeros(ROWS, weights.shape[0], V)
    scales = zeros(ROWS, n_grams, V)
    codes = zeros(ROWS, hessians.shape[1], V)
    weighted = zeros(ROWS, hessians.shape[1], V)
    fits = zeros(ROWS, width, V)
    residuals = zeros(ROWS, quads(weights.shape[0]), V)
    moments = zeros(2 * weights.shape[0], width, V)
    energy, cross = moments[: weights.shape[0]], moments[weights.shape[0] :]
    totals = zeros(n_weightings * n_padded if crosses else 0, width, V)
    totals = totals.reshape(-1, n_padded, width)
    codes_grams = zeros(hessians.shape[0], hessians.shape[1], V)
    buffer = zeros(ROWS, basis.shape[1], V)
    for start in range(0, n_rows, ROWS):
        x0, x1, x2, x3 = four_rows(X, start, n_rows, buffer, crosses)
        load_codes(start, V, codes)
        reconstruct(codes, basis, fits)
        if on_residual:
            weighted_residuals(x0, x1, x2, x3, fits, weights, residuals)
        else:
            target_residuals(x0, x1, x2, x3, fits, weights, residuals)
        assign_rows(start, min(start + ROWS, n_rows), residuals, prices, tiny, P)
        load_squares(start, P, mix, scales)
        add_moments(x0, x1, x2, x3, fits, mix, energy, cross)
        add_grams(codes, scales, n_components, codes_grams)
        for j in range(n_weightings if crosses else 0):
            weigh_codes(codes, mix[:, j : j + 1], weighted)
            add_outer(weighted, buffer, totals[j])
    return moments, codes_grams, totals
