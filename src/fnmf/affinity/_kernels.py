"""Compiled inner loops of the neighbour search."""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.lanes import add_scaled, any_below, lines, load_line, load_part, smaller, store
from fnmf.kernels.tiles import LINE, wide_vectors

# Scores looked at together before any of them is looked at on its own.
_CHUNK = 64


@njit(nogil=True, cache=True)
def keep_smallest(
    products: np.ndarray,
    offsets: np.ndarray,
    first: int,
    own: np.ndarray,
    scores: np.ndarray,
    indices: np.ndarray,
) -> None:
    """Merge ``products[i, j] + offsets[j]`` of reference ``first + j`` into rising lists.

    Row i never lists reference ``own[i]``. Equal scores stay in the order of the references.
    """
    n_queries, n_references = products.shape
    depth = scores.shape[1]
    for i in range(n_queries):
        worst = scores[i, depth - 1]
        for start in range(0, n_references, _CHUNK):
            stop = min(start + _CHUNK, n_references)
            hit = 0
            for j in range(start, stop):  # no branch: the compiler makes vector code of it
                hit |= products[i, j] + offsets[j] < worst
            if hit == 0:
                continue
            for j in range(start, stop):
                score = products[i, j] + offsets[j]
                if score < worst and first + j != own[i]:
                    place = depth - 1
                    while place > 0 and scores[i, place - 1] > score:
                        scores[i, place] = scores[i, place - 1]
                        indices[i, place] = indices[i, place - 1]
                        place -= 1
                    scores[i, place] = score
                    indices[i, place] = first + j
                    worst = scores[i, depth - 1]


@njit(nogil=True, cache=True)
def sparse_products(
    indptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    column_starts: np.ndarray,
    references: np.ndarray,
    reference_values: np.ndarray,
    out: np.ndarray,
) -> None:
    """-2 Q Rᵀ of CSR rows Q with references R stored by column: only shared columns cost."""
    out[:] = 0
    for i in range(out.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            factor = -2.0 * values[p]
            for r in range(column_starts[columns[p]], column_starts[columns[p] + 1]):
                out[i, references[r]] += factor * reference_values[r]


@njit(nogil=True, cache=True)
def dense_distances(
    queries: np.ndarray, references: np.ndarray, scale: float, out: np.ndarray
) -> None:
    """Squared distances of query i to its own ``references[i * m : (i + 1) * m]``.

    The sum runs in four parts by column modulo 4, as in the sparse twin: same bits.
    """
    n_queries, m = out.shape
    d = queries.shape[1]
    whole = d - d % 4
    for i in range(n_queries):
        for j in range(m):
            row = i * m + j
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(0, whole, 4):
                g0 = (queries[i, k] - references[row, k]) * scale
                g1 = (queries[i, k + 1] - references[row, k + 1]) * scale
                g2 = (queries[i, k + 2] - references[row, k + 2]) * scale
                g3 = (queries[i, k + 3] - references[row, k + 3]) * scale
                s0 += g0 * g0
                s1 += g1 * g1
                s2 += g2 * g2
                s3 += g3 * g3
            for k in range(whole, d):
                gap = (queries[i, k] - references[row, k]) * scale
                if k % 4 == 0:
                    s0 += gap * gap
                elif k % 4 == 1:
                    s1 += gap * gap
                else:
                    s2 += gap * gap
            out[i, j] = (s0 + s1) + (s2 + s3)


@njit(nogil=True, cache=True)
def nearest_of(
    queries: np.ndarray,
    rows: np.ndarray,
    own: np.ndarray,
    references: np.ndarray,
    candidates: np.ndarray,
    scale: float,
    near: np.ndarray,
    far: np.ndarray,
) -> None:
    """The nearest of the candidates of ``queries[rows]``, by distance and then by index.

    Distances have the bits of ``dense_distances``. A sum that has passed the worst distance
    kept is not finished; rows are read where they lie.
    """
    k = near.shape[1]
    d = queries.shape[1]
    whole = d - d % 4
    near[:] = -1
    far[:] = np.inf
    for i in range(len(rows)):
        here = rows[i]
        for c in range(candidates.shape[1]):
            there = candidates[i, c]
            if there < 0 or there == own[i]:
                continue
            worst = far[i, k - 1]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            start = 0
            while start < whole and (s0 + s1) + (s2 + s3) <= worst:
                stop = min(start + _CHUNK, whole)
                x, y = queries[here, start:stop], references[there, start:stop]
                for j in range(0, len(x), 4):
                    g0 = (np.float64(x[j]) - np.float64(y[j])) * scale
                    g1 = (np.float64(x[j + 1]) - np.float64(y[j + 1])) * scale
                    g2 = (np.float64(x[j + 2]) - np.float64(y[j + 2])) * scale
                    g3 = (np.float64(x[j + 3]) - np.float64(y[j + 3])) * scale
                    s0 += g0 * g0
                    s1 += g1 * g1
                    s2 += g2 * g2
                    s3 += g3 * g3
                start = stop
            for j in range(whole, d):
                gap = (np.float64(queries[here, j]) - np.float64(references[there, j])) * scale
                if j % 4 == 0:
                    s0 += gap * gap
                elif j % 4 == 1:
                    s1 += gap * gap
                else:
                    s2 += gap * gap
            total = (s0 + s1) + (s2 + s3)
            if total > worst or (total == worst and there > near[i, k - 1] >= 0):
                continue
            place = k - 1
            while place > 0 and (
                far[i, place - 1] > total
                or (far[i, place - 1] == total and near[i, place - 1] > there)
            ):
                far[i, place] = far[i, place - 1]
                near[i, place] = near[i, place - 1]
                place -= 1
            far[i, place] = total
            near[i, place] = there


@njit(nogil=True, cache=True)
def sparse_distances(
    q_indptr: np.ndarray,
    q_columns: np.ndarray,
    q_values: np.ndarray,
    r_indptr: np.ndarray,
    r_columns: np.ndarray,
    r_values: np.ndarray,
    scale: float,
    out: np.ndarray,
) -> None:
    """As ``dense_distances`` for CSR rows with rising columns."""
    n_queries, m = out.shape
    parts = np.empty(4)
    for i in range(n_queries):
        for j in range(m):
            parts[:] = 0.0
            p, p_end = q_indptr[i], q_indptr[i + 1]
            r, r_end = r_indptr[i * m + j], r_indptr[i * m + j + 1]
            while p < p_end or r < r_end:
                if r == r_end or (p < p_end and q_columns[p] < r_columns[r]):
                    column, gap = q_columns[p], q_values[p]
                    p += 1
                elif p == p_end or r_columns[r] < q_columns[p]:
                    column, gap = r_columns[r], -r_values[r]
                    r += 1
                else:
                    column, gap = q_columns[p], q_values[p] - r_values[r]
                    p += 1
                    r += 1
                gap *= scale
                parts[column % 4] += gap * gap
            out[i, j] = (parts[0] + parts[1]) + (parts[2] + parts[3])


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


# Hardly any distance is among the smallest: sixteen at a time are passed over by one comparison in
# the precision of the products, and only the others are measured in double precision.
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
