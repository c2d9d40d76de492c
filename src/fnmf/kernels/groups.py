"""What happens to four rows at a time: to their codes, and in products with all features.

Codes of a group lie in rows padded with zeros to whole lines, or to whole tiles where they meet all
features, whose arrays are padded to whole lines. ``scales`` holds, for each row of the group, the
weights of the Gram matrices: the p_j², or their sum where one matrix serves all. Matrices over the
components lie one below the other, their rows padded to lines. Products are written in lines so
that no loop asks what may overlap; codes are read before the loops that write.
"""

from fnmf._compile import njit
from fnmf.kernels.lanes import (
    add_scaled,
    divided,
    dot,
    filled,
    larger,
    load_line,
    load_part,
    nothing,
    root,
    store,
    store_part,
    times,
)
from fnmf.kernels.rows import SQUARE_ROOT
from fnmf.kernels.tiles import COMPONENTS, LINE, ROWS, wide_vectors

# Sums over the features take BATCH rows at once, so that they are read and written less often, and
# so many features, so that a group of rows and a tile of the sums stay in the first cache.
PANEL = 256


@njit(nogil=True, cache=True, forceinline=True)
def load_codes(start, V, codes):  # type: ignore[no-untyped-def]
    """Four rows of codes; rows past the end become zero."""
    wide_vectors()
    for r in range(ROWS):
        if start + r < V.shape[0]:
            for a in range(0, codes.shape[1], LINE):
                store(codes, r, a, load_part(V, start + r, a))
        else:
            codes[r] = 0


@njit(nogil=True, cache=True, forceinline=True)
def load_squares(start, P, mix, scales):  # type: ignore[no-untyped-def]
    """The p_j² of four rows and the scales that follow; rows past the end become zero."""
    for r in range(ROWS):
        total = mix.dtype.type(0)
        for j in range(P.shape[1]):
            p = P[start + r, j] if start + r < P.shape[0] else mix.dtype.type(0)
            mix[r, j] = p * p
            total += p * p
            if scales.shape[1] > 1:
                scales[r, j] = p * p
        if scales.shape[1] == 1:
            scales[r, 0] = total


@njit(nogil=True, cache=True, forceinline=True)
def curve(codes, scales, hessians, n_components, out):  # type: ignore[no-untyped-def]
    """out[r] = Σ_j scales[r, j] hessian_j @ codes[r]."""
    wide_vectors()
    for a in range(0, out.shape[1], LINE):
        p0 = nothing(load_line(hessians, 0, a))
        p1 = p2 = p3 = p0
        for j in range(scales.shape[1]):
            s0, s1, s2, s3 = scales[0, j], scales[1, j], scales[2, j], scales[3, j]
            for b in range(n_components):
                row = load_line(hessians, j * n_components + b, a)
                p0 = add_scaled(p0, s0 * codes[0, b], row)
                p1 = add_scaled(p1, s1 * codes[1, b], row)
                p2 = add_scaled(p2, s2 * codes[2, b], row)
                p3 = add_scaled(p3, s3 * codes[3, b], row)
        store(out, 0, a, p0)
        store(out, 1, a, p1)
        store(out, 2, a, p2)
        store(out, 3, a, p3)


@njit(nogil=True, cache=True, forceinline=True)
def quadratic(codes, hessians, n_components, out):  # type: ignore[no-untyped-def]
    """out[r, j] = codes[r] · hessian_j @ codes[r]."""
    wide_vectors()
    out[:] = 0
    for j in range(out.shape[1]):
        for a in range(0, codes.shape[1], LINE):
            p0 = nothing(load_line(hessians, 0, a))
            p1 = p2 = p3 = p0
            for b in range(n_components):
                row = load_line(hessians, j * n_components + b, a)
                p0 = add_scaled(p0, codes[0, b], row)
                p1 = add_scaled(p1, codes[1, b], row)
                p2 = add_scaled(p2, codes[2, b], row)
                p3 = add_scaled(p3, codes[3, b], row)
            out[0, j] += dot(p0, load_line(codes, 0, a))
            out[1, j] += dot(p1, load_line(codes, 1, a))
            out[2, j] += dot(p2, load_line(codes, 2, a))
            out[3, j] += dot(p3, load_line(codes, 3, a))


@njit(nogil=True, cache=True, forceinline=True)
def add_grams(codes, scales, n_components, total):  # type: ignore[no-untyped-def]
    """total_j += Σ_r scales[r, j] codes[r] codes[r]ᵀ."""
    wide_vectors()
    for a in range(0, total.shape[1], LINE):
        v0, v1 = load_line(codes, 0, a), load_line(codes, 1, a)
        v2, v3 = load_line(codes, 2, a), load_line(codes, 3, a)
        for j in range(scales.shape[1]):
            s0, s1, s2, s3 = scales[0, j], scales[1, j], scales[2, j], scales[3, j]
            for b in range(n_components):
                row = load_line(total, j * n_components + b, a)
                row = add_scaled(row, s0 * codes[0, b], v0)
                row = add_scaled(row, s1 * codes[1, b], v1)
                row = add_scaled(row, s2 * codes[2, b], v2)
                row = add_scaled(row, s3 * codes[3, b], v3)
                store(total, j * n_components + b, a, row)


@njit(nogil=True, cache=True, forceinline=True)
def step(start, stop, V, codes, products, curved, pull, degree, strength, rule, tiny):  # type: ignore[no-untyped-def]
    """Multiplicative step of the codes of a group, times (products + β S V) / (curved + β D V).

    ``pull`` is S V of the old V; it is not looked at when ``strength`` is 0.
    """
    wide_vectors()
    for i in range(start, stop):
        r = i - start
        for a in range(0, codes.shape[1], LINE):
            code = load_line(codes, r, a)
            above, below = load_line(products, r, a), load_line(curved, r, a)
            if strength > 0:
                above = add_scaled(above, strength, load_part(pull, i, a))
                below = add_scaled(below, strength * degree[i], code)
            # A row of zeros stays zero; without a floor of this size its ratio could be infinite.
            floor = larger(above, filled(V.dtype.type(1), above))
            ratio = divided(above, larger(below, times(filled(tiny, floor), floor)))
            code = times(code, root(ratio) if rule == SQUARE_ROOT else ratio)
            store(codes, r, a, code)
            store_part(V, i, a, code)


@njit(nogil=True, cache=True, forceinline=True)
def weigh_codes(codes, counts, out):  # type: ignore[no-untyped-def]
    """out[r] = counts[r, 0] codes[r]."""
    wide_vectors()
    for r in range(ROWS):
        for a in range(0, codes.shape[1], LINE):
            code = load_line(codes, r, a)
            store(out, r, a, times(filled(counts[r, 0], code), code))


@njit(nogil=True, cache=True, forceinline=True)
def _tile(codes, r, c):  # type: ignore[no-untyped-def]
    """Five codes of a row."""
    return codes[r, c], codes[r, c + 1], codes[r, c + 2], codes[r, c + 3], codes[r, c + 4]


@njit(nogil=True, cache=True, forceinline=True)
def _fit(fit, codes, p, q, r, s, t):  # type: ignore[no-untyped-def]
    """fit + the five lines times the five codes."""
    fit = add_scaled(add_scaled(fit, codes[0], p), codes[1], q)
    return add_scaled(add_scaled(add_scaled(fit, codes[2], r), codes[3], s), codes[4], t)


@njit(nogil=True, cache=True, forceinline=True)
def reconstruct(codes, basis, out):  # type: ignore[no-untyped-def]
    """out = codes @ basis, for four rows of codes."""
    wide_vectors()
    for c in range(0, basis.shape[0], COMPONENTS):
        v0, v1, v2, v3 = (
            _tile(codes, 0, c),
            _tile(codes, 1, c),
            _tile(codes, 2, c),
            _tile(codes, 3, c),
        )
        for k in range(0, out.shape[1], LINE):
            p, q, r = load_line(basis, c, k), load_line(basis, c + 1, k), load_line(basis, c + 2, k)
            s, t = load_line(basis, c + 3, k), load_line(basis, c + 4, k)
            f0 = f1 = f2 = f3 = nothing(p)
            if c > 0:
                f0, f1 = load_line(out, 0, k), load_line(out, 1, k)
                f2, f3 = load_line(out, 2, k), load_line(out, 3, k)
            store(out, 0, k, _fit(f0, v0, p, q, r, s, t))
            store(out, 1, k, _fit(f1, v1, p, q, r, s, t))
            store(out, 2, k, _fit(f2, v2, p, q, r, s, t))
            store(out, 3, k, _fit(f3, v3, p, q, r, s, t))


@njit(nogil=True, cache=True, forceinline=True)
def _add_lines(total, c, k, v0, v1, v2, v3, x0, x1, x2, x3):  # type: ignore[no-untyped-def]
    """total[c, k:] += the four lines times the four codes."""
    part = load_line(total, c, k)
    part = add_scaled(add_scaled(part, v0, x0), v1, x1)
    store(total, c, k, add_scaled(add_scaled(part, v2, x2), v3, x3))


@njit(nogil=True, cache=True, forceinline=True)
def add_outer(codes, rows, total):  # type: ignore[no-untyped-def]
    """total += codesᵀ @ rows, for a multiple of four rows."""
    wide_vectors()
    for first in range(0, total.shape[1], PANEL):
        last = min(first + PANEL, total.shape[1])
        for c in range(0, total.shape[0], COMPONENTS):
            for r in range(0, codes.shape[0], ROWS):
                a, b = _tile(codes, r, c), _tile(codes, r + 1, c)
                d, e = _tile(codes, r + 2, c), _tile(codes, r + 3, c)
                for k in range(first, last, LINE):
                    x0, x1 = load_line(rows, r, k), load_line(rows, r + 1, k)
                    x2, x3 = load_line(rows, r + 2, k), load_line(rows, r + 3, k)
                    _add_lines(total, c, k, a[0], b[0], d[0], e[0], x0, x1, x2, x3)
                    _add_lines(total, c + 1, k, a[1], b[1], d[1], e[1], x0, x1, x2, x3)
                    _add_lines(total, c + 2, k, a[2], b[2], d[2], e[2], x0, x1, x2, x3)
                    _add_lines(total, c + 3, k, a[3], b[3], d[3], e[3], x0, x1, x2, x3)
                    _add_lines(total, c + 4, k, a[4], b[4], d[4], e[4], x0, x1, x2, x3)
