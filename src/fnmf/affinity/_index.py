"""The inverted file of short codes, filled block by block without spare room."""

import math
from typing import Any

import numpy as np

from fnmf.affinity._projection import Projection, rows_per_block, sample_rows
from fnmf.data import View, spans

_TRAINING_ROWS_PER_LIST = 20
_WIDE_CODES_UP_TO = 9_000_000


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
