"""Block functions for sparse rows: the same as in ``dense``, on CSR arrays.

The fit V Uᵀ is needed only where X is not zero; ‖U v‖² comes from UᵀU. What is done for each
entry is in ``entries``; the codes are updated four rows at a time, as for dense rows.
"""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.entries import (
    add_entries,
    add_entry_moments,
    fit_entries,
    project_entries,
    target_entries,
    weigh_entries,
)
from fnmf.kernels.groups import (
    add_grams,
    curve,
    load_codes,
    load_squares,
    quadratic,
    step,
    weigh_codes,
)
from fnmf.kernels.lanes import lines, quads
from fnmf.kernels.rows import KEEP, assign_row
from fnmf.kernels.tiles import ROWS, wide_vectors, zeros


@njit(nogil=True, cache=True)
def project_block(data, indices, pointers, table, out):  # type: ignore[no-untyped-def]
    """See ``dense.project_block``."""
    wide_vectors()
    n_rows, n_components = out.shape
    products = zeros(1, lines(n_components), data)
    for i in range(n_rows):
        first, count = pointers[i] - pointers[0], pointers[i + 1] - pointers[i]
        project_entries(first, count, indices, data, first, table, n_components, products, 0)
        for a in range(n_components):
            out[i, a] = products[0, a]


def outer_block(
    data: np.ndarray, indices: np.ndarray, pointers: np.ndarray, codes: np.ndarray, out: np.ndarray
) -> None:
    """See ``dense.outer_block``."""
    own = np.zeros((len(codes), out.shape[1]), codes.dtype)
    own[:, : codes.shape[1]] = codes
    _add_outer(data, indices, pointers, own, out)


@njit(nogil=True, cache=True)
def _add_outer(data, indices, pointers, codes, out):  # type: ignore[no-untyped-def]
    wide_vectors()
    for i in range(codes.shape[0]):
        first, count = pointers[i] - pointers[0], pointers[i + 1] - pointers[i]
        add_entries(first, count, indices, data, first, codes, i, out)


@njit(nogil=True, cache=True)
def project_weighed_block(data, indices, pointers, table, P, out):  # type: ignore[no-untyped-def]
    """See ``dense.project_weighed_block``."""
    wide_vectors()
    n_rows, n_components = out.shape
    mix, scales = zeros(ROWS, quads(P.shape[1]), data), zeros(ROWS, 1, data)
    weighed = np.empty(_longest(pointers), data.dtype)
    products = zeros(1, lines(n_components), data)
    for i in range(n_rows):
        first, count, r = pointers[i] - pointers[0], pointers[i + 1] - pointers[i], i % ROWS
        if r == 0:
            load_squares(i, P, mix, scales)
        weigh_entries(first, count, data, indices, table, n_components, mix, r, weighed)
        project_entries(first, count, indices, weighed, 0, table, n_components, products, 0)
        for a in range(n_components):
            out[i, a] = products[0, a]


@njit(nogil=True, cache=True)
def codes_block(  # type: ignore[no-untyped-def]
    data, indices, pointers, table, V, P, pull, degree, strength, hessians, prices, rule, tiny
):
    """See ``dense.codes_block``; P and V take a pass over the entries each."""
    moments = zeros(0, 0, data)
    if prices is not None:
        moments, _, _ = assign_block(
            data, indices, pointers, table, V, P, hessians, prices, True, False, tiny
        )
    tied = pull, degree, strength
    targets, grams = _codes_block(data, indices, pointers, table, V, P, *tied, hessians, rule, tiny)
    return targets, grams, moments


@njit(nogil=True, cache=True)
def _codes_block(  # type: ignore[no-untyped-def]
    data, indices, pointers, table, V, P, pull, degree, strength, hessians, rule, tiny
):
    wide_vectors()
    n_rows, n_components = V.shape
    wide, origin = hessians.shape[1], pointers[0]
    mix = zeros(ROWS, quads(P.shape[1]), data)
    scales = zeros(ROWS, hessians.shape[0] // n_components, data)
    weighed = np.empty((ROWS, _longest(pointers)), data.dtype)
    products = zeros(ROWS, wide, data)
    codes = zeros(ROWS, wide, data)
    curved = zeros(ROWS, wide, data)
    targets = zeros(table.shape[0], lines(n_components), data)
    codes_grams = zeros(hessians.shape[0], wide, data)
    for start in range(0, n_rows, ROWS):
        stop = min(start + ROWS, n_rows)
        load_squares(start, P, mix, scales)
        load_codes(start, V, codes)
        for i in range(start, stop):
            r, own = i - start, weighed[i - start]
            first, count = pointers[i] - origin, pointers[i + 1] - pointers[i]
            weigh_entries(first, count, data, indices, table, n_components, mix, r, own)
            project_entries(first, count, indices, own, 0, table, n_components, products, r)
        if rule != KEEP:
            curve(codes, scales, hessians, n_components, curved)
            step(start, stop, V, codes, products, curved, pull, degree, strength, rule, tiny)
        add_grams(codes, scales, n_components, codes_grams)
        for i in range(start, stop):
            r, own = i - start, weighed[i - start]
            first, count = pointers[i] - origin, pointers[i + 1] - pointers[i]
            add_entries(first, count, indices, own, 0, codes, r, targets)
    return targets, codes_grams


@njit(nogil=True, cache=True)
def assign_block(  # type: ignore[no-untyped-def]
    data, indices, pointers, table, V, P, hessians, prices, on_residual, crosses, tiny
):
    """See ``dense.assign_block``; here the Hessians also give ‖U v‖²."""
    wide_vectors()
    n_rows, n_components = V.shape
    n_features, n_weightings = table.shape[0], P.shape[1]
    wide, origin = hessians.shape[1], pointers[0]
    n_grams = hessians.shape[0] // n_components
    mix = zeros(ROWS, quads(n_weightings), data)
    scales = zeros(ROWS, n_grams, data)
    codes = zeros(ROWS, wide, data)
    fits = np.empty((ROWS, _longest(pointers)), data.dtype)
    # ‖U v‖² cancels against the other terms: double precision, whatever the data have.
    exact_codes, exact_hessians = np.zeros((ROWS, wide)), hessians.astype(np.float64)
    fitted = np.zeros((ROWS, n_grams))
    sizes, alongs = np.zeros((ROWS, mix.shape[1])), np.zeros((ROWS, mix.shape[1]))
    residuals = np.zeros((ROWS, mix.shape[1]))
    resolution = 4 * np.finfo(data.dtype).eps
    moments = zeros(n_features, 2 * mix.shape[1], data)
    codes_grams = zeros(hessians.shape[0], wide, data)
    totals = np.zeros((n_weightings if crosses else 0, n_features, lines(n_components)), data.dtype)
    weighted = zeros(ROWS, wide, data)
    for start in range(0, n_rows, ROWS):
        stop = min(start + ROWS, n_rows)
        load_codes(start, V, codes)
        load_codes(start, V, exact_codes)
        quadratic(exact_codes, exact_hessians, n_components, fitted)
        for i in range(start, stop):
            r, own = i - start, fits[i - start]
            first, count = pointers[i] - origin, pointers[i + 1] - pointers[i]
            fit_entries(first, count, indices, table, n_components, codes, r, own)
            places = data, indices, own, table, n_components
            target_entries(first, count, *places, on_residual, sizes, alongs, r)
        for i in range(start, stop):
            r = i - start
            for j in range(n_weightings):
                level = fitted[r, j if n_grams > 1 else 0]
                # The three terms cancel: below this level the difference is rounding.
                known = resolution * (sizes[r, j] + level)
                residuals[r, j] = max(sizes[r, j] - 2 * alongs[r, j] + level, known)
                if prices.shape[0] > 0:
                    residuals[r, j] += prices[i, j]
            assign_row(residuals, r, tiny, P, i)
        load_squares(start, P, mix, scales)
        add_grams(codes, scales, n_components, codes_grams)
        for i in range(start, stop):
            r = i - start
            first, count = pointers[i] - origin, pointers[i + 1] - pointers[i]
            add_entry_moments(first, count, data, indices, fits[r], mix, r, moments)
        for j in range(n_weightings if crosses else 0):
            weigh_codes(codes, mix[:, j : j + 1], weighted)
            for i in range(start, stop):
                first, count = pointers[i] - origin, pointers[i + 1] - pointers[i]
                add_entries(first, count, indices, data, first, weighted, i - start, totals[j])
    return moments, codes_grams, totals


@njit(nogil=True, cache=True)
def _longest(pointers):  # type: ignore[no-untyped-def]
    """Entries of the fullest row."""
    longest = 0
    for i in range(pointers.shape[0] - 1):
        longest = max(longest, pointers[i + 1] - pointers[i])
    return longest
