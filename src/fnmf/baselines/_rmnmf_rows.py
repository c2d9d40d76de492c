"""Passes of RMNMF over the data, four rows at a time; fits V Uᵀ only ever exist in cache."""

import numpy as np

from fnmf._compile import FAST, njit
from fnmf.kernels.groups import reconstruct
from fnmf.kernels.tiles import COMPONENTS, LINE, ROWS, padded, project, wide_vectors, zeros


def pack_basis(U: np.ndarray) -> np.ndarray:
    """Uᵀ, with zeros up to whole tiles and cache lines."""
    n_features, n_components = U.shape
    rows, columns = padded(n_components, COMPONENTS), padded(n_features, LINE)
    basis: np.ndarray = zeros(rows, columns, np.empty(0))
    basis[:n_components, :n_features] = U.T
    return basis


@njit(nogil=True, cache=True)
def clean_rows(X, multiplier, V, basis, penalty, clean):  # type: ignore[no-untyped-def]
    """clean = X − E + Γ/μ for the E that minimises ‖E‖_{2,1} + (μ/2)‖X − VUᵀ − E + Γ/μ‖²."""
    codes = zeros(ROWS, basis.shape[0], X)
    fits = zeros(ROWS, basis.shape[1], X)
    for start in range(0, X.shape[0], ROWS):
        stop = min(start + ROWS, X.shape[0])
        codes[: stop - start, : V.shape[1]] = V[start:stop]
        reconstruct(codes, basis, fits)
        for i in range(start, stop):
            _clean_row(X[i], multiplier[i], fits[i - start], penalty, clean[i])


@njit(nogil=True, cache=True, fastmath=FAST)
def _clean_row(x, multiplier, fit, penalty, clean):  # type: ignore[no-untyped-def]
    """E takes all of b = x − fit + Γ/μ but a piece of length 1/μ at most, which stays here."""
    wide_vectors()
    square = 0.0
    for k in range(x.shape[0]):
        b = x[k] - fit[k] + multiplier[k] / penalty
        clean[k] = b
        square += b * b
    length = penalty * np.sqrt(square)
    kept = 1.0 / length if length > 1.0 else 1.0
    for k in range(x.shape[0]):
        clean[k] = fit[k] + kept * clean[k]


@njit(nogil=True, cache=True)
def advance_rows(X, multiplier, V, basis, penalty, next_penalty, clean):  # type: ignore[no-untyped-def]
    """Γ += μ(X − VUᵀ − E), then ``clean_rows`` with the next μ: the fit serves both.

    Returns ‖X − VUᵀ‖_{2,1} and ‖X − VUᵀ − E‖, of the old E.
    """
    codes = zeros(ROWS, basis.shape[0], X)
    fits = zeros(ROWS, basis.shape[1], X)
    lengths = gaps = 0.0
    for start in range(0, X.shape[0], ROWS):
        stop = min(start + ROWS, X.shape[0])
        codes[: stop - start, : V.shape[1]] = V[start:stop]
        reconstruct(codes, basis, fits)
        for i in range(start, stop):
            fit = fits[i - start]
            left, gap = _raise_row(X[i], clean[i], fit, penalty, multiplier[i])
            _clean_row(X[i], multiplier[i], fit, next_penalty, clean[i])
            lengths += np.sqrt(left)
            gaps += gap
    return lengths, np.sqrt(gaps)


@njit(nogil=True, cache=True, fastmath=FAST)
def _raise_row(x, clean, fit, penalty, multiplier):  # type: ignore[no-untyped-def]
    """E = x − clean + Γ/μ turns the new multiplier into μ(clean − fit)."""
    wide_vectors()
    left = gap = 0.0
    for k in range(x.shape[0]):
        residual = x[k] - fit[k]
        kept = clean[k] - fit[k]
        missed = kept - multiplier[k] / penalty
        left += residual * residual
        gap += missed * missed
        multiplier[k] = penalty * kept
    return left, gap


@njit(nogil=True, cache=True)
def project_rows(Y, basis, n_components):  # type: ignore[no-untyped-def]
    """Y U; on matrices this narrow faster than BLAS."""
    n_rows = Y.shape[0]
    out = np.empty((n_rows, n_components))
    products = zeros(ROWS, basis.shape[0], Y)
    for start in range(0, n_rows, ROWS):
        # The last group repeats the last row.
        y1, y2 = Y[min(start + 1, n_rows - 1)], Y[min(start + 2, n_rows - 1)]
        y3 = Y[min(start + 3, n_rows - 1)]
        project(Y[start], y1, y2, y3, basis, products)
        for i in range(start, min(start + ROWS, n_rows)):
            out[i] = products[i - start, :n_components]
    return out
