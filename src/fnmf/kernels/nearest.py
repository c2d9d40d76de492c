"""The few smallest of many squared distances, from products of rows.

Hardly any of them is among the smallest: sixteen at a time are passed over by one comparison in
the precision of the products, and only the others are measured in double precision.
"""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.lanes import add_scaled, any_below, lines, load_line, load_part, smaller, store
from fnmf.kernels.tiles import LINE, wide_vectors


def few_nearest(
    products: np.ndarray, squares: np.ndarray, lengths: np.ndarray, k: int, others: bool
) -> tuple[np.ndarray, np.ndarray]:
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
    (n, count), kind = products.shape, products.dtype
    rank = k + 1 if others else k
    # Places past the end of a row are infinitely far.
    rough = np.full((1, lines(count)), np.inf, kind)
    rough[0, :count] = squares
    # What rounding can do to a distance in the precision of the products.
    slack = 16 * np.finfo(kind).eps * (squares.max() + lengths) + np.finfo(kind).tiny
    lows, best = np.full((1, lines(2 * rank)), np.inf, kind), np.empty(rank, kind)
    indices, distances = np.zeros((n, k), np.int32), np.full((n, k), np.inf)
    own = lengths, slack, bool(others)
    _search(products, rough, squares, *own, lows, best, indices, distances)
    return indices, distances


@njit(nogil=True, cache=True)
def _search(products, rough, squares, lengths, slack, others, lows, best, indices, distances):  # type: ignore[no-untyped-def]
    wide_vectors()
    n, count = products.shape
    number = products.dtype.type
    twice, far = number(-2), number(np.inf)
    last, farthest_place = len(best) - 1, distances.shape[1] - 1
    groups, width = lows.shape[1], rough.shape[1]
    for i in range(n):
        # The smallest distance of each group; every so many rows are of the same.
        for place in range(0, min(groups, width), LINE):
            low = load_line(rough, 0, place)
            low = add_scaled(low, twice, load_part(products, i, place))
            for start in range(place + groups, width, groups):
                gaps = load_line(rough, 0, start)
                low = smaller(low, add_scaled(gaps, twice, load_part(products, i, start)))
            store(lows, 0, place, low)
        for at in range(last + 1):
            best[at] = far
        for group in range(groups):
            value, at = lows[0, group], last
            if value < best[last]:
                while at > 0 and best[at - 1] > value:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = value
        # So many groups have a row that near: the k-th nearest of all is no farther.
        bound = number(best[last] + slack[i])
        for start in range(0, count, LINE):
            gaps = load_line(rough, 0, start)
            if not any_below(add_scaled(gaps, twice, load_part(products, i, start)), bound):
                continue
            for j in range(start, min(start + LINE, count)):
                if rough[0, j] + twice * products[i, j] >= bound or (others and i == j):
                    continue
                gap = max(lengths[i] + squares[j] - 2 * float(products[i, j]), 0.0)
                if gap < distances[i, farthest_place]:
                    at = farthest_place
                    while at > 0 and distances[i, at - 1] > gap:
                        distances[i, at] = distances[i, at - 1]
                        indices[i, at] = indices[i, at - 1]
                        at -= 1
                    distances[i, at] = gap
                    indices[i, at] = j
