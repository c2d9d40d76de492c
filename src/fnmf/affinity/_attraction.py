"""What holds new rows to the rows a model was fitted on."""

from typing import NamedTuple

import numpy as np

from fnmf.affinity._adaptive import adaptive_weights, neighbors_of
from fnmf.data import View
from fnmf.execution import Runner


class Attraction(NamedTuple):
    """What ties do to rows whose partners stand still: β Σ_r s_ir v_r, and β Σ_r s_ir."""

    pull: np.ndarray
    drag: np.ndarray


def attraction(
    fitted: View,
    queries: View,
    codes: np.ndarray,
    n_neighbors: int,
    strength: float,
    runner: Runner,
) -> Attraction:
    """β Σ_r a_ir v_r over the nearest fitted rows r, and β Σ_r a_ir, by the adaptive formula."""
    k = min(n_neighbors, len(codes) - 1)
    indices, distances = neighbors_of(fitted, k + 1, runner, queries=queries)
    return attraction_to(indices[:, :k], distances, codes, strength)


def attraction_to(
    indices: np.ndarray, distances: np.ndarray, codes: np.ndarray, strength: float
) -> Attraction:
    """The same for known neighbours; ``distances`` are those of one row more, of weight 0."""
    shares = strength * adaptive_weights(distances).astype(np.float64)
    near = codes.astype(np.float64)[indices]
    return Attraction(np.einsum("ik,ikc->ic", shares, near), shares.sum(axis=1))
