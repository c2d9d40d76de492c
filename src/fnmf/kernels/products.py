"""Products of dense rows with a few vectors, both ways, values capped on the way.

Four rows meet five components, so that every value loaded takes part in several multiply-adds.
With so few components the products of linear algebra libraries take half as long again.
"""

from fnmf._compile import FAST, njit
from fnmf.kernels.lanes import add_scaled, load_line, load_part, smaller, store
from fnmf.kernels.tiles import COMPONENTS, LINE, ROWS, wide_vectors

# Sums over the features take so many rows at once, so that they are read and written less often,
# and so many features, so that these rows and a tile of the sums stay in the first cache.
_BATCH, _PANEL = 16, 256


@njit(nogil=True, cache=True, fastmath=FAST)
def project_rows(X, caps, basis, out):  # type: ignore[no-untyped-def]
    """out = min(X, caps) @ basisᵀ; rows of ``basis`` in whole tiles, of ``out`` in whole groups."""
    wide_vectors()
    last, zero = X.shape[0] - 1, X.dtype.type(0)
    for i in range(0, X.shape[0], ROWS):
        x0, x1, x2, x3 = X[i], X[min(i + 1, last)], X[min(i + 2, last)], X[min(i + 3, last)]
        for c in range(0, basis.shape[0], COMPONENTS):
            u0, u1, u2, u3, u4 = basis[c], basis[c + 1], basis[c + 2], basis[c + 3], basis[c + 4]
            a0 = a1 = a2 = a3 = a4 = zero
            b0 = b1 = b2 = b3 = b4 = zero
            c0 = c1 = c2 = c3 = c4 = zero
            d0 = d1 = d2 = d3 = d4 = zero
            for k in range(x0.shape[0]):
                cap, u, v, w, x, y = caps[k], u0[k], u1[k], u2[k], u3[k], u4[k]
                p, q, r, s = min(x0[k], cap), min(x1[k], cap), min(x2[k], cap), min(x3[k], cap)
                a0, a1, a2, a3, a4 = a0 + p * u, a1 + p * v, a2 + p * w, a3 + p * x, a4 + p * y
                b0, b1, b2, b3, b4 = b0 + q * u, b1 + q * v, b2 + q * w, b3 + q * x, b4 + q * y
                c0, c1, c2, c3, c4 = c0 + r * u, c1 + r * v, c2 + r * w, c3 + r * x, c4 + r * y
                d0, d1, d2, d3, d4 = d0 + s * u, d1 + s * v, d2 + s * w, d3 + s * x, d4 + s * y
            o0, o1, o2, o3 = out[i], out[i + 1], out[i + 2], out[i + 3]
            o0[c], o0[c + 1], o0[c + 2], o0[c + 3], o0[c + 4] = a0, a1, a2, a3, a4
            o1[c], o1[c + 1], o1[c + 2], o1[c + 3], o1[c + 4] = b0, b1, b2, b3, b4
            o2[c], o2[c + 1], o2[c + 2], o2[c + 3], o2[c + 4] = c0, c1, c2, c3, c4
            o3[c], o3[c + 1], o3[c + 2], o3[c + 3], o3[c + 4] = d0, d1, d2, d3, d4


@njit(nogil=True, cache=True)
def add_outer_rows(codes, X, caps, total):  # type: ignore[no-untyped-def]
    """total += codesᵀ @ min(X, caps); ``codes`` in whole groups and tiles, past the end zero."""
    wide_vectors()
    n, last = X.shape[0], X.shape[0] - 1
    for batch in range(0, n, _BATCH):
        for first in range(0, total.shape[1], _PANEL):
            for c in range(0, total.shape[0], COMPONENTS):
                for i in range(batch, min(batch + _BATCH, n), ROWS):
                    j1, j2, j3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
                    v0, v1, v2, v3 = codes[i], codes[i + 1], codes[i + 2], codes[i + 3]
                    # Read before the loop: one that may overwrite them reads them every time.
                    a0, a1, a2, a3, a4 = v0[c], v0[c + 1], v0[c + 2], v0[c + 3], v0[c + 4]
                    b0, b1, b2, b3, b4 = v1[c], v1[c + 1], v1[c + 2], v1[c + 3], v1[c + 4]
                    c0, c1, c2, c3, c4 = v2[c], v2[c + 1], v2[c + 2], v2[c + 3], v2[c + 4]
                    d0, d1, d2, d3, d4 = v3[c], v3[c + 1], v3[c + 2], v3[c + 3], v3[c + 4]
                    for k in range(first, min(first + _PANEL, total.shape[1]), LINE):
                        cap = load_part(caps, 0, k)
                        p, q = smaller(load_part(X, i, k), cap), smaller(load_part(X, j1, k), cap)
                        r, s = smaller(load_part(X, j2, k), cap), smaller(load_part(X, j3, k), cap)
                        t = add_scaled(add_scaled(load_line(total, c, k), a0, p), b0, q)
                        store(total, c, k, add_scaled(add_scaled(t, c0, r), d0, s))
                        t = add_scaled(add_scaled(load_line(total, c + 1, k), a1, p), b1, q)
                        store(total, c + 1, k, add_scaled(add_scaled(t, c1, r), d1, s))
                        t = add_scaled(add_scaled(load_line(total, c + 2, k), a2, p), b2, q)
                        store(total, c + 2, k, add_scaled(add_scaled(t, c2, r), d2, s))
                        t = add_scaled(add_scaled(load_line(total, c + 3, k), a3, p), b3, q)
                        store(total, c + 3, k, add_scaled(add_scaled(t, c3, r), d3, s))
                        t = add_scaled(add_scaled(load_line(total, c + 4, k), a4, p), b4, q)
                        store(total, c + 4, k, add_scaled(add_scaled(t, c4, r), d4, s))
