"""Exact nearest neighbours in tiles: fast scores first, then proof, then true distances.

Scores come from matrix products, which lose digits. Each score is therefore lowered by a
bound on its rounding error; the best few by lowered score are measured directly, and a row
is done when its k-th true distance lies below the lowered score of all rows left out. Rows
without that proof (ties, very tight clusters) go on to double precision with a longer list,
and the last of them to a direct scan. The result is the same for every tiling and thread.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fnmf.affinity import _kernels
from fnmf.data import View, spans, view_of
from fnmf.execution import Runner

_QUERIES = 512
_REFERENCES = 1024
_TILE_BYTES = 4_000_000
_CENTRE_ROWS = 1024
# Dense rows of so many bytes in double precision are converted once for the whole search.
_HELD_BYTES = 1 << 26

Found = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Frame:
    """Shift and power-of-two scale under which products neither overflow nor cancel badly."""

    centre: np.ndarray | None
    scale: float

    def apply(self, block: Any) -> Any:
        if is_sparse(block):
            block.data *= self.scale
            return block
        block -= self.centre
        block *= self.scale
        return block


def rows_per_tile(rows: View, most: int) -> int:
    """Rows of a tile; long rows make shorter tiles, so that memory stays bounded."""
    return max(8, min(most, int(_TILE_BYTES / (8 * max(rows.stored_width, 1)))))


def held(rows: View) -> View:
    """The rows in memory and double precision, if they are dense and few; otherwise as they are."""
    n, d = rows.shape
    small = not rows.sparse and 8 * n * d <= _HELD_BYTES
    return view_of(rows.exact(0, n)) if small else rows


def make_frame(references: View, queries: View) -> Frame:
    """Choose the frame; this is also where values that are not finite are found."""
    centre = None
    if not references.sparse:
        step = max(1, references.shape[0] // _CENTRE_ROWS)
        sample = np.arange(0, references.shape[0], step)[:_CENTRE_ROWS]
        size = rows_per_tile(references, _REFERENCES)
        # each row is divided first: the sum of huge values must not overflow
        parts = [
            (as_dense(references.take(sample[a:b])) / len(sample)).sum(axis=0)
            for a, b in spans(len(sample), size)
        ]
        centre = np.sum(parts, axis=0)
    largest = _largest(references, centre, "X")
    if queries is not references:
        largest = max(largest, _largest(queries, centre, "queries"))
    scale = 1.0 if largest == 0 else 2.0 ** -min(max(math.frexp(largest)[1], -1000), 1000)
    return Frame(centre, scale)


def _largest(rows: View, centre: np.ndarray | None, name: str) -> float:
    largest = 0.0
    for start, stop in spans(rows.shape[0], rows_per_tile(rows, _REFERENCES)):
        block = rows.exact(start, stop)
        if centre is None:
            top = float(np.abs(block.data).max(initial=0.0))
        else:
            gaps = as_dense(block)  # a copy of our own: worked on in place
            gaps -= centre
            top = float(np.abs(gaps, out=gaps).max(initial=0.0))
        if not math.isfinite(top):
            raise ValueError(f"{name} contains NaN or infinity; fill or drop missing values first.")
        largest = max(largest, top)
    return largest


def true_distances(
    references: View, queries: View, rows: np.ndarray, candidates: np.ndarray, scale: float
) -> np.ndarray:
    """Scaled squared distances of query rows to their candidates, differences taken first."""
    out = np.empty(candidates.shape)
    here, there = queries.in_place, references.in_place
    if here is not None and there is not None:
        _kernels.dense_distances(here, rows, there, candidates, scale, out)
        return out
    size = max(1, rows_per_tile(references, 16 * _REFERENCES) // candidates.shape[1])
    for a, b in spans(len(rows), size):
        near = references.take(candidates[a:b].ravel())
        _measure(_like(references, queries.take(rows[a:b])), near, scale, out[a:b])
    return out


def _measure(here: Any, near: Any, scale: float, out: np.ndarray) -> None:
    if is_sparse(near):
        _kernels.sparse_distances(*_parts(here), *_parts(near), scale, out)
    else:
        rows, candidates = np.arange(len(out)), np.arange(out.size).reshape(out.shape)
        _kernels.dense_distances(here, rows, near, candidates, scale, out)


def _measure_all(here: Any, there: Any, scale: float, out: np.ndarray) -> None:
    """Scaled squared distances of every row ``here`` to every row ``there``."""
    if not is_sparse(there):
        for i in range(len(out)):
            _measure(here[i : i + 1], there, scale, out[i : i + 1])
        return
    # Lists are read once for all rows: slices of them would be copies.
    (starts, *mine), theirs = _parts(here), _parts(there)
    for i in range(len(out)):
        _kernels.sparse_distances(starts[i : i + 2], *mine, *theirs, scale, out[i : i + 1])


def _parts(block: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return block.indptr.astype(np.int64), block.indices.astype(np.int64), block.data


def smallest(candidates: np.ndarray, distances: np.ndarray, k: int) -> Found:
    """The k best of each row, by distance and then by index."""
    order = np.lexsort((candidates, distances), axis=-1)[:, :k]
    return (
        np.take_along_axis(candidates, order, axis=1),
        np.take_along_axis(distances, order, axis=1),
    )


def nearest_candidates(
    references: View,
    queries: View,
    rows: np.ndarray,
    own: np.ndarray,
    candidates: np.ndarray,
    k: int,
    scale: float,
) -> Found:
    """The k nearest candidates of ``queries[rows]``; -1 and ``own`` are no candidates.

    Places that remain empty have -1 and the distance infinity.
    """
    missing = (candidates < 0) | (candidates == own[:, None])
    direct = true_distances(references, queries, rows, np.where(missing, 0, candidates), scale)
    direct[missing] = np.inf
    return smallest(np.where(missing, -1, candidates), direct, k)


@dataclass(frozen=True)
class _Task:
    """What every block of queries needs to know."""

    references: View
    queries: View
    rows: np.ndarray
    own: np.ndarray
    k: int
    frame: Frame


def exact_neighbors(
    references: View,
    queries: View,
    rows: np.ndarray,
    own: np.ndarray,
    k: int,
    frame: Frame,
    runner: Runner,
) -> Found:
    """The k nearest references of ``queries[rows]``; ``own`` names the one to leave out (or -1).

    Distances are squared, float64 and in the scale of the frame.
    """
    few = held(references)
    task = _Task(few, few if queries is references else held(queries), rows, own, k, frame)
    indices = np.empty((len(rows), k), dtype=np.int64)
    distances = np.empty((len(rows), k))
    proven = np.zeros(len(rows), dtype=bool)
    passes = [partial(_search_block, task, stage) for stage in _stages(task)]
    for work in [*passes, partial(_scan_block, task)]:
        pending = np.flatnonzero(~proven)
        if not len(pending):
            break
        size = rows_per_tile(queries, _QUERIES)
        parts = [(pending[a:b],) for a, b in spans(len(pending), size)]
        for (part,), found in zip(parts, runner.each(work, parts), strict=True):
            indices[part], distances[part], proven[part] = found
    return indices, distances


class _Stage(NamedTuple):
    """A search in one precision.

    Attributes
    ----------
    offsets : ndarray of shape (n,)
        Lowered squared norms of the references.
    lowering : float
        Relative bound on rounding.
    depth : int
        Length of the lists of candidates.
    framed : ndarray of shape (n, d) or None
        The references in the frame, where they are held.
    """

    offsets: np.ndarray
    lowering: float
    depth: int
    framed: np.ndarray | None

    def tile(self, task: _Task, start: int, stop: int) -> Any:
        """Some references in the frame and, if dense, in this precision."""
        if self.framed is not None:
            return self.framed[start:stop]
        block = task.frame.apply(task.references.exact(start, stop))
        return block if is_sparse(block) else block.astype(self.offsets.dtype)


def _stages(task: _Task) -> list[_Stage]:
    """The search in single precision, if rows are dense, and the one in double precision."""
    n = task.references.shape[0]
    available = n - int((task.own >= 0).any())
    framed = None
    if task.references.in_place is not None and 8 * task.references.in_place.size <= _HELD_BYTES:
        whole = task.frame.apply(task.references.exact(0, n))
        norms, framed = _squared_norms(whole), whole.astype(np.float32)
        del whole
    else:
        size = rows_per_tile(task.references, _REFERENCES)
        tiles = (task.references.exact(a, b) for a, b in spans(n, size))
        norms = np.concatenate([_squared_norms(task.frame.apply(tile)) for tile in tiles])
    plan: list[tuple[Any, int]] = [(np.float64, 4 * task.k + 64)]
    if not task.references.sparse:
        plan.insert(0, (np.float32, 2 * task.k + 8))
    stages = []
    for dtype, depth in plan:
        # covers products, norms, the shift, the sum of both and the direct distance
        lowering = (4 * task.references.shape[1] + 16) * float(np.finfo(dtype).eps) / 2
        offsets = (norms * (1 - lowering)).astype(dtype)
        own = framed if dtype is np.float32 else None
        stages.append(_Stage(offsets, lowering, min(depth, available), own))
    return stages


def _squared_norms(block: Any) -> np.ndarray:
    if is_sparse(block):
        return np.asarray(block.multiply(block).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", block, block)


def _search_block(
    task: _Task, stage: _Stage, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, own, references = task.rows[part], task.own[part], task.references
    offsets, lowering, depth, _ = stage
    here = task.frame.apply(_like(references, task.queries.take(rows)))
    norms = _squared_norms(here)
    if not references.sparse:
        here = (-2 * here).astype(offsets.dtype)
    scores = np.full((len(part), depth), np.inf, dtype=offsets.dtype)
    candidates = np.full((len(part), depth), -1, dtype=np.int64)
    size = rows_per_tile(references, _REFERENCES)
    buffer = np.empty((len(part), size), dtype=offsets.dtype)
    for a, b in spans(references.shape[0], size):
        products = buffer[:, : b - a] if b - a == size else np.empty_like(buffer[:, : b - a])
        there = stage.tile(task, a, b)
        if is_sparse(there):
            by_column = there.tocsc()
            _kernels.sparse_products(*_parts(here), *_parts(by_column), products)
        else:
            np.matmul(here, there.T, out=products)
        _kernels.keep_smallest(products, offsets[a:b], a, own, scores, candidates)
        del there  # or two tiles would be held while the next is read
    scale = task.frame.scale
    near, far = nearest_candidates(references, task.queries, rows, own, candidates, task.k, scale)
    left_out = scores[:, -1].astype(np.float64) + norms * (1 - lowering)
    everything = depth >= references.shape[0] - int((own >= 0).any())
    return near, far, (far[:, -1] < left_out) | everything


def _scan_block(task: _Task, part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measure every pair directly: slow, and never wrong."""
    rows, own, references = task.rows[part], task.own[part], task.references
    here = _like(references, task.queries.take(rows))
    distances = np.full((len(part), task.k), np.inf)
    near = np.full((len(part), task.k), -1, dtype=np.int64)
    size = rows_per_tile(references, _REFERENCES)
    for a, b in spans(references.shape[0], size):
        there = references.exact(a, b)
        direct = np.empty((len(part), b - a))
        _measure_all(here, there, task.frame.scale, direct)
        _kernels.keep_smallest(direct, np.zeros(b - a), a, own, distances, near)
    return near, distances, np.ones(len(part), dtype=bool)


def _like(references: View, block: Any) -> Any:
    return sp.csr_array(block) if references.sparse else as_dense(block)


def is_sparse(block: Any) -> bool:
    return bool(sp.issparse(block))


def as_dense(block: Any) -> np.ndarray:
    return block.toarray() if is_sparse(block) else block
