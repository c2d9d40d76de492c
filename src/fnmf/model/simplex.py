"""The simplex sub-problem behind the feature weights."""

import numpy as np


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
    a = np.asarray(curvature, dtype=np.float64)
    b = np.asarray(slope, dtype=np.float64)
    # Only differences of slopes count, and a common scale does not: a power of two is exact.
    largest = max(a.max(), b.max() - b.min())
    if largest == 0:
        return np.full(a.shape, 1 / a.size)
    exponent = -int(np.frexp(largest)[1])
    a = np.ldexp(a, exponent)
    curved = a > 1e-290
    theta = np.zeros_like(a)
    slopes, inverse = b[curved], 0.5 / a[curved]
    if not curved.all():
        cap = b[~curved].min()
        below = np.ldexp(np.maximum(cap - slopes, 0), exponent) * inverse
        if below.sum() <= 1:
            theta[curved] = below
            flat = ~curved & (b == cap)
            theta[flat] = (1 - below.sum()) / flat.sum()
            return theta / theta.sum()
    order = np.argsort(slopes, kind="stable")
    rising = slopes[order]
    # Mass with η at each slope in turn: a sum of non-negative terms.
    steps = np.ldexp(np.diff(rising), exponent) * np.cumsum(inverse[order])[:-1]
    mass = np.concatenate([[0.0], np.cumsum(steps)])
    last = rising[np.flatnonzero(mass < 1)[-1]]
    active = slopes <= last
    gaps = np.ldexp(last - slopes[active], exponent)
    rest = max(1 - float(gaps @ inverse[active]), 0.0) / inverse[active].sum()
    theta[np.flatnonzero(curved)[active]] = (rest + gaps) * inverse[active]
    return theta / theta.sum()
