"""Features with negative values that a factorisation shall take: shifted to start at 0."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import Data, MappedCSR, is_dask

# Rows looked at together, and how large a mapped array may be that is copied.
_ROWS_AT_ONCE = 4096
_MOST_COPIED = 1 << 28


def shifted(estimator: Any, data: Data, *, reset: bool) -> Data:
    """The data plus ``estimator.shift_``, which is found and kept if ``reset``.

    Features without negative values stay as they are, and data without any are not copied. New rows
    may lie below those of the fit: what is still negative then is 0, and is counted.
    """
    if reset:
        estimator.shift_ = _shift(data)
        estimator.n_clipped_ = 0
    shift = estimator.shift_
    below = _shift(data) > shift
    if not shift.any() and not below.any():
        return data
    rows = np.asarray(_dense(data) + shift.astype(data.dtype))
    if below.any():
        count = int(np.count_nonzero(rows < 0))
        estimator.n_clipped_ += count
        np.maximum(rows, 0, out=rows)
        names = ", ".join(map(str, np.flatnonzero(below)[:5]))
        warnings.warn(
            f"{count} values lie below the smallest of the fit (first in features {names}) and "
            "were raised to it; n_clipped_ counts them.",
            stacklevel=4,
        )
    return rows


def _shift(data: Any) -> np.ndarray:
    """What brings the smallest value of each feature to 0; 0 for those without negative values."""
    if is_dask(data):
        raise ValueError(
            'negative="shift" takes data in memory; shift a Dask array by X - X.min(axis=0).'
        )
    if isinstance(data, np.ndarray):
        starts = range(0, len(data), _ROWS_AT_ONCE)
        lowest = [np.fmin.reduce(data[at : at + _ROWS_AT_ONCE], axis=0) for at in starts]
        return np.maximum(-np.fmin.reduce(lowest, axis=0).astype(np.float64), 0)
    low = np.zeros(data.shape[1])
    np.fmin.at(low, np.asarray(data.indices), np.asarray(data.data, np.float64))
    return -low


def _dense(data: Any) -> np.ndarray:
    """Data that may be shifted: what fills no zeros, and reads no more into memory than fits."""
    if isinstance(data, sp.sparray | MappedCSR):
        raise ValueError(
            'negative="shift" would fill the zeros of sparse data with negative values; pass a '
            "dense array, or use fnmf.RelevanceClusterer, which takes sparse data as they are."
        )
    if isinstance(data, np.memmap) and data.nbytes > _MOST_COPIED:
        raise ValueError(
            'negative="shift" would copy X from disk into memory; store X shifted, or use '
            "fnmf.RelevanceClusterer, which takes it as it is."
        )
    return data
