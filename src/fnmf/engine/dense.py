"""Block functions for dense rows.

Each takes a block of rows with the current factors and returns small sums; rows of V and P that
belong to the block are updated in place. Nothing else is touched, so blocks can run anywhere.
All arrays over the features are padded to whole cache lines, over the components and
weightings to whole tiles (see ``tiles``); only X is not.
"""

import numpy as np
from numba import njit

from fnmf.engine.rows import KEEP, assign_row, mix_grams, update_row
from fnmf.engine.tiles import (
    COMPONENTS,
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


@njit(nogil=True, cache=True)
def _add_gram(v, weight, gram):  # type: ignore[no-untyped-def]
    for a in range(v.shape[0]):
        scaled = weight * v[a]
        for b in range(v.shape[0]):
            gram[a, b] += scaled * v[b]


@njit(nogil=True, cache=True)
def shared_block(X, basis, V, graph_mean, degree, smoothness, gram, rule, robust, norms, tiny):  # type: ignore[no-untyped-def]
    """All samples weigh the features alike: V from X @ basisᵀ, then Xᵀ V of the new V.

    With ``robust`` sample i counts with W_ii = 1/‖residual_i‖ in the sums (the majoriser of
    the ℓ2,1 loss), otherwise with 1; ``norms`` are ‖x_i‖².
    Returns Xᵀ W V, Vᵀ W V and Σ_i ‖residual_i‖ (0 if not robust).
    """
    n_rows, n_components = V.shape
    n_padded = basis.shape[0]
    codes = zeros(ROWS, n_padded, X)
    products = zeros(ROWS, n_padded, X)
    cross = zeros(n_padded, basis.shape[1], X)
    codes_gram = np.zeros((n_components, n_components), X.dtype)
    loss = 0.0
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        if rule != KEEP or robust:
            project(x0, x1, x2, x3, basis, products)
        stop = min(start + ROWS, n_rows)
        if rule != KEEP:
            for i in range(start, stop):
                found = products[i - start]
                update_row(i, V, found, gram, graph_mean, degree, smoothness, rule, tiny)
        _load(start, V, codes, False)
        for i in range(start, stop):
            weight = X.dtype.type(1)
            if robust:
                square = np.float64(norms[i])
                for a in range(n_components):
                    fit = np.float64(0)
                    for b in range(n_components):
                        fit += gram[a, b] * V[i, b]
                    square += V[i, a] * (fit - 2 * products[i - start, a])
                residual = np.sqrt(max(square, 0.0))
                loss += residual
                weight = X.dtype.type(1 / max(residual, 1e-10))
            for a in range(n_components):
                codes[i - start, a] *= weight
            _add_gram(V[i], weight, codes_gram)
        add_outer(codes, x0, x1, x2, x3, cross)
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
def samples_block(  # type: ignore[no-untyped-def]
    X,
    basis,
    weights,
    V,
    P,
    graph_mean,
    degree,
    smoothness,
    grams,
    prices,
    on_residual,
    rule,
    crosses,
    tiny,
):
    """Every sample has its own mixture of weightings: V (unless ``rule`` is KEEP), then P.

    Returns, with the new V and P: P²ᵀ(X∘X) and P²ᵀ(X∘V basis), both m x d; for each
    weighting Vᵀ diag(p_j²) V; and, if ``crosses``, for each weighting Xᵀ diag(p_j²) V.
    """
    n_rows, n_components = V.shape
    n_weightings = P.shape[1]
    n_padded, width = basis.shape
    mix = zeros(ROWS, weights.shape[0], X)
    weighed = zeros(ROWS, width, X)
    products = zeros(ROWS, n_padded, X)
    codes = zeros(ROWS, n_padded, X)
    scaled = zeros(ROWS, n_padded, X)
    fits = zeros(ROWS, width, X)
    residuals = zeros(ROWS, weights.shape[0], X)
    energy = zeros(weights.shape[0], width, X)
    cross = zeros(weights.shape[0], width, X)
    totals = zeros(n_padded * (n_weightings if crosses else 0), width, X)
    codes_grams = np.zeros((n_weightings, n_components, n_components), X.dtype)
    hessian = np.empty((n_components, n_components), X.dtype)
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        stop = min(start + ROWS, n_rows)
        if rule != KEEP:
            _load(start, P, mix, True)
            weigh(x0, x1, x2, x3, mix, weights, weighed)
            project(weighed[0], weighed[1], weighed[2], weighed[3], basis, products)
            for i in range(start, stop):
                mix_grams(mix[i - start, :n_weightings], grams, hessian)
                found = products[i - start]
                update_row(i, V, found, hessian, graph_mean, degree, smoothness, rule, tiny)
        _load(start, V, codes, False)
        reconstruct(codes, basis, fits)
        if on_residual:
            weighted_residuals(x0, x1, x2, x3, fits, weights, residuals)
        else:
            target_residuals(x0, x1, x2, x3, fits, weights, residuals)
        for i in range(start, stop):
            for j in range(n_weightings if prices.shape[0] > 0 else 0):
                residuals[i - start, j] += prices[i, j]
            assign_row(residuals[i - start], tiny, P[i])
        _load(start, P, mix, True)
        add_moments(x0, x1, x2, x3, fits, mix, energy, cross)
        for j in range(n_weightings):
            for i in range(start, stop):
                _add_gram(V[i], mix[i - start, j], codes_grams[j])
            if crosses:
                for r in range(ROWS):
                    for a in range(n_components):
                        scaled[r, a] = mix[r, j] * codes[r, a]
                add_outer(scaled, x0, x1, x2, x3, totals[j * n_padded : (j + 1) * n_padded])
    return energy, cross, codes_grams, totals


@njit(nogil=True, cache=True)
def features_block(X, weights, V, P):  # type: ignore[no-untyped-def]
    """(X ∘ P² weights)ᵀ V, what U needs once the weights are known."""
    n_rows, n_components = V.shape
    width = weights.shape[1]
    mix = zeros(ROWS, weights.shape[0], X)
    weighed = zeros(ROWS, width, X)
    n_padded = -(-n_components // COMPONENTS) * COMPONENTS
    codes = zeros(ROWS, n_padded, X)
    total = zeros(n_padded, width, X)
    for start in range(0, n_rows, ROWS):
        x0, x1 = X[_row(start, n_rows)], X[_row(start + 1, n_rows)]
        x2, x3 = X[_row(start + 2, n_rows)], X[_row(start + 3, n_rows)]
        _load(start, P, mix, True)
        weigh(x0, x1, x2, x3, mix, weights, weighed)
        _load(start, V, codes, False)
        add_outer(codes, weighed[0], weighed[1], weighed[2], weighed[3], total)
    return total
