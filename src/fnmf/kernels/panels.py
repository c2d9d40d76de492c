"""Products of codes with all features, written in lines so that no loop asks what may overlap.

Arrays over the features are padded to whole lines, those over the components to whole tiles.
Codes are read before the loops that write: a loop that may overwrite them reads them every time.
"""

from fnmf._compile import njit
from fnmf.kernels.lanes import add_scaled, load_line, nothing, store
from fnmf.kernels.tiles import COMPONENTS, LINE, ROWS, wide_vectors

# Sums over the features take BATCH rows at once, so that they are read and written less often, and
# so many features, so that a group of rows and a tile of the sums stay in the first cache.
_PANEL = 256


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
    for first in range(0, total.shape[1], _PANEL):
        last = min(first + _PANEL, total.shape[1])
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
