"""Compiled updates of a single sample: its code v and its assignment p."""

import numpy as np
from numba import njit

from fnmf.model.descent import descend_row, mix_grams

# How a row of V is updated inside a sweep.
KEEP, SQUARE_ROOT, PLAIN = 0, 1, 2


@njit(nogil=True, cache=True)
def assign_row(residuals, floor, out):  # type: ignore[no-untyped-def]
    """p_j = (1/q_j) / Σ_l (1/q_l); residuals at or below ``floor`` count as equal and as zero."""
    n_zero = 0
    smallest = residuals[0]
    for j in range(out.shape[0]):
        if residuals[j] <= floor:
            n_zero += 1
        smallest = min(smallest, residuals[j])
    if n_zero > 0:
        for j in range(out.shape[0]):
            out[j] = 1.0 / n_zero if residuals[j] <= floor else 0.0
        return
    total = 0.0
    for j in range(out.shape[0]):
        # Relative to the smallest, so that tiny residuals do not overflow.
        total += smallest / residuals[j]
    for j in range(out.shape[0]):
        out[j] = smallest / residuals[j] / total


@njit(nogil=True, cache=True)
def solve_codes(cross, V, squares, grams, smoothness, pointers, neighbours, similarity, rounds):  # type: ignore[no-untyped-def]
    """Coordinate descent on V, sample after sample, each seeing its neighbours' newest codes.

    With that order every single step lowers the objective with its graph term, which
    updating all samples at once would not.
    """
    n_samples, n_components = V.shape
    single = grams.shape[0] == 1
    hessian = grams[0].copy()
    pull = np.empty(n_components, V.dtype)
    scale = V.dtype.type(1)
    for _ in range(rounds):
        for i in range(n_samples):
            own = squares[i if squares.shape[0] > 1 else 0]
            if single:
                scale = own[0]
            else:
                mix_grams(own, grams, hessian)
            pull[:] = 0
            degree = V.dtype.type(0)
            if smoothness > 0:
                for entry in range(pointers[i], pointers[i + 1]):
                    weight, k = similarity[entry], neighbours[entry]
                    degree += weight
                    for a in range(n_components):
                        pull[a] += weight * V[k, a]
                for a in range(n_components):
                    pull[a] *= smoothness
            descend_row(V[i], cross[i], pull, scale, hessian, smoothness * degree)


@njit(nogil=True, cache=True)
def graph_product(start, stop, V, pointers, neighbours, similarity, degree, out):  # type: ignore[no-untyped-def]
    """Rows ``start`` to ``stop`` of S V; returns their part of v_aᵀ L v_a for each component."""
    n_components = V.shape[1]
    roughness = np.zeros(n_components)
    row = np.empty(n_components, V.dtype)
    for i in range(start, stop):
        row[:] = 0
        for entry in range(pointers[i], pointers[i + 1]):
            weight, k = similarity[entry], neighbours[entry]
            for a in range(n_components):
                row[a] += weight * V[k, a]
        for a in range(n_components):
            out[i, a] = row[a]
            roughness[a] += V[i, a] * (degree[i] * V[i, a] - row[a])
    return roughness
