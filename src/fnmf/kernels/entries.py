"""Compiled pieces that walk along the entries of one sparse row, from ``first`` on.

Tables have the feature as their first index, so that an entry of X touches one or two cache
lines: the basis in the first columns, the weights of the feature behind it. Every loop handles
one vector for each entry and little else. Rows of small arrays are given as array and index,
since cutting them out would cost more than the work on them.
"""

from fnmf._compile import njit
from fnmf.kernels.lanes import (
    QUAD,
    add_product,
    add_scaled,
    dot,
    filled,
    item,
    load_line,
    load_quad,
    no_quad,
    nothing,
    store,
)
from fnmf.kernels.tiles import LINE, wide_vectors


@njit(nogil=True, cache=True, forceinline=True)
def weigh_entries(first, count, data, indices, table, column, mix, r, out):  # type: ignore[no-untyped-def]
    """out = x ∘ (mix[r] @ weights), with the weights from ``column`` of the table."""
    wide_vectors()
    for j in range(0, mix.shape[1], QUAD):
        shares = load_quad(mix, r, j)
        for e in range(count):
            weight = dot(shares, load_quad(table, item(indices, first + e), column + j))
            part = item(data, first + e) * weight
            out[e] = out[e] + part if j > 0 else part


@njit(nogil=True, cache=True, forceinline=True)
def project_entries(first, count, indices, values, offset, table, n_components, out, r):  # type: ignore[no-untyped-def]
    """out[r] = Σ values · u_k; the values of the row begin at ``offset``."""
    wide_vectors()
    for a in range(0, n_components, LINE):
        # Two sums, so that one need not wait for the other.
        even = nothing(load_line(table, 0, a))
        odd = even
        for e in range(0, count - 1, 2):
            here, next_one = item(indices, first + e), item(indices, first + e + 1)
            even = add_scaled(even, item(values, offset + e), load_line(table, here, a))
            odd = add_scaled(odd, item(values, offset + e + 1), load_line(table, next_one, a))
        if count % 2 == 1:
            here = item(indices, first + count - 1)
            odd = add_scaled(odd, item(values, offset + count - 1), load_line(table, here, a))
        store(out, r, a, add_scaled(even, table.dtype.type(1), odd))


@njit(nogil=True, cache=True, forceinline=True)
def add_entries(first, count, indices, values, offset, codes, r, total):  # type: ignore[no-untyped-def]
    """Rows of the total += values · codes[r]; the values of the row begin at ``offset``."""
    wide_vectors()
    for a in range(0, total.shape[1], LINE):
        code = load_line(codes, r, a)
        for e in range(count):
            k = item(indices, first + e)
            store(total, k, a, add_scaled(load_line(total, k, a), item(values, offset + e), code))


@njit(nogil=True, cache=True, forceinline=True)
def fit_entries(first, count, indices, table, n_components, codes, r, out):  # type: ignore[no-untyped-def]
    """out = codes[r] · u_k, where there are entries."""
    wide_vectors()
    for a in range(0, n_components, LINE):
        code = load_line(codes, r, a)
        for e in range(count):
            part = dot(code, load_line(table, item(indices, first + e), a))
            out[e] = out[e] + part if a > 0 else part


@njit(nogil=True, cache=True, forceinline=True)
def target_entries(  # type: ignore[no-untyped-def]
    first, count, data, indices, fits, table, column, on_residual, sizes, alongs, r
):
    """For every weighting Σ target² and Σ target · fit, in double precision.

    The target is weight · x; weights on the residual count once, not twice, in its square.
    """
    wide_vectors()
    for j in range(0, sizes.shape[1], QUAD):
        size = no_quad()
        along = no_quad()
        for e in range(count):
            x = item(data, first + e)
            weights = load_quad(table, item(indices, first + e), column + j)
            target = add_scaled(nothing(weights), x, weights)
            size = add_product(size, filled(x, target) if on_residual else target, target)
            along = add_scaled(along, fits[e], target)
        store(sizes, r, j, size)
        store(alongs, r, j, along)


@njit(nogil=True, cache=True, forceinline=True)
def add_entry_moments(first, count, data, indices, fits, mix, r, total):  # type: ignore[no-untyped-def]
    """Rows of the total += mix[r] x² and mix[r] x · fit, a quad of each in turn."""
    wide_vectors()
    for j in range(0, mix.shape[1], QUAD):
        shares = load_quad(mix, r, j)
        for e in range(count):
            k, x = item(indices, first + e), item(data, first + e)
            energy = load_quad(total, k, 2 * j)
            store(total, k, 2 * j, add_scaled(energy, x * x, shares))
            cross = load_quad(total, k, 2 * j + QUAD)
            store(total, k, 2 * j + QUAD, add_scaled(cross, x * fits[e], shares))
