"""What goes back to the user of Dask arrays: more Dask arrays, in the same chunks."""

from __future__ import annotations

import uuid
from typing import Any

import dask.array as da
import numpy as np


def as_dask(rows: np.ndarray, X: Any) -> Any:
    """Results of the rows of X as a Dask array with its chunks."""
    return da.from_array(rows, chunks=(X.chunks[0], *((size,) for size in rows.shape[1:])))


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
