"""Non-negative least squares for many rows that share one basis."""

import numpy as np

from fnmf._compile import njit

_SWEEPS = 500


@njit(cache=True, nogil=True)
def nonnegative_rows(
    cross: np.ndarray, gram: np.ndarray, allowed: np.ndarray, tolerance: float
) -> np.ndarray:
    """Each row minimises ‖x − U g‖² over g ≥ 0 from ``cross`` = XU and ``gram`` = UᵀU.

    Row i may use the components listed in ``allowed[i]`` only. Coordinate descent, with a stop
    rule of each row's own: the answer for a row does not depend on the rows around it.
    """
    out = np.zeros(cross.shape)
    for i in range(len(cross)):
        scale = 0.0
        for k in allowed[i]:
            scale = max(scale, abs(cross[i, k]))
        for _ in range(_SWEEPS):
            largest = 0.0
            for k in allowed[i]:
                if gram[k, k] <= 0.0:
                    continue
                slope = -cross[i, k]
                for j in allowed[i]:
                    slope += gram[k, j] * out[i, j]
                value = max(out[i, k] - slope / gram[k, k], 0.0)
                largest = max(largest, abs(value - out[i, k]) * gram[k, k])
                out[i, k] = value
            if largest <= tolerance * scale:
                break
    return out
