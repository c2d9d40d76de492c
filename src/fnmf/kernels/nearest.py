"""The few smallest of many squared distances, from products of rows.

Hardly any of them is among the smallest: sixteen at a time are passed over by one comparison in
the precision of the products, and only the others are measured in double precision.
"""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.lanes import (
    add_scaled,
    any_below,
    lines,
    load_line,
    load_part,
    smaller,
    store,
)
from fnmf.kernels.tiles import LINE, wide_vectors


@njit(nogil=True, cache=True)
def few_nearest(products, squares, lengths, k, others):  # type: ignore[no-untyped-def]
    """The k nearest of some rows to each of others, nearest first, and their squared distances.

    Of rows equally near the first ones count.

    Parameters
    ----------
    products : ndarray of shape (n, count)
        Of the rows with those that are searched.
    squares, lengths : ndarray of shape (count,) and (n,)
        Squared lengths of both, in double precision.
    k : int
        How many; no more than there are.
    others : bool
        Whether both are the same rows, of which none is its own neighbour.
    """
    wide_vectors()
    n, count = products.shape
    number = products.dtype.type
    indices, distances = np.zeros((n, k), np.int32), np.full((n, k), np.inf)
    # Places past the end of a row are infinitely far.
    rough = np.full((1, lines(count)), np.inf, products.dtype)
    rough[0, :count] = squares
    # What rounding can do to a distance in the precision of the products.
    slack = 16 * np.finfo(products.dtype).eps
    most, tiny = squares.max(), np.finfo(products.dtype).tiny
    rank = k + 1 if others else k
    lows, best = np.empty((1, lines(2 * rank)), products.dtype), np.empty(rank, products.dtype)
    for i in range(n):
        own, farthest = lengths[i], np.inf
        _smallest_of_groups(products, rough, i, lows)
        # So many groups have a row that near: the k-th nearest of all is no farther.
        bound = number(_ranked(lows, best) + slack * (most + own) + tiny)
        for start in range(0, count, LINE):
            if not any_below(_gaps(products, rough, i, start), bound):
                continue
            for j in range(start, min(start + LINE, count)):
                if rough[0, j] - 2 * products[i, j] >= bound or (others and i == j):
                    continue
                gap = max(own + squares[j] - 2 * float(products[i, j]), 0.0)
                if gap < farthest:
                    at = k - 1
                    while at > 0 and distances[i, at - 1] > gap:
                        distances[i, at] = distances[i, at - 1]
                        indices[i, at] = indices[i, at - 1]
                        at -= 1
                    distances[i, at] = gap
                    indices[i, at] = j
                    farthest = distances[i, k - 1]
    return indices, distances


@njit(nogil=True, cache=True, forceinline=True)
def _gaps(products, rough, i, start):  # type: ignore[no-untyped-def]
    """Squared distances of a line of rows, less the squared length that all of them share."""
    whole = start + LINE <= products.shape[1]
    line = load_line(products, i, start) if whole else load_part(products, i, start)
    return add_scaled(load_line(rough, 0, start), products.dtype.type(-2), line)


@njit(nogil=True, cache=True, forceinline=True)
def _smallest_of_groups(products, rough, i, lows):  # type: ignore[no-untyped-def]
    """The smallest distance of each group; every so many rows are of the same."""
    groups, width = lows.shape[1], rough.shape[1]
    for place in range(0, groups, LINE):
        if place >= width:
            lows[0, place:] = np.inf
            return
        low = _gaps(products, rough, i, place)
        for start in range(place + groups, width, groups):
            low = smaller(low, _gaps(products, rough, i, start))
        store(lows, 0, place, low)


@njit(nogil=True, cache=True, forceinline=True)
def _ranked(lows, best):  # type: ignore[no-untyped-def]
    """The last of the smallest values, of which ``best`` has room for as many as are wanted."""
    best[:] = np.inf
    last = len(best) - 1
    for e in range(lows.shape[1]):
        value = lows[0, e]
        if value < best[last]:
            at = last
            while at > 0 and best[at - 1] > value:
                best[at] = best[at - 1]
                at -= 1
            best[at] = value
    return best[last]
