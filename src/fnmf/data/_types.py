"""Types of validated data, and the one rule for number types."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data._mapped import MappedCSR

Data = np.ndarray | sp.csr_array | MappedCSR


def working_dtype(dtype: np.dtype) -> np.dtype:
    """Type of all arrays inside: float32 stays, small integers fit into it, the rest is float64."""
    small = dtype == np.float32 or (dtype.kind in "iubf" and dtype.itemsize <= 2)
    return np.dtype(np.float32 if small else np.float64)


def is_dask(X: Any) -> bool:
    """Whether something is a Dask array; Dask need not be there to know that it is not."""
    return type(X).__module__.startswith("dask.array") and hasattr(X, "to_delayed")
