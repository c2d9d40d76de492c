"""What may be behind the door, and the one rule for number types."""

import numpy as np
import scipy.sparse as sp

from fnmf.data._mapped import MappedCSR

Data = np.ndarray | sp.csr_array | MappedCSR


def working_dtype(dtype: np.dtype) -> np.dtype:
    """Type of all arrays inside: float32 stays, small integers fit into it, the rest is float64."""
    small = dtype == np.float32 or (dtype.kind in "iubf" and dtype.itemsize <= 2)
    return np.dtype(np.float32 if small else np.float64)
