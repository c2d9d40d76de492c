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
    The solution is θ_k = max(0, (η − b_k) / 2a_k). With the slopes sorted, η is known in closed
    form for each possible number of positive entries, and the right number is the largest
    that is consistent with itself. An entry without curvature caps η at its slope and takes
    the mass that is left.

    Examples
    --------
    >>> import numpy as np
    >>> from fnmf.model.simplex import minimise_on_simplex
    >>> minimise_on_simplex(np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0, 9.0]))
    array([0.5, 0.5, 0. ])
    """
    a = np.asarray(curvature, dtype=np.float64)
    b = np.asarray(slope, dtype=np.float64)
    # Neither a shift of b nor a common scale changes the minimiser; both spare us overflow.
    b = b - b.min()
    scale = max(a.max(), b.max())
    if scale == 0:
        return np.full(a.shape, 1 / a.size)
    a, b = a / scale, b / scale
    curved = a > 1e-290
    theta = np.zeros_like(a)
    cap = b[~curved].min() if not curved.all() else np.inf
    if curved.any():
        order = np.argsort(b[curved], kind="stable")
        slopes = b[curved][order]
        inverse = 0.5 / a[curved][order]
        # η for the r smallest slopes being active, r = 1, 2, …
        levels = (1 + np.cumsum(slopes * inverse)) / np.cumsum(inverse)
        level = levels[np.flatnonzero(levels > slopes)[-1]]
        theta[curved] = np.maximum(min(level, cap) - b[curved], 0) * 0.5 / a[curved]
        if level <= cap:
            return theta / theta.sum()
    flat = ~curved & (b == cap)
    theta[flat] = max(1 - theta.sum(), 0) / flat.sum()
    return theta / theta.sum()
