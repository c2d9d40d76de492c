"""Sums over anchors: what samples give to the anchors that hold them, and get back."""

import numpy as np

from fnmf._compile import njit


@njit(nogil=True, cache=True)
def gather(V, indices, shares, count):  # type: ignore[no-untyped-def]
    """Zᵀ V (anchors, components), and Σ_i v_i² (components,), in double precision."""
    n, c = V.shape
    sums, squares = np.zeros((count, c)), np.zeros(c)
    for i in range(n):
        for a in range(c):
            squares[a] += float(V[i, a]) * float(V[i, a])
        for e in range(indices.shape[1]):
            anchor, share = indices[i, e], shares[i, e]
            for a in range(c):
                sums[anchor, a] += share * V[i, a]
    return sums, squares


@njit(nogil=True, cache=True)
def spread(indices, shares, codes, scale):  # type: ignore[no-untyped-def]
    """Z times the codes of the anchors, its columns times ``scale``."""
    n, c = indices.shape[0], codes.shape[1]
    out = np.zeros((n, c), codes.dtype)
    for i in range(n):
        for e in range(indices.shape[1]):
            anchor, share = indices[i, e], shares[i, e]
            for a in range(c):
                out[i, a] += share * codes[anchor, a]
        for a in range(c):
            out[i, a] *= scale[a]
    return out
