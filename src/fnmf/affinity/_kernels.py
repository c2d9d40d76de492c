"""Compiled inner loops of the neighbour search."""

import numpy as np

from fnmf._compile import njit
from fnmf.kernels.lanes import (
    QUAD,
    add_gap,
    add_scaled,
    any_below,
    filled,
    least,
    lines,
    load_line,
    load_part,
    no_quad,
    paired,
    smaller,
    without_least,
)
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
def dense_distances(queries, rows, references, candidates, scale, out):  # type: ignore[no-untyped-def]
    """Squared distances of ``queries[rows[i]]`` to each of ``references[candidates[i]]``, scaled.

    The sum runs in four parts by column modulo 4, as in the sparse twin: same bits.
    """
    for i in range(candidates.shape[0]):
        for j in range(candidates.shape[1]):
            parts, here, there = no_quad(), rows[i], candidates[i, j]
            for k in range(0, queries.shape[1], QUAD):
                parts = add_gap(parts, queries, here, references, there, k, scale)
            out[i, j] = paired(parts)


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
    # Places past the end of a row are infinitely far.
    rough = np.full((1, lines(count)), np.inf, kind)
    rough[0, :count] = squares
    # What rounding can do to a distance in the precision of the products.
    slack = 16 * np.finfo(kind).eps * (squares.max() + lengths) + np.finfo(kind).tiny
    indices, distances = np.zeros((n, k), np.int32), np.full((n, k), np.inf)
    _search(products, rough, squares, lengths, slack, bool(others), indices, distances)
    return indices, distances


# Hardly any distance is among the smallest: sixteen at a time are passed over by one comparison in
# the precision of the products, and only the others are measured in double precision.
@njit(nogil=True, cache=True)
def _search(products, rough, squares, lengths, slack, others, indices, distances):  # type: ignore[no-untyped-def]
    wide_vectors()
    (n, count), number, last = products.shape, products.dtype.type, distances.shape[1] - 1
    for i in range(n):
        bound, own = number(np.inf), i if others else -1
        low = filled(bound, load_line(rough, 0, 0))
        for start in range(0, count, LINE):
            gaps = load_part(products, i, start)
            low = smaller(low, add_scaled(load_line(rough, 0, start), number(-2), gaps))
        for _ in range(last + others):
            low = without_least(low)
        # So many groups have a row that near: the k-th nearest of all is no farther.
        bound = number(least(low) + slack[i])
        for start in range(0, count, LINE):
            gaps = load_part(products, i, start)
            if not any_below(add_scaled(load_line(rough, 0, start), number(-2), gaps), bound):
                continue
            for j in range(start, min(start + LINE, count)):
                if rough[0, j] + number(-2) * products[i, j] >= bound or j == own:
                    continue
                gap, at = max(lengths[i] + squares[j] - 2 * float(products[i, j]), 0.0), last
                if gap < distances[i, last]:
                    while at > 0 and distances[i, at - 1] > gap:
                        distances[i, at] = distances[i, at - 1]
                        indices[i, at] = indices[i, at - 1]
                        at -= 1
                    distances[i, at] = gap
                    indices[i, at] = j
            bound = min(bound, number(distances[i, last] - lengths[i] + slack[i]))
