"""What goes back to the user of Dask arrays: more Dask arrays, in the same chunks."""

from __future__ import annotations

import uuid
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from fnmf.execution.dask._row_arrays import DistantRows
from fnmf.execution.dask._store import FileLifetime
from fnmf.execution.dask._worker import Kept, Opaque, arrived


def as_dask(rows: Any, X: Any) -> Any:
    """Results of the rows of X as a Dask array with its chunks."""
    chunks = (X.chunks[0], *((size,) for size in rows.shape[1:]))
    if not isinstance(rows, DistantRows):
        # A row that all share.
        return da.broadcast_to(da.from_array(np.array(rows[:1])), rows.shape, chunks=chunks)
    name, tasks = f"fnmf-rows-{uuid.uuid4().hex}", dict[Any, Any]()
    depend, number, lifetime = [], 0, FileLifetime(rows.line.stored)
    for place, size in enumerate(X.chunks[0]):
        if size:
            one = _lazy(rows.block(number), lifetime)
            number += 1
        else:
            one = dask.delayed(np.empty((0, *rows.shape[1:]), rows.dtype))
        depend.append(one)
        tasks[(name, place, *(0 for _ in rows.shape[1:]))] = one.key
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=depend)
    return da.Array(graph, name, chunks, meta=np.empty((0,) * len(rows.shape), rows.dtype))


def _lazy(block: Any, lifetime: FileLifetime) -> Any:
    """A block that stays where it is until somebody asks for it."""
    assert isinstance(block, Kept)
    own = *block.made, block.place, Opaque(block.factors), lifetime
    return dask.delayed(arrived, pure=False)(*own)


def new_rows(model: Any, method: str, X: Any, width: int | None, dtype: np.dtype) -> Any:
    """``model.method`` of every block of X, when somebody asks for it; (n, width) or (n,)."""
    one = {} if width is not None else {"drop_axis": 1}
    chunks = (X.chunks[0],) if width is None else (X.chunks[0], (width,))
    return X.map_blocks(
        _called,
        model=model,
        method=method,
        dtype=dtype,
        chunks=chunks,
        meta=np.empty((0,) * len(chunks), dtype),
        name=f"fnmf-{method}-{uuid.uuid4().hex}",
        **one,
    )


def _called(block: Any, *, model: Any, method: str) -> np.ndarray:
    return getattr(model, method)(block)
