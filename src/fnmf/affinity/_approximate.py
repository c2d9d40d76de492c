"""Approximate nearest neighbours with faiss: a small index of short codes, then true distances.

The samples are projected block by block to 64 to 256 dimensions and stored as codes of one
byte (two while that is little) in an inverted file, so that the index is small beside the
data; the candidates it proposes are measured on the data themselves. Every faiss call uses
one thread on a block of fixed size: the answer does not depend on the number of threads.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fnmf.affinity._exact import Found, Frame, exact_neighbors, nearest_candidates
from fnmf.affinity._projection import Projection, rows_per_block, sample_rows
from fnmf.data import View, spans
from fnmf.execution import Runner

_PROBES = 128
_TRAINING_ROWS_PER_LIST = 20
_WIDE_CODES_UP_TO = 9_000_000
_TARGET_RECALL = 0.985
_PROMISED_RECALL = 0.97
_CANDIDATES = ((4, 2), (16, 8), (64, 32))  # for each neighbour, and more


def approximate_neighbors(
    references: View,
    queries: View,
    rows: np.ndarray,
    own: np.ndarray,
    k: int,
    frame: Frame,
    runner: Runner,
) -> Found:
    """As :func:`exact_neighbors`, but a few of the neighbours may be missed."""
    faiss = import_faiss()
    # the truth about the probes comes first: its buffers are gone when the index is made
    probes = sample_rows(len(rows), _PROBES)
    _, true = exact_neighbors(references, queries, rows[probes], own[probes], k, frame, runner)
    project = Projection(references, frame)
    index, lists = build_index(references, project)

    def search(part: np.ndarray, wanted: int) -> Found:
        faiss.omp_set_num_threads(1)
        _, candidates = index.search(project(queries.take(rows[part])), wanted)
        return nearest_candidates(
            references, queries, rows[part], own[part], candidates, k, frame.scale
        )

    def recall(wanted: int) -> float:
        _, given = search(probes, wanted)
        return float(np.mean(given <= true[:, -1:]))

    wanted = tune(index, recall, k, references.shape[0])
    indices = np.empty((len(rows), k), dtype=np.int64)
    distances = np.empty((len(rows), k))

    def fill(part: np.ndarray) -> None:
        indices[part], distances[part] = search(part, wanted)

    # rows of one list look through the same lists: their candidates stay in the cache
    order = np.argsort(lists[rows], kind="stable") if queries is references else None
    parts = [
        (np.arange(a, b) if order is None else order[a:b],)
        for a, b in spans(len(rows), rows_per_block(queries))
    ]
    for _ in runner.each(fill, parts):
        pass
    short = np.flatnonzero(~np.isfinite(distances[:, -1]))
    if len(short):  # the lists looked through held too few samples
        indices[short], distances[short] = exact_neighbors(
            references, queries, rows[short], own[short], k, frame, runner
        )
    return indices, distances


def import_faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            'algorithm="faiss" needs faiss; install it with: pip install "fnmf[ann]" '
            '(or use algorithm="exact").'
        ) from error
    return faiss


def build_index(references: View, project: Projection) -> tuple[Any, np.ndarray]:
    """The index, and the list each reference is in."""
    faiss = import_faiss()
    faiss.omp_set_num_threads(1)
    n_samples = references.shape[0]
    index = _empty_index(faiss, n_samples, project.dimensions)
    size = rows_per_block(references, 4096)
    chosen = sample_rows(n_samples, index.nlist * _TRAINING_ROWS_PER_LIST)
    training = np.empty((len(chosen), project.dimensions), dtype=np.float32)
    for a, b in spans(len(chosen), size):
        training[a:b] = project(references.take(chosen[a:b]))
    index.train(training)
    del training

    lists = np.empty(n_samples, dtype=np.int32)
    for a, b in spans(n_samples, size):
        lists[a:b] = index.quantizer.assign(project(references.exact(a, b)), 1).ravel()
    _reserve(index, lists)
    for a, b in spans(n_samples, size):
        vectors, places = project(references.exact(a, b)), lists[a:b].astype(np.int64)
        index.add_core(b - a, faiss.swig_ptr(vectors), None, faiss.swig_ptr(places))
    return index, lists


def _empty_index(faiss: Any, n_samples: int, dimensions: int) -> Any:
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
    return index


def _reserve(index: Any, lists: np.ndarray) -> None:
    """Give each list its final room: lists that grow by doubling waste up to half of theirs."""
    for place, length in enumerate(np.bincount(lists, minlength=index.nlist).tolist()):
        index.invlists.resize(place, length)
        index.invlists.resize(place, 0)


def tune(index: Any, recall: Callable[[int], float], k: int, n_samples: int) -> int:
    """Look through twice as many lists until enough neighbours of the probes are found.

    When more lists no longer help, the codes are what misses them: measure more candidates.
    The best setting is kept; one that is too poor is answered with a warning.
    """
    most = max(16, index.nlist // 6)  # beyond that the exact search is about as fast
    best = (0.0, 1, 0)
    for each, more in _CANDIDATES:
        wanted = min(each * k + more, n_samples)
        before = 0.0
        index.nprobe = min(4, index.nlist)
        while True:
            reached = recall(wanted)
            best = max(best, (reached, index.nprobe, wanted))
            if reached >= _TARGET_RECALL:
                return wanted
            if reached < before + 0.001 or index.nprobe >= min(most, index.nlist):
                break
            before = reached
            index.nprobe = min(2 * index.nprobe, most, index.nlist)
    reached, index.nprobe, wanted = best
    if reached < _PROMISED_RECALL:
        warnings.warn(
            f'algorithm="faiss" finds only {reached:.0%} of the nearest neighbours of these '
            f"samples (measured on a sample of them; {_PROMISED_RECALL:.0%} is the aim): their "
            'distances differ too little for short codes. algorithm="exact" finds all; for a '
            'model, pass graph=adaptive_neighbors(X, algorithm="exact").',
            UserWarning,
            stacklevel=2,
        )
    return wanted
