"""The simplex sub-problem behind the feature weights."""

import math

import numpy as np
from numba import njit

# Curvatures below this, relative to the largest, count as none.
FLAT = 1e-290


def minimise_on_simplex(curvature: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Minimise Σ_k a_k θ_k² + b_k θ_k over θ ≥ 0, Σ θ = 1, exactly.

    Parameters
    ----------
    curvature : ndarray of shape (d,)
        a, non-negative. Entries of 0 are allowed: their cost is linear.
    slope : ndarray of shape (d,)
        b, of any sign.

    Returns
    -------
    ndarray of shape (d,)
        The minimiser. Where several entries without curvature tie, they share equally.

    Notes
    -----
    The solution is θ_k = max(0, (η − b_k) / 2a_k). Raising η from slope to slope, the mass
    Σ θ can only grow; the last slope before it passes 1 is the largest that is active. The
    solution is written relative to that slope, so that nothing cancels however small the
    curvatures are. An entry without curvature caps η at its slope and takes the mass that
    is left.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.model.simplex import minimise_on_simplex
    >>> minimise_on_simplex(np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0, 9.0]))
    array([0.5, 0.5, 0. ])
    """
    a = np.ascontiguousarray(curvature, dtype=np.float64)
    b = np.ascontiguousarray(slope, dtype=np.float64)
    return _minimise(a, b)


@njit(cache=True, nogil=True)
def _minimise(a, b):  # type: ignore[no-untyped-def]
    n_features = a.size
    theta = np.zeros(n_features)
    # Only differences of slopes count, and a common scale does not: a power of two is exact.
    largest = max(a.max(), b.max() - b.min())
    if largest == 0:
        theta[:] = 1 / n_features
        return theta
    exponent = -math.frexp(largest)[1]
    inverse = np.zeros(n_features)
    cap = np.inf
    for k in range(n_features):
        scaled = math.ldexp(a[k], exponent)
        if scaled > FLAT:
            inverse[k] = 0.5 / scaled
        else:
            cap = min(cap, b[k])
    if cap < np.inf and _below(cap, b, inverse, exponent, theta) <= 1:
        n_flat = 0
        for k in range(n_features):
            n_flat += inverse[k] == 0 and b[k] == cap
        left = (1 - theta.sum()) / n_flat
        for k in range(n_features):
            if inverse[k] == 0 and b[k] == cap:
                theta[k] = left
        return theta / theta.sum()
    # Mass with η at each slope in turn: a sum of non-negative terms.
    last = previous = np.inf
    mass = spread = 0.0
    for k in np.argsort(b, kind="mergesort"):
        if inverse[k] == 0:
            continue
        if previous < np.inf:
            mass += math.ldexp(b[k] - previous, exponent) * spread
        if mass >= 1:
            break
        spread += inverse[k]
        last = previous = b[k]
    rest = max(1 - _below(last, b, inverse, exponent, theta), 0.0) / spread
    for k in range(n_features):
        theta[k] = theta[k] + rest * inverse[k] if b[k] <= last else 0.0
    return theta / theta.sum()


@njit(cache=True, nogil=True)
def _below(level, b, inverse, exponent, theta):  # type: ignore[no-untyped-def]
    """Fill theta as if η were ``level``; returns its mass."""
    for k in range(b.size):
        gap = level - b[k]
        theta[k] = math.ldexp(gap, exponent) * inverse[k] if gap > 0 else 0.0
    return theta.sum()
