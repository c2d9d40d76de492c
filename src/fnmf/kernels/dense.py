"""Block functions for dense rows.

Each takes a block of rows with the current factors and returns small sums; rows of V and P that
belong to the block are updated in place. Nothing else is touched, so blocks can run anywhere.
All arrays over the features are padded to whole cache lines, over the components and
weightings to whole tiles (see ``tiles``); only X is not. X is an array or ``Rescaled``, of the
same float type as all the rest.
"""

import numpy as np

from fnmf._compile import njit
from fnmf.data import BATCH
from fnmf.kernels.groups import (
    add_grams,
    curve,
    load_codes,
    load_squares,
    step,
    weigh_codes,
)
from fnmf.kernels.lanes import quads
from fnmf.kernels.panels import add_outer, reconstruct
from fnmf.kernels.products import add_outer_rows, project_rows
from fnmf.kernels.rescale import Rescaled, four_rows, rescaled
from fnmf.kernels.rows import KEEP, assign_rows
from fnmf.kernels.tiles import (
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
