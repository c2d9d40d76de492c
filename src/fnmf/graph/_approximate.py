"""Approximate nearest neighbours with faiss: a small index of short codes, then true distances.

The samples are projected block by block to 64 to 256 dimensions (fewer the more samples) and
stored as 16-bit or 8-bit codes in an inverted file, so that the index is small beside the
data; the candidates it proposes are measured on the data themselves. Every faiss call uses
one thread on a block of fixed size: the answer does not depend on the number of threads.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fnmf.graph._exact import (
    Found,
    Frame,
    exact_neighbors,
    rows_per_tile,
    run_blocks,
    smallest,
    spans,
    true_distances,
)
from fnmf.graph._rows import Rows, as_dense

_FEWEST_DIMENSIONS, _MOST_DIMENSIONS = 64, 256
_CODE_BYTES = 16_000_000
_QUERIES = 1024
_TRAINING_ROWS_PER_LIST = 20
_TARGET_RECALL = 0.985
_PROBES = 128
_PROJECTION_SAMPLE_BYTES = 16_000_000
_WIDE_CODES_UP_TO = 2 * _CODE_BYTES
_SEED = 0


def import_faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            'algorithm="faiss" needs faiss; install it with: pip install "fnmf[ann]" '
            '(or use algorithm="exact").'
        ) from error
    return faiss


def approximate_neighbors(
    references: Rows,
    queries: Rows,
    rows: np.ndarray,
    own: np.ndarray,
    k: int,
    frame: Frame,
    n_jobs: int | None,
) -> Found:
    """As :func:`exact_neighbors`, but a few of the neighbours may be missed."""
    faiss = import_faiss()
    project = _Projection(references, frame)
    index = _build_index(faiss, references, project)

    def search(part: np.ndarray, wanted: int) -> Found:
        faiss.omp_set_num_threads(1)
        _, candidates = index.search(project(queries.take(rows[part])), wanted)
        missing = (candidates < 0) | (candidates == own[part][:, None])
        direct = true_distances(
            references, queries, rows[part], np.where(missing, 0, candidates), frame.scale
        )
        direct[missing] = np.inf
        return smallest(candidates, direct, k)

    probes = sample_rows(len(rows), _PROBES)
    _, true = exact_neighbors(references, queries, rows[probes], own[probes], k, frame, n_jobs)

    def recall(wanted: int) -> float:
        ((_, given),) = run_blocks(partial(search, wanted=wanted), [probes], 1)
        return float(np.mean(given <= true[:, -1:]))

    wanted = _tune(index, recall, k, references.shape[0])
    parts = [np.arange(a, b) for a, b in spans(len(rows), _QUERIES)]
    found = run_blocks(partial(search, wanted=wanted), parts, n_jobs)
    indices = np.concatenate([near for near, _ in found])
    distances = np.concatenate([far for _, far in found])
    short = np.flatnonzero(~np.isfinite(distances[:, -1]))
    if len(short):  # the lists looked through held too few samples
        indices[short], distances[short] = exact_neighbors(
            references, queries, rows[short], own[short], k, frame, n_jobs
        )
    return indices, distances


def _tune(index: Any, recall: Callable[[int], float], k: int, n_samples: int) -> int:
    """Look through twice as many lists until enough neighbours of the probes are found.

    When more lists no longer help, the codes are what misses them: measure more candidates.
    """
    most = max(16, index.nlist // 6)  # beyond that the exact search is about as fast
    for wanted in (4 * k + 2, 16 * k + 8):
        wanted = min(wanted, n_samples)
        before = 0.0
        index.nprobe = min(4, index.nlist)
        while True:
            reached = recall(wanted)
            if reached >= _TARGET_RECALL:
                return wanted
            if reached < before + 0.001 or index.nprobe >= most:
                break
            before = reached
            index.nprobe = min(2 * index.nprobe, most, index.nlist)
    return wanted


class _Projection:
    """Rows in the frame, turned onto their leading directions when they are long."""

    def __init__(self, references: Rows, frame: Frame) -> None:
        self.frame = frame
        self.basis: np.ndarray | None = None
        n_samples, n_features = references.shape
        affordable = max(_FEWEST_DIMENSIONS, min(_MOST_DIMENSIONS, _CODE_BYTES // n_samples))
        self.dimensions = min(n_features, affordable)
        if n_features > self.dimensions or references.sparse:
            most = _PROJECTION_SAMPLE_BYTES // (8 * n_features)
            size = max(2 * self.dimensions, min(20_000, most))
            chosen = sample_rows(n_samples, size)
            (self.basis,) = run_blocks(self._leading, [references.take(chosen)], 1)

    def _leading(self, sample: Any) -> np.ndarray:
        from sklearn.utils.extmath import randomized_svd

        rank = min(self.dimensions, *sample.shape)
        _, _, basis = randomized_svd(self.frame.apply(sample), rank, n_iter=2, random_state=_SEED)
        padded = np.zeros((self.dimensions, basis.shape[1]))
        padded[:rank] = basis
        return padded.T

    def __call__(self, block: Any) -> np.ndarray:
        framed = self.frame.apply(block)
        if self.basis is not None:
            framed = as_dense(framed @ self.basis)
        return np.ascontiguousarray(framed, dtype=np.float32)


def sample_rows(n: int, size: int) -> np.ndarray:
    if n <= size:
        return np.arange(n)
    return np.sort(np.random.default_rng(_SEED).choice(n, size, replace=False))


def _build_index(faiss: Any, references: Rows, project: _Projection) -> Any:
    n_samples, dimensions = references.shape[0], project.dimensions
    n_lists = min(int(2 * math.sqrt(n_samples)), max(1, n_samples // _TRAINING_ROWS_PER_LIST))
    wide = 2 * n_samples * dimensions <= _WIDE_CODES_UP_TO
    code = faiss.ScalarQuantizer.QT_fp16 if wide else faiss.ScalarQuantizer.QT_8bit
    quantizer = faiss.IndexFlatL2(dimensions)
    index = faiss.IndexIVFScalarQuantizer(quantizer, dimensions, n_lists, code)
    index.own_fields = True
    quantizer.this.disown()
    index.by_residual = False
    index.cp.seed, index.cp.niter = 1234, 6
    index.cp.min_points_per_centroid = 1
    index.cp.max_points_per_centroid = _TRAINING_ROWS_PER_LIST

    def build(_: Any) -> None:
        faiss.omp_set_num_threads(1)
        size = rows_per_tile(references, 4096)
        chosen = sample_rows(n_samples, n_lists * _TRAINING_ROWS_PER_LIST)
        training = np.concatenate(
            [project(references.take(chosen[a:b])) for a, b in spans(len(chosen), size)]
        )
        index.train(training)
        for a, b in spans(n_samples, size):
            index.add(project(references.block(a, b)))

    run_blocks(build, [None], 1)
    return index
