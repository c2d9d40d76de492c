"""Least-angle regression from the Gram matrix, compiled: one short path for each target."""

import numpy as np

from fnmf._compile import njit

# A feature whose new part is smaller than this lies in the span of those taken.
_DEPENDENT = 1e-7


@njit(cache=True, nogil=True)
def least_angle(gram: np.ndarray, products: np.ndarray, n_steps: int) -> np.ndarray:
    """Coefficients after ``n_steps`` steps for the target with the given products Xᵀy.

    No intercept, features as they are. The path ends early where the residual vanishes.
    """
    d = len(products)
    coefficients = np.zeros(d)
    correlations = products.copy()
    free = np.ones(d, dtype=np.bool_)
    active = np.empty(d, dtype=np.int64)
    signs = np.empty(d)
    n_most = min(n_steps, d)
    factor = np.zeros((n_most, n_most))
    direction, slopes = np.empty(n_most), np.empty(d)
    floor = 1e-12 * np.abs(products).max()
    n_active = 0
    while n_active < n_most:
        best, largest = -1, floor
        for j in range(d):
            if free[j] and abs(correlations[j]) > largest:
                best, largest = j, abs(correlations[j])
        if best < 0:
            break
        free[best] = False
        if not _extend(factor, gram, active, n_active, best):
            continue
        active[n_active] = best
        signs[n_active] = 1.0 if correlations[best] > 0 else -1.0
        n_active += 1
        _solve(factor, signs, direction, n_active)
        scale = 0.0
        for i in range(n_active):
            scale += signs[i] * direction[i]
        scale = 1.0 / np.sqrt(scale)
        slopes[:] = 0.0
        for i in range(n_active):
            share = scale * direction[i]
            row = gram[active[i]]
            for j in range(d):
                slopes[j] += share * row[j]
        step = largest / scale
        for j in range(d):
            if free[j]:
                for gap, slope in (
                    (largest - correlations[j], scale - slopes[j]),
                    (largest + correlations[j], scale + slopes[j]),
                ):
                    # One that moves with those taken never catches up, whatever rounding says.
                    if slope > _DEPENDENT * scale and 0.0 < gap / slope < step:
                        step = gap / slope
        for i in range(n_active):
            coefficients[active[i]] += step * scale * direction[i]
        correlations -= step * slopes
    return coefficients


@njit(cache=True, nogil=True)
def _extend(factor, gram, active, n_active, new):  # type: ignore[no-untyped-def]
    """One more row of the Cholesky factor; False, and nothing kept, if it would be null."""
    rest = gram[new, new]
    for i in range(n_active):
        total = gram[active[i], new]
        for j in range(i):
            total -= factor[i, j] * factor[n_active, j]
        factor[n_active, i] = total / factor[i, i]
        rest -= factor[n_active, i] ** 2
    if rest <= _DEPENDENT**2 * max(gram[new, new], 1e-300):
        return False
    factor[n_active, n_active] = np.sqrt(rest)
    return True


@njit(cache=True, nogil=True)
def _solve(factor, right, out, n):  # type: ignore[no-untyped-def]
    """L Lᵀ out = right, of which the first n entries count."""
    for i in range(n):
        total = right[i]
        for j in range(i):
            total -= factor[i, j] * out[j]
        out[i] = total / factor[i, i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for j in range(i + 1, n):
            total -= factor[j, i] * out[j]
        out[i] = total / factor[i, i]
