"""Leading eigenvectors of a graph, by subspace iteration with a Chebyshev filter, compiled.

Partitions need the directions, not their digits: a few filters do, and a solver made for digits
spends most of its time between calls when graphs are small.
"""

import numpy as np
import scipy.sparse as sp

from fnmf._compile import njit

# Vectors beyond those wanted, degree of the filter, how often it is used at most, the residual at
# which directions are good enough, and up to where eigenvalues are damped at most.
_SPARE, _DEGREE, _FILTERS, _PRECISION, _DAMPED = 6, 16, 12, 1e-3, 0.999


def leading_vectors(
    similarity: sp.csr_array,
    count: int,
    first: np.ndarray,
    rng: np.random.RandomState,
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
    """
    n = similarity.shape[0]
    block = rng.normal(size=(n, min(count + _SPARE, n)))
    block[:, 0] = first
    lists = similarity.indptr, similarity.indices, similarity.data
    block, _ = np.linalg.qr(block)
    values = np.zeros(count)
    for _ in range(_FILTERS):
        # The filter damps everything from -1 to the smallest eigenvalue that is followed.
        lowest = float(np.clip(values[-1], 0.0, _DAMPED))
        block, _ = np.linalg.qr(_filtered(*lists, block, lowest, _DEGREE))
        image = _product(*lists, block)
        values, turn = np.linalg.eigh(block.T @ image)
        values, turn = values[::-1], turn[:, ::-1]
        block, image = block @ turn, image @ turn
        gaps = image[:, :count] - block[:, :count] * values[:count]
        if np.linalg.norm(gaps, axis=0).max() < _PRECISION:
            break
    return np.ascontiguousarray(block[:, :count])


@njit(nogil=True, cache=True)
def _product(pointers, neighbours, similarity, block):  # type: ignore[no-untyped-def]
    n, width = block.shape
    out = np.zeros((n, width))
    for i in range(n):
        for p in range(pointers[i], pointers[i + 1]):
            weight, row = similarity[p], neighbours[p]
            for a in range(width):
                out[i, a] += weight * block[row, a]
    return out


@njit(nogil=True, cache=True)
def _filtered(pointers, neighbours, similarity, block, high, degree):  # type: ignore[no-untyped-def]
    """The Chebyshev polynomial that is small from -1 to ``high`` and grows beyond, of the graph."""
    half, centre = (high + 1) / 2, (high - 1) / 2
    before = block
    now = (_product(pointers, neighbours, similarity, block) - centre * block) / half
    for _ in range(degree - 1):
        image = _product(pointers, neighbours, similarity, now)
        after = 2 / half * (image - centre * now) - before
        before, now = now, after
    return now
