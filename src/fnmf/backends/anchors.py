"""Sums over anchors: what samples give to the anchors that hold them, and get back."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def gather(start, stop, V, indices, shares, count):  # type: ignore[no-untyped-def]
    """Zᵀ V over rows ``start`` to ``stop``, in double precision, (anchors, components)."""
    c = V.shape[1]
    sums = np.zeros((count, c))
    for i in range(start, stop):
        for e in range(indices.shape[1]):
            anchor, share = indices[i, e], shares[i, e]
            for a in range(c):
                sums[anchor, a] += share * V[i, a]
    return sums


@njit(nogil=True, cache=True)
def spread(start, stop, V, indices, shares, codes, out):  # type: ignore[no-untyped-def]
    """Rows ``start`` to ``stop`` of Z times ``codes``; returns Σ v (v − pull) by component."""
    c = V.shape[1]
    roughness = np.zeros(c)
    for i in range(start, stop):
        for a in range(c):
            out[i, a] = 0
        for e in range(indices.shape[1]):
            anchor, share = indices[i, e], shares[i, e]
            for a in range(c):
                out[i, a] += share * codes[anchor, a]
        for a in range(c):
            roughness[a] += float(V[i, a]) * (float(V[i, a]) - out[i, a])
    return roughness
