"""Products of rows with other rows, dense, whatever the rows are."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.kernels.csr import dense_products


def turned(rows: Any) -> Any:
    """Rows feature by feature, as ``products_with`` wants them."""
    return rows.T if isinstance(rows, np.ndarray) else sp.csr_array(rows.T)


def products_with(rows: Any, others: Any, place: np.ndarray | None = None) -> np.ndarray:
    """``rows`` times ``others``, which are turned; dense ones go to ``place``."""
    if isinstance(rows, np.ndarray) and isinstance(others, np.ndarray):
        return np.matmul(rows, others, out=place)
    if isinstance(rows, np.ndarray) or isinstance(others, np.ndarray):
        return np.ascontiguousarray(rows @ others)
    parts = others.indptr, others.indices, others.data
    return dense_products(rows.indptr, rows.indices, rows.data, *parts, others.shape[1])
