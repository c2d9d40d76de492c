"""Coordinate descent on small non-negative quadratic problems, one for each row."""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.compiler import FAST


@njit(nogil=True, cache=True, fastmath=FAST)
def mix_grams(scales, grams, out):  # type: ignore[no-untyped-def]
    """out = Σ_j scales_j grams_j."""
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[a, b] = scales[0] * grams[0, a, b]
    for j in range(1, scales.shape[0]):
        for a in range(out.shape[0]):
            for b in range(out.shape[1]):
                out[a, b] += scales[j] * grams[j, a, b]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def descend_row(v, cross, pull, scale, hessian, drag, rounds, slopes):  # type: ignore[no-untyped-def]
    """Minimise ½ vᵀHv − (cross + pull)·v over each v_a ≥ 0 in turn; H = scale·hessian + drag·I.

    ``slopes`` is room for −gradient: kept up to date, a step needs no product but the one that
    follows from it, and an entry that stays at 0 needs none.
    """
    n_components = v.shape[0]
    for a in range(n_components):
        slopes[a] = cross[a] + pull[a] - drag * v[a]
    for a in range(n_components):
        if v[a] != 0:
            _add_scaled(slopes, -scale * v[a], hessian[a])
    for _ in range(rounds):
        for a in range(n_components):
            curvature = scale * hessian[a, a] + drag
            if curvature <= 0:
                continue
            after = max(v[a] + slopes[a] / curvature, 0)
            step = after - v[a]
            if step != 0:
                v[a] = after
                _add_scaled(slopes, -scale * step, hessian[a])
                slopes[a] -= drag * step


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _add_scaled(total, factor, values):  # type: ignore[no-untyped-def]
    for b in range(total.shape[0]):
        total[b] += factor * values[b]


@njit(nogil=True, cache=True)
def descend_rows(values, cross, scales, grams, rounds):  # type: ignore[no-untyped-def]
    """The same for many rows that do not see each other; ``values`` is updated.

    Row k has the Hessian Σ_j scales_kj grams_j; with a single row of scales it serves all.
    """
    n_rows, n_components = values.shape
    own = scales.shape[0] > 1
    nothing = np.zeros(n_components, values.dtype)
    slopes = np.empty(n_components, values.dtype)
    hessian = np.empty((n_components, n_components), values.dtype)
    mix_grams(scales[0], grams, hessian)
    one, zero = values.dtype.type(1), values.dtype.type(0)
    for k in range(n_rows):
        if own:
            mix_grams(scales[k], grams, hessian)
        descend_row(values[k], cross[k], nothing, one, hessian, zero, rounds, slopes)
