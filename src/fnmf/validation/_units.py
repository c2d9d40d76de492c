"""Data in extreme units are divided by a power of two before a fit.

Squares and fourth powers of 1e100 or of 1e-100 are no numbers any more. A power of two changes
no digit, so that data in any units give what the same data in ordinary units give.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import Data, MappedCSR, is_dask

# Largest values between these are left as they are: their fourth powers have room in the type.
_ORDINARY = {np.dtype(np.float32): (1e-8, 1e8), np.dtype(np.float64): (1e-40, 1e40)}
_CELLS_AT_ONCE = 1 << 22
# Mapped data up to this many bytes may be copied into memory.
_MOST_COPIED = 1 << 28


def in_ordinary_units(estimator: Any, data: Data, *, reset: bool) -> Data:
    """The data divided by ``estimator.unit_``, which is found and kept if ``reset``.

    The unit is 1 for all but extreme data, and these are then not copied.
    """
    # For Dask arrays nothing is computed during validation; they can be divided lazily.
    lazy = is_dask(data)
    if reset:
        estimator.unit_ = 1.0 if lazy else unit_of(data)
    unit = getattr(estimator, "unit_", 1.0)
    if unit == 1.0 or lazy:
        return data
    values = data if isinstance(data, np.ndarray) else data.data
    if isinstance(data, np.memmap | MappedCSR) and values.nbytes > _MOST_COPIED:
        raise ValueError(
            f"X is mapped from disk and its largest value is near {unit:g}; in such units squares "
            f"are no numbers any more. Store X divided by {unit:g}."
        )
    return divided(data, unit)


def divided(data: Any, unit: float) -> Any:
    """Dense or CSR data divided by a power of two; 1 leaves them as they are."""
    if unit == 1.0:
        return data
    # 1 / unit may be too large for a number.
    exponent = -math.frexp(unit)[1] + 1
    if isinstance(data, np.ndarray):
        return np.ldexp(np.asarray(data), exponent)
    parts = (np.ldexp(np.asarray(data.data), exponent), data.indices, data.indptr)
    return sp.csr_array(parts, shape=data.shape)


def _size(value: Any) -> float:
    """How large a value is; a missing one has no size."""
    return 0.0 if np.isnan(value) else abs(float(value))


def unit_of(data: Data) -> float:
    """The power of two next below the largest value, or 1 if that is ordinary."""
    values = data if isinstance(data, np.ndarray) else data.data
    low, high = _ORDINARY.get(values.dtype, (0.0, math.inf))
    largest = 0.0
    # Block by block: a mapped array must not be read into memory.
    step = max(1, _CELLS_AT_ONCE // max(1, math.prod(values.shape[1:])))
    for start in range(0, len(values), step):
        block = values[start : start + step]
        largest = max(largest, *(_size(end.reduce(block, axis=None)) for end in (np.fmax, np.fmin)))
    if largest == 0 or low <= largest <= high:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)
