"""Exact minimisers, a row at a time: over the simplex, and non-negative least squares."""

import numpy as np

from fnmf._compile import njit

_SWEEPS = 500


@njit(cache=True, nogil=True)
def project_rows(indptr: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Euclidean projection of each row of ``values`` on {x ≥ 0, Σx = 1}."""
    out = np.zeros_like(values)
    for i in range(len(indptr) - 1):
        project_row(values[indptr[i] : indptr[i + 1]], out[indptr[i] : indptr[i + 1]])
    return out


@njit(cache=True, nogil=True)
def project_row(values: np.ndarray, out: np.ndarray) -> None:
    """Drop what lies below the mean threshold until nothing more falls (Michelot)."""
    if len(values) == 0:
        return
    # Measured from the largest entry, so that huge values keep their digits.
    top = values.max()
    active = np.empty(len(values))
    n = 0
    for value in values:
        if value - top > -1.0:
            active[n] = value - top
            n += 1
    threshold = 0.0
    while True:
        threshold = (active[:n].sum() - 1.0) / n
        kept = 0
        for j in range(n):
            if active[j] > threshold:
                active[kept] = active[j]
                kept += 1
        if kept == n:
            break
        n = kept
    for j in range(len(values)):
        out[j] = max(values[j] - top - threshold, 0.0)


@njit(cache=True, nogil=True)
def minimise_rows(indptr: np.ndarray, linear: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Each row minimises ½ Σ u_j x_j² − Σ p_j x_j over the simplex; p linear, u curvature."""
    out = np.zeros_like(linear)
    for i in range(len(indptr) - 1):
        begin, end = indptr[i], indptr[i + 1]
        p, u = linear[begin:end], curvature[begin:end]
        if end == begin:
            continue
        top = p.max()
        multiplier, total, inverse = 0.0, 0.0, 0.0
        for j in np.argsort(-p):
            shifted = p[j] - top
            total += shifted / u[j]
            inverse += 1.0 / u[j]
            trial = (1.0 - total) / inverse
            if shifted + trial <= 0.0:
                break
            multiplier = trial
        for j in range(end - begin):
            out[begin + j] = max((p[j] - top + multiplier) / u[j], 0.0)
    return out


@njit(cache=True, nogil=True)
def edge_distances(
    indptr: np.ndarray, indices: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """‖left_i − right_j‖² for every stored position (i, j) of a sparse matrix."""
    out = np.empty(len(indices))
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            total = 0.0
            for k in range(left.shape[1]):
                gap = left[i, k] - right[j, k]
                total += gap * gap
            out[e] = total
    return out


@njit(cache=True, nogil=True)
def project_block(
    scores: np.ndarray, first_row: int, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Projection of dense rows, kept sparse: counts, columns, x.

    Row r of ``scores`` belongs to sample ``first_row + r``, which may keep a share for itself: its
    distance to itself is 0, whatever rounding says.
    """
    n_rows, n_columns = scores.shape
    counts = np.zeros(n_rows, dtype=np.int64)
    columns = np.empty(capacity, dtype=np.int32)
    weights = np.empty(capacity)
    row = np.empty(n_columns)
    used = 0
    for r in range(n_rows):
        scores[r, first_row + r] = 0.0
        project_row(scores[r], row)
        if used + n_columns > len(columns):
            columns = np.concatenate((columns, np.empty(len(columns) + n_columns, dtype=np.int32)))
            weights = np.concatenate((weights, np.empty(len(weights) + n_columns)))
        for j in range(n_columns):
            if row[j] > 0.0:
                columns[used] = j
                weights[used] = row[j]
                used += 1
                counts[r] += 1
    return counts, columns[:used].copy(), weights[:used].copy()


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
