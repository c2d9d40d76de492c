"""Coordinate descent on small non-negative quadratic problems, one for each row."""

import numpy as np

from fnmf._compile import FAST, njit

# Rows without neighbours: pointers, neighbours, similarities, degrees.
_NOBODY = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0)


@njit(nogil=True, cache=True, fastmath=FAST)
def mix_grams(scales, grams, out):  # type: ignore[no-untyped-def]
    """out = Σ_j scales_j grams_j."""
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[a, b] = scales[0] * grams[0, a, b]
    for j in range(1, scales.shape[0]):
        for a in range(out.shape[0]):
            for b in range(out.shape[1]):
                out[a, b] += scales[j] * grams[j, a, b]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def descend_row(v, cross, pull, scale, hessian, drag, rounds, slopes):  # type: ignore[no-untyped-def]
    """Minimise ½ vᵀHv − (cross + pull)·v over each v_a ≥ 0 in turn; H = scale·hessian + drag·I.

    ``slopes`` is room for −gradient: kept up to date, a step needs no product but the one that
    follows from it, and an entry that stays at 0 needs none.
    """
    n_components = v.shape[0]
    for a in range(n_components):
        slopes[a] = cross[a] + pull[a] - drag * v[a]
    for a in range(n_components):
        if v[a] != 0:
            _add_scaled(slopes, -scale * v[a], hessian[a])
    for _ in range(rounds):
        for a in range(n_components):
            curvature = scale * hessian[a, a] + drag
            if curvature <= 0:
                continue
            after = max(v[a] + slopes[a] / curvature, 0)
            step = after - v[a]
            if step != 0:
                v[a] = after
                _add_scaled(slopes, -scale * step, hessian[a])
                slopes[a] -= drag * step


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def _add_scaled(total, factor, values):  # type: ignore[no-untyped-def]
    for b in range(total.shape[0]):
        total[b] += factor * values[b]


def descend_rows(
    values: np.ndarray,
    cross: np.ndarray,
    scales: np.ndarray,
    grams: np.ndarray,
    rounds: int,
    strength: float = 0.0,
    ties: tuple[np.ndarray, ...] = _NOBODY,
) -> None:
    """The same for many rows, in double precision; ``values`` are updated.

    Row k has the Hessian Σ_j scales_kj grams_j; with a single row of scales it serves all. With
    ``ties``, lists of neighbours and degrees, rows are taken in turn, each seeing its neighbours'
    newest values: so every single step lowers the objective with its graph term, which updating
    all rows at once would not.
    """
    pointers, near, similarity, degree = ties
    # One compiled version, whatever the type of the data.
    given = values, cross, scales, grams, similarity, degree
    exact, *others = (np.ascontiguousarray(one, np.float64) for one in given)
    c = values.shape[1]
    room = np.empty((c, c)), np.zeros(c), np.empty(c)
    # In turn means one step of each row before the next step of any.
    how = float(strength), *((int(rounds), 1) if strength > 0 else (1, int(rounds)))
    _descend(exact, *others, pointers, near, *how, *room)
    if exact is not values:
        values[:] = exact


@njit(nogil=True, cache=True)
def _descend(  # type: ignore[no-untyped-def]
    values,
    cross,
    scales,
    grams,
    similarity,
    degree,
    pointers,
    near,
    strength,
    turns,
    steps,
    hessian,
    pull,
    slopes,
):
    n_rows, n_components = values.shape
    scale, drag = 1.0, 0.0
    for _ in range(turns):
        for i in range(n_rows):
            if scales.shape[0] > 1 or i == 0:
                if grams.shape[0] == 1:
                    scale, hessian = scales[i, 0], grams[0]
                else:
                    mix_grams(scales[i], grams, hessian)
            if strength > 0:
                for a in range(n_components):
                    pull[a] = 0
                for entry in range(pointers[i], pointers[i + 1]):
                    weight, k = strength * similarity[entry], near[entry]
                    for a in range(n_components):
                        pull[a] += weight * values[k, a]
                drag = strength * degree[i]
            descend_row(values[i], cross[i], pull, scale, hessian, drag, steps, slopes)
