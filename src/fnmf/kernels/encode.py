"""Rows solved one by one with U and the weights held fixed."""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.descent import descend_row, mix_grams
from fnmf.kernels.lanes import quads
from fnmf.kernels.rows import assign_row

_MAX_ROUNDS = 1000
_ROUNDS_PER_ASSIGNMENT = 5


@njit(nogil=True, cache=True)
def encode_rows(crosses, energies, prices, grams, pull, drag, shared, P, V, tol, tiny):  # type: ignore[no-untyped-def]
    """Alternate v and p of every row until it stands still; rows never see each other.

    Returns the data term, Σ_ij p_ij² q_ij.
    """
    n_rows, n_components = V.shape
    n_weightings = grams.shape[0]
    squares = np.empty(n_weightings)
    residuals = np.empty(n_weightings)
    shares = np.zeros((1, quads(n_weightings)))
    cross = np.empty(n_components)
    hessian = np.empty((n_components, n_components))
    before, slopes = np.empty(n_components), np.empty(n_components)
    loss = 0.0
    for i in range(n_rows):
        v = V[i]
        for _ in range(_MAX_ROUNDS):
            # Loops instead of slices, which take two seconds more to compile.
            for a in range(n_components):
                before[a] = v[a]
            for j in range(n_weightings):
                squares[j] = P[i, j] * P[i, j]
            mix_grams(squares, grams, hessian)
            for a in range(n_components):
                cross[a] = 0
                for j in range(n_weightings):
                    cross[a] += squares[j] * crosses[i, j, a]
            rounds = _ROUNDS_PER_ASSIGNMENT
            descend_row(v, cross, pull[i], 1.0, hessian, drag[i], rounds, slopes)
            for j in range(n_weightings):
                residuals[j] = energies[i, j]
                for a in range(n_components):
                    fit = -2 * crosses[i, j, a]
                    for b in range(n_components):
                        fit += grams[j, a, b] * v[b]
                    residuals[j] += v[a] * fit
                # The terms cancel: below this level the difference is rounding.
                residuals[j] = max(residuals[j], 1e-15 * energies[i, j]) + prices[i, j]
            if not shared:
                for j in range(n_weightings):
                    shares[0, j] = residuals[j]
                assign_row(shares, 0, tiny, P, i)
            moved = largest = 0.0
            for a in range(n_components):
                moved = max(moved, abs(v[a] - before[a]))
                largest = max(largest, v[a])
            if moved <= tol * largest:
                break
        for j in range(n_weightings):
            loss += P[i, j] * P[i, j] * residuals[j]
    return loss
