"""Block functions for sparse rows: the same four as in ``dense``, on CSR arrays.

The fit V Uᵀ is needed only where X is not zero; ‖U v‖² comes from UᵀU. Arrays over the features
have the feature as their first index, so that one entry of X touches one short run of memory;
the components are padded to ``LANES``.
"""

import numpy as np
from numba import njit

from fnmf.engine.rows import KEEP, assign_row, update_row
from fnmf.model.descent import FAST, mix_grams

LANES = 4


# Inlined, and with array and row apart: a call or a slice for each entry would double its cost.


@njit(nogil=True, inline="always")
def _gather(scale, table, k, out):  # type: ignore[no-untyped-def]
    """out += scale · table[k]."""
    for a in range(out.shape[0]):
        out[a] += scale * table[k, a]


@njit(nogil=True, inline="always")
def _scatter(scale, values, table, k):  # type: ignore[no-untyped-def]
    """table[k] += scale · values."""
    for a in range(values.shape[0]):
        table[k, a] += scale * values[a]


@njit(nogil=True, inline="always")
def _dot(values, table, k):  # type: ignore[no-untyped-def]
    """values · table[k]."""
    total = values.dtype.type(0)
    for a in range(values.shape[0]):
        total += values[a] * table[k, a]
    return total


@njit(nogil=True, cache=True)
def _quadratic(v, gram):  # type: ignore[no-untyped-def]
    total = 0.0
    for a in range(v.shape[0]):
        for b in range(v.shape[0]):
            total += np.float64(v[a]) * gram[a, b] * v[b]
    return total


@njit(nogil=True, cache=True)
def _add_gram(v, weight, gram):  # type: ignore[no-untyped-def]
    for a in range(v.shape[0]):
        scaled = weight * v[a]
        for b in range(v.shape[0]):
            gram[a, b] += scaled * v[b]


@njit(nogil=True, cache=True)
def _gram_scales(squares, out):  # type: ignore[no-untyped-def]
    """The weights p_j² of each Gram matrix, or their sum where one matrix serves all."""
    if out.shape[0] == 1:
        out[0] = squares.sum()
    else:
        out[:] = squares


@njit(nogil=True, cache=True, fastmath=FAST)
def shared_block(  # type: ignore[no-untyped-def]
    data,
    indices,
    pointers,
    basis,
    V,
    graph_mean,
    degree,
    smoothness,
    gram,
    rule,
    robust,
    norms,
    tiny,
):
    """See ``dense.shared_block``."""
    n_rows, n_components = V.shape
    width = basis.shape[1]
    products, code = np.zeros(width, data.dtype), np.zeros(width, data.dtype)
    cross = np.zeros(basis.shape, data.dtype)
    codes_gram = np.zeros((1, n_components, n_components), data.dtype)
    loss = 0.0
    for i in range(n_rows):
        first, last = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        if rule != KEEP or robust:
            products[:] = 0
            for entry in range(first, last):
                _gather(data[entry], basis, indices[entry], products)
        if rule != KEEP:
            update_row(i, V, products, gram[0], graph_mean, degree, smoothness, rule, tiny)
        weight = data.dtype.type(1)
        if robust:
            square = norms[i] + _quadratic(V[i], gram[0])
            for a in range(n_components):
                square -= 2 * np.float64(V[i, a]) * products[a]
            residual = np.sqrt(max(square, 0.0))
            loss += residual
            weight = data.dtype.type(1 / max(residual, 1e-10))
        for a in range(n_components):
            code[a] = weight * V[i, a]
        _add_gram(V[i], weight, codes_gram[0])
        for entry in range(first, last):
            _scatter(data[entry], code, cross, indices[entry])
    return cross, codes_gram, loss


@njit(nogil=True, cache=True, fastmath=FAST)
def project_block(data, indices, pointers, basis, weights, P, shared, out):  # type: ignore[no-untyped-def]
    """See ``dense.project_block``."""
    products = np.zeros(basis.shape[1], data.dtype)
    squares = np.zeros(weights.shape[1], data.dtype)
    for i in range(out.shape[0]):
        products[:] = 0
        if not shared:
            for j in range(P.shape[1]):
                squares[j] = P[i, j] * P[i, j]
        for entry in range(pointers[i] - pointers[0], pointers[i + 1] - pointers[0]):
            k = indices[entry]
            value = data[entry]
            if not shared:
                value *= _dot(squares, weights, k)
            _gather(value, basis, k, products)
        for a in range(out.shape[1]):
            out[i, a] = products[a]


@njit(nogil=True, cache=True, fastmath=FAST)
def codes_block(  # type: ignore[no-untyped-def]
    data,
    indices,
    pointers,
    basis,
    weights,
    V,
    P,
    graph_mean,
    degree,
    smoothness,
    hessians,
    rule,
    tiny,
):
    """See ``dense.codes_block``."""
    n_rows, n_components = V.shape
    width = basis.shape[1]
    products, code = np.zeros(width, data.dtype), np.zeros(width, data.dtype)
    squares = np.zeros(P.shape[1], data.dtype)
    scales = np.zeros(hessians.shape[0], data.dtype)
    hessian = np.empty((n_components, n_components), data.dtype)
    weighed = np.empty(_longest(pointers), data.dtype)
    targets = np.zeros(basis.shape, data.dtype)
    codes_grams = np.zeros(hessians.shape, data.dtype)
    for i in range(n_rows):
        first, last = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        for j in range(P.shape[1]):
            squares[j] = P[i, j] * P[i, j]
        _gram_scales(squares, scales)
        products[:] = 0
        for entry in range(first, last):
            k = indices[entry]
            weighed[entry - first] = data[entry] * _dot(squares, weights, k)
            _gather(weighed[entry - first], basis, k, products)
        mix_grams(scales, hessians, hessian)
        update_row(i, V, products, hessian, graph_mean, degree, smoothness, rule, tiny)
        for a in range(n_components):
            code[a] = V[i, a]
        for j in range(scales.shape[0]):
            _add_gram(V[i], scales[j], codes_grams[j])
        for entry in range(first, last):
            _scatter(weighed[entry - first], code, targets, indices[entry])
    return targets, codes_grams


@njit(nogil=True, cache=True, fastmath=FAST)
def assign_block(  # type: ignore[no-untyped-def]
    data, indices, pointers, basis, weights, V, P, hessians, prices, on_residual, crosses, tiny
):
    """See ``dense.assign_block``; here the Hessians also give ‖U v‖²."""
    n_rows, n_components = V.shape
    n_weightings = P.shape[1]
    n_features, width = basis.shape
    n_grams = hessians.shape[0]
    resolution = 4 * np.finfo(data.dtype).eps
    code, scaled = np.zeros(width, data.dtype), np.zeros(width, data.dtype)
    squares = np.zeros(n_weightings, data.dtype)
    scales = np.zeros(n_grams, data.dtype)
    residuals, sizes = np.zeros(n_weightings), np.zeros(n_weightings)
    energy = np.zeros((n_features, n_weightings), data.dtype)
    cross = np.zeros((n_features, n_weightings), data.dtype)
    totals = np.zeros((n_weightings if crosses else 0, n_features, width), data.dtype)
    codes_grams = np.zeros((n_grams, n_components, n_components), data.dtype)
    fits = np.empty(_longest(pointers), data.dtype)
    for i in range(n_rows):
        first, last = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        for a in range(n_components):
            code[a] = V[i, a]
        residuals[:] = 0
        sizes[:] = 0
        for entry in range(first, last):
            k = indices[entry]
            x = data[entry]
            fit = _dot(code, basis, k)
            fits[entry - first] = fit
            for j in range(n_weightings):
                weight = weights[k, j]
                target = weight * x * x if on_residual else weight * weight * x * x
                sizes[j] += target
                residuals[j] += target - 2 * weight * x * fit
        for j in range(n_weightings):
            fitted = _quadratic(V[i], hessians[j if n_grams > 1 else 0])
            # The three terms cancel: below this level the difference is rounding.
            known = resolution * (sizes[j] + fitted)
            residuals[j] = max(residuals[j] + fitted, known)
            if prices.shape[0] > 0:
                residuals[j] += prices[i, j]
        assign_row(residuals, tiny, P[i])
        for j in range(n_weightings):
            squares[j] = P[i, j] * P[i, j]
        _gram_scales(squares, scales)
        for j in range(n_grams):
            _add_gram(V[i], scales[j], codes_grams[j])
        for entry in range(first, last):
            k = indices[entry]
            x = data[entry]
            _scatter(x * x, squares, energy, k)
            _scatter(x * fits[entry - first], squares, cross, k)
        if crosses:
            for j in range(n_weightings):
                for a in range(n_components):
                    scaled[a] = squares[j] * code[a]
                part = totals[j]
                for entry in range(first, last):
                    _scatter(data[entry], scaled, part, indices[entry])
    return energy, cross, codes_grams, totals


@njit(nogil=True, cache=True)
def _longest(pointers):  # type: ignore[no-untyped-def]
    """Entries of the fullest row."""
    longest = 0
    for i in range(pointers.shape[0] - 1):
        longest = max(longest, pointers[i + 1] - pointers[i])
    return longest
