"""Approximate nearest neighbours with faiss: a small index of short codes, then true distances.

The samples are projected block by block to 64 to 256 dimensions and stored as codes of one
byte (two while that is little) in an inverted file, so that the index is small beside the
data; the candidates it proposes are measured on the data themselves. Every faiss call uses
one thread on a block of fixed size: the answer does not depend on the number of threads.
"""

import numpy as np

from fnmf.affinity._exact import Found, Frame, exact_neighbors, nearest_candidates
from fnmf.affinity._index import build_index, import_faiss
from fnmf.affinity._projection import Projection, rows_per_block, sample_rows
from fnmf.affinity._tuning import tune
from fnmf.data import View, spans
from fnmf.execution import Runner

_PROBES = 128


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
