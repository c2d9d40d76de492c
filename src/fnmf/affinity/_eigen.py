"""Leading eigenvectors of a graph, by subspace iteration with a Chebyshev filter.

Partitions need the directions, not their digits: a few filters do, and a solver made for digits
spends most of its time between calls when graphs are small.
"""

import numpy as np
import scipy.sparse as sp

from fnmf.relevance.defaults import DEFAULTS, Defaults


def leading_vectors(
    similarity: sp.csr_array,
    count: int,
    first: np.ndarray,
    rng: np.random.RandomState,
    defaults: Defaults = DEFAULTS,
) -> np.ndarray:
    """Eigenvectors of the ``count`` largest eigenvalues, largest first.

    Parameters
    ----------
    similarity : csr_array of shape (n, n)
        Symmetric, with eigenvalues from -1 to 1.
    count : int
        Vectors wanted.
    first : ndarray of shape (n,)
        A vector known to be among them.
    rng : RandomState
        Where the others start.
    defaults : Defaults
        Width and degree of the filter, and when to stop.
    """
    n = similarity.shape[0]
    block = rng.normal(size=(n, min(count + defaults.eigen_spare, n)))
    block[:, 0] = first
    block, _ = np.linalg.qr(block)
    values = np.zeros(count)
    for _ in range(defaults.eigen_filters):
        # The filter damps everything from -1 to the smallest eigenvalue that is followed.
        lowest = float(np.clip(values[-1], 0.0, defaults.eigen_damped))
        block, _ = np.linalg.qr(_filtered(similarity, block, lowest, defaults.eigen_degree))
        image = similarity @ block
        values, turn = np.linalg.eigh(block.T @ image)
        values, turn = values[::-1], turn[:, ::-1]
        block, image = block @ turn, image @ turn
        gaps = image[:, :count] - block[:, :count] * values[:count]
        if np.linalg.norm(gaps, axis=0).max() < defaults.eigen_precision:
            break
    return np.ascontiguousarray(block[:, :count])


def _filtered(similarity: sp.csr_array, block: np.ndarray, high: float, degree: int) -> np.ndarray:
    """The Chebyshev polynomial that is small from -1 to ``high`` and grows beyond, of the graph."""
    half, centre = (high + 1) / 2, (high - 1) / 2
    before, now = block, (similarity @ block - centre * block) / half
    for _ in range(degree - 1):
        after = similarity @ now
        after -= centre * now
        after *= 2 / half
        after -= before
        before, now = now, after
    return now
