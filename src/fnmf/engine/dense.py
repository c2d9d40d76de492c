"""Block functions for dense rows.

Each takes a block of rows with the current factors and returns small sums; rows of V and P that
belong to the block are updated in place. Nothing else is touched, so blocks can run anywhere.
All arrays over the features are padded to whole cache lines, over the components and
weightings to whole tiles (see ``tiles``); only X is not.
"""

import numpy as np
from numba import njit

from fnmf.engine.rows import KEEP, SQUARE_ROOT, assign_row
from fnmf.engine.tiles import (
    ROWS,
    add_moments,
    add_outer,
    project,
    reconstruct,
    target_residuals,
    weigh,
    weighted_residuals,
    zeros,
)
from fnmf.model.descent import FAST


@njit(nogil=True, cache=True)
def _row(i, n_rows):  # type: ignore[no-untyped-def]
    # The last group repeats the last row; repeated rows carry no weight in any sum.
    return min(i, n_rows - 1)


@njit(nogil=True, cache=True)
def _load(start, values, group, square):  # type: ignore[no-untyped-def]
    """Four rows of codes or assignments into a padded tile; rows past the end become zero."""
    group[:] = 0
    for r in range(ROWS):
        if start + r < values.shape[0]:
            for a in range(values.shape[1]):
                value = values[start + r, a]
                group[r, a] = value * value if square else value


@njit(nogil=True, cache=True, fastmath=FAST)
def _step(start, stop, V, products, pulls, graph_mean, degree, smoothness, rule, tiny):  # type: ignore[no-untyped-def]
    """Multiplicative step of the codes of a group; ``pulls`` holds hessian v for each row."""
    one = V.dtype.type(1)
    for i in range(start, stop):
        r = i - start
        drag = smoothness * degree[i] if smoothness > 0 else smoothness
        for a in range(V.shape[1]):
            above = products[r, a]
            if smoothness > 0:
                above += smoothness * graph_mean[i, a]
            below = pulls[r, a] + drag * V[i, a]
            # A row of zeros stays zero; without a floor of this size its ratio could be infinite.
            ratio = above / max(below, tiny * max(above, one))
            V[i, a] *= np.sqrt(ratio) if rule == SQUARE_ROOT else ratio


@njit(nogil=True, cache=True)
def _spread(codes, scales, n_padded, out):  # type: ignore[no-untyped-def]
    """out[r] = the codes of row r once for each scale, multiplied by it, side by side."""
    for r in range(ROWS):
        for j in range(scales.shape[1]):
            for a in range(n_padded):
                out[r, j * n_padded + a] = scales[r, j] * codes[r, a]


@njit(nogil=True, cache=True)
def shared_block(X, basis, V, graph_mean, degree, smoothness, gram, rule, robust, norms, tiny):  # type: ignore[no-untyped-def]
    """All samples weigh the features alike: V from X @ basisᵀ, then Xᵀ V of the new V.

    With ``robust`` sample i counts with W_ii = 1/‖residual_i‖ in the sums (the majoriser of
    the ℓ2,1 loss), otherwise with 1; ``norms`` are ‖x_i‖².
    Returns Xᵀ W V, Vᵀ W V and Σ_i ‖residual_i‖ (0 if not robust).
    """
    n_rows, n_components = V.shape
    n_padded, wide = gram.shape
    codes = zeros(ROWS, wide, X)
    weighted = zeros(ROWS, wide, X)
    products = zeros(ROWS, n_padded, X)
    pulls = zeros(ROWS, wide, X)
    cross = zeros(n_padded, basis.shape[1], X)
    codes_gram = zeros(n_padded, wide, X)
    loss = 0.0
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        stop = min(start + ROWS, n_rows)
        if rule != KEEP or robust:
            project(x0, x1, x2, x3, basis, products)
        if rule != KEEP:
            _load(start, V, codes, False)
            reconstruct(codes, gram, pulls)
            _step(start, stop, V, products, pulls, graph_mean, degree, smoothness, rule, tiny)
        _load(start, V, codes, False)
        weighted[:] = codes
        if robust:
            reconstruct(codes, gram, pulls)
            for i in range(start, stop):
                r = i - start
                square = np.float64(norms[i])
                for a in range(n_components):
                    square += np.float64(codes[r, a]) * (pulls[r, a] - 2 * products[r, a])
                residual = np.sqrt(max(square, 0.0))
                loss += residual
                for a in range(n_components):
                    weighted[r, a] /= max(residual, 1e-10)
        add_outer(weighted, codes[0], codes[1], codes[2], codes[3], codes_gram)
        add_outer(weighted, x0, x1, x2, x3, cross)
    return cross, codes_gram, loss


@njit(nogil=True, cache=True)
def project_block(X, basis, weights, P, shared, out):  # type: ignore[no-untyped-def]
    """out = (X ∘ P² weights) @ basisᵀ; with ``shared`` the weights are already in the basis."""
    n_rows, n_components = out.shape
    mix = zeros(ROWS, weights.shape[0], X)
    weighed = zeros(ROWS, basis.shape[1], X)
    products = zeros(ROWS, basis.shape[0], X)
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        if shared:
            project(x0, x1, x2, x3, basis, products)
        else:
            _load(start, P, mix, True)
            weigh(x0, x1, x2, x3, mix, weights, weighed)
            project(weighed[0], weighed[1], weighed[2], weighed[3], basis, products)
        for i in range(start, min(start + ROWS, n_rows)):
            for a in range(n_components):
                out[i, a] = products[i - start, a]


@njit(nogil=True, cache=True)
def _gram_scales(mix, out):  # type: ignore[no-untyped-def]
    """The weights p_j² of each Gram matrix, or their sum where one matrix serves all."""
    if out.shape[1] == 1:
        for r in range(ROWS):
            out[r, 0] = 0
            for j in range(mix.shape[1]):
                out[r, 0] += mix[r, j]
    else:
        out[:] = mix[:, : out.shape[1]]


@njit(nogil=True, cache=True)
def codes_block(X, basis, weights, V, P, graph_mean, degree, smoothness, hessians, rule, tiny):  # type: ignore[no-untyped-def]
    """Multiplicative step of V, every sample with its own mixture of weightings.

    Returns (X ∘ P² weights)ᵀ V with the new V, and for each Hessian that was given
    Vᵀ diag(p_j²) V (of the sum of the p_j², if one serves all): what U needs.
    """
    n_rows = V.shape[0]
    n_padded, width = basis.shape
    wide = hessians.shape[1]
    mix = zeros(ROWS, weights.shape[0], X)
    scales = zeros(ROWS, hessians.shape[0] // n_padded, X)
    weighed = zeros(ROWS, width, X)
    products = zeros(ROWS, n_padded, X)
    codes = zeros(ROWS, wide, X)
    spread = zeros(ROWS, hessians.shape[0], X)
    pulls = zeros(ROWS, wide, X)
    targets = zeros(n_padded, width, X)
    codes_grams = zeros(hessians.shape[0], wide, X)
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        stop = min(start + ROWS, n_rows)
        _load(start, P, mix, True)
        _gram_scales(mix, scales)
        weigh(x0, x1, x2, x3, mix, weights, weighed)
        project(weighed[0], weighed[1], weighed[2], weighed[3], basis, products)
        _load(start, V, codes, False)
        _spread(codes, scales, n_padded, spread)
        reconstruct(spread, hessians, pulls)
        _step(start, stop, V, products, pulls, graph_mean, degree, smoothness, rule, tiny)
        _load(start, V, codes, False)
        _spread(codes, scales, n_padded, spread)
        add_outer(spread, codes[0], codes[1], codes[2], codes[3], codes_grams)
        add_outer(codes, weighed[0], weighed[1], weighed[2], weighed[3], targets)
    return targets, codes_grams


@njit(nogil=True, cache=True)
def assign_block(X, basis, weights, V, P, hessians, prices, on_residual, crosses, tiny):  # type: ignore[no-untyped-def]
    """P of every sample, its exact minimiser.

    Returns, with the new P: P²ᵀ(X∘X) and P²ᵀ(X∘V basis), both m x d; Vᵀ diag(p_j²) V for each
    Hessian that was given (of the sum of the p_j², if one serves all); and, if ``crosses``,
    Xᵀ diag(p_j²) V for each weighting.
    """
    n_rows = V.shape[0]
    n_weightings = P.shape[1]
    n_padded, width = basis.shape
    n_grams = hessians.shape[0] // n_padded
    mix = zeros(ROWS, weights.shape[0], X)
    scales = zeros(ROWS, n_grams, X)
    codes = zeros(ROWS, hessians.shape[1], X)
    spread = zeros(ROWS, n_grams * n_padded, X)
    parts = zeros(ROWS, n_weightings * n_padded if crosses else 0, X)
    fits = zeros(ROWS, width, X)
    residuals = zeros(ROWS, weights.shape[0], X)
    energy = zeros(weights.shape[0], width, X)
    cross = zeros(weights.shape[0], width, X)
    totals = zeros(n_weightings * n_padded if crosses else 0, width, X)
    codes_grams = zeros(n_grams * n_padded, codes.shape[1], X)
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        _load(start, V, codes, False)
        reconstruct(codes, basis, fits)
        if on_residual:
            weighted_residuals(x0, x1, x2, x3, fits, weights, residuals)
        else:
            target_residuals(x0, x1, x2, x3, fits, weights, residuals)
        for i in range(start, min(start + ROWS, n_rows)):
            for j in range(n_weightings if prices.shape[0] > 0 else 0):
                residuals[i - start, j] += prices[i, j]
            assign_row(residuals[i - start], tiny, P[i])
        _load(start, P, mix, True)
        add_moments(x0, x1, x2, x3, fits, mix, energy, cross)
        _gram_scales(mix, scales)
        _spread(codes, scales, n_padded, spread)
        add_outer(spread, codes[0], codes[1], codes[2], codes[3], codes_grams)
        if crosses:
            _spread(codes, mix[:, :n_weightings], n_padded, parts)
            add_outer(parts, x0, x1, x2, x3, totals)
    return energy, cross, codes_grams, totals
