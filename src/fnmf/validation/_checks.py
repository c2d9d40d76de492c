"""Checks of parameters and data, before any work is done; data in extreme units are divided.

Squares and fourth powers of 1e100 or of 1e-100 are no numbers any more. A power of two changes
no digit, so that data in any units give what the same data in ordinary units give.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from fnmf.data import Data, MappedCSR, canonical, check_structure, is_dask
from fnmf.validation._categories import with_categories_encoded

# Rows looked at together when an array larger than memory is checked.
_ROWS_AT_ONCE = 4096
# Sparse data with missing values are worked on as dense ones up to this many bytes.
_MOST_DENSE = 1 << 30
STARTS = ("random", "nndsvda", "kmeans")
# Largest values between these are left as they are: their fourth powers have room in the type.
_ORDINARY = {np.dtype(np.float32): (1e-8, 1e8), np.dtype(np.float64): (1e-40, 1e40)}
_CELLS_AT_ONCE = 1 << 22
# Mapped data up to this many bytes may be copied into memory.
_MOST_COPIED = 1 << 28


def check_choice(name: str, value: Any, options: Sequence[str]) -> str:
    """An option given by name."""
    if not isinstance(value, str) or value not in options:
        known = ", ".join(f'"{option}"' for option in options)
        raise ValueError(f"{name}={value!r} is not known; use one of {known}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Yes or no; texts, whose truth is not what they say, are neither."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_integer(name: str, value: Any, *, low: int, or_else: str = "") -> int:
    """A whole number of at least ``low``; booleans are not numbers.

    ``or_else`` is a word that the caller takes in its place, for the message.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        other = f' or "{or_else}"' if or_else else ""
        kind = type(value).__name__
        raise TypeError(f"{name} must be an integer{other}, got {value!r} of type {kind}.")
    if value < low:
        raise ValueError(f"{name}={value} is too small; use an integer of at least {low}.")
    return int(value)


def check_jobs(n_jobs: Any) -> None:
    """A number of threads as joblib counts them: positive, negative from the end, or ``None``."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, (bool, np.bool_)) or not isinstance(n_jobs, Integral):
        raise TypeError(
            f"n_jobs must be an integer or None, got {n_jobs!r} of type {type(n_jobs).__name__}."
        )
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 has no meaning; use a positive number, -1 for all cores, or None."
        )


def check_real(name: str, value: Any, *, low: float = 0.0, strict: bool = False) -> float:
    """A finite number of at least ``low`` (or above it, if ``strict``)."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}.")
    number = float(value)
    bound = f"above {low:g}" if strict else f"of at least {low:g}"
    if not math.isfinite(number) or number < low or (strict and number == low):
        raise ValueError(f"{name}={number} is out of range; use a finite number {bound}.")
    return number


def is_frame(X: Any) -> bool:
    """Whether data are a frame of pandas or Polars, whose columns may be categories."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def check_data(
    estimator: Any, X: Any, *, reset: bool, non_negative: bool = True, min_samples: int = 1
) -> Data:
    """The data matrix: float32 or float64, finite, non-negative, dense or canonical CSR.

    Arrays in memory come back with one of the two float types. Memory-mapped arrays come
    back as they are, checked block by block: converting them would read them into memory.
    Cells of dense arrays may be missing if the estimator's tag ``allow_nan`` says so. Categories of
    a frame become numbers.
    """
    if isinstance(X, MappedCSR):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        _check_samples(X.shape[0], min_samples, estimator)
        X.check()
        allowed = get_tags(estimator).input_tags.allow_nan
        gaps = _check_values(estimator, X.data[:, None], non_negative, allowed)
        parts = X.data, X.indices, X.indptr
        return _dense_with_gaps(sp.csr_array(parts, X.shape)) if gaps else X
    if is_dask(X):
        return _check_dask(estimator, X, reset, min_samples)
    if isinstance(X, np.memmap):
        return _check_mapped(estimator, X, reset, non_negative, min_samples)
    if sp.issparse(X):
        check_structure(X, "X")
    elif type(X).__module__.partition(".")[0] == "anndata":
        raise TypeError(
            f"X is an {type(X).__name__} of anndata; use fnmf.scverse.tl.fnmf(adata), which writes "
            "its results into it, or pass a matrix of cells by genes such as adata.X."
        )
    if is_frame(X):
        X = with_categories_encoded(estimator, X, reset=reset)
        for name in [name for name in X.columns if str(X[name].dtype) == "object"]:
            X = X.copy(deep=False)
            X[name] = _with_nan(X[name].to_numpy())
    elif isinstance(X, np.ndarray) and X.dtype == object:
        X = _with_nan(X)
    missing = get_tags(estimator).input_tags.allow_nan
    try:
        checked: Any = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_min_samples=1,
            ensure_all_finite="allow-nan" if missing else True,
            accept_large_sparse=True,
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            raise ValueError(
                f"X contains text ({error}); {type(estimator).__name__} needs numbers or "
                'categories: drop columns of text, or make them categories (astype("category")).'
            ) from error
        if "contains NaN" in str(error):
            raise ValueError(_no_missing(estimator)) from error
        raise
    _check_samples(checked.shape[0], min_samples, estimator)
    if isinstance(checked, np.ndarray):
        values = checked
    else:
        checked = canonical(sp.csr_array(checked))
        values = checked.data
        if missing and np.isnan(values).any():
            checked = _dense_with_gaps(checked)
    if non_negative:
        _check_non_negative(estimator, values)
    return checked


# NumPy makes no number of the NA of pandas.
_with_nan = np.frompyfunc(lambda cell: np.nan if type(cell).__name__ == "NAType" else cell, 1, 1)


def _no_missing(estimator: Any) -> str:
    """What to do with missing values where they are not taken."""
    return (
        f"Input X contains NaN, and {type(estimator).__name__} takes no missing values: fill them, "
        "for example with sklearn.impute.KNNImputer, or use fnmf.FNMF or fnmf.RelevanceClusterer, "
        "which take them as they are."
    )


def _dense_with_gaps(X: sp.csr_array) -> np.ndarray:
    """Sparse data with stored NaN as dense ones, unless these would be large."""
    if X.shape[0] * X.shape[1] * X.dtype.itemsize > _MOST_DENSE:
        raise ValueError(
            f"X is sparse with missing values, and would be {X.shape[0]} x {X.shape[1]} as a dense "
            "array; only smaller ones may have missing values. Drop them, or store them as 0."
        )
    return X.toarray()


def _check_samples(n_samples: int, minimum: int, estimator: Any) -> None:
    if n_samples < minimum:
        raise ValueError(
            f"{type(estimator).__name__} needs at least {minimum} samples, "
            f"but X has n_samples={n_samples}."
        )


def _check_mapped(
    estimator: Any, X: np.memmap, reset: bool, non_negative: bool, min_samples: int
) -> np.ndarray:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"X is memory-mapped with {X.ndim} dimensions and type {X.dtype}; "
            "a two-dimensional array of numbers is needed."
        )
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: at least one sample and one feature is needed.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_samples(X.shape[0], min_samples, estimator)
    _check_values(estimator, X, non_negative, get_tags(estimator).input_tags.allow_nan)
    return X


def _check_dask(estimator: Any, X: Any, reset: bool, min_samples: int) -> Any:
    """What can be known of a Dask array before anything is computed; its blocks come later."""
    name = type(estimator).__name__
    if X.ndim != 2:
        raise ValueError(
            f"X is a Dask array with {X.ndim} dimension(s); two are needed: samples and features."
        )
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise ValueError(
            "X is a Dask array of unknown chunk sizes; call X.compute_chunk_sizes() first, or "
            "make it with to_dask_array(lengths=True)."
        )
    if len(X.chunks[1]) > 1:
        raise ValueError(
            f"X is cut into {len(X.chunks[1])} chunks of columns; {name} needs whole rows: use "
            "X.rechunk({1: -1})."
        )
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}: at least one sample and one feature is needed.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X is a Dask array of type {X.dtype}; {name} needs numbers.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_samples(X.shape[0], min_samples, estimator)
    return X


def _check_values(
    estimator: Any, values: np.ndarray, non_negative: bool, allow_nan: bool = False
) -> bool:
    """Raise if there are values that the estimator does not take; whether any is missing."""
    missing = False
    for start in range(0, len(values), _ROWS_AT_ONCE):
        block = np.asarray(values[start : start + _ROWS_AT_ONCE])
        if block.dtype.kind == "f":
            wrong = ~np.isfinite(block)
            if allow_nan and wrong.any():
                gaps = np.isnan(block)
                missing, wrong = missing or bool(gaps.any()), wrong & ~gaps
            if wrong.any():
                row = start + int(np.flatnonzero(wrong.any(axis=1))[0])
                kind = "infinity" if allow_nan else "NaN or infinity"
                raise ValueError(
                    f"X contains {kind} (first in row {row}); fill or drop these values first."
                )
        if non_negative:
            _check_non_negative(estimator, block)
    return missing


def _check_non_negative(estimator: Any, values: np.ndarray) -> None:
    least = float(np.fmin.reduce(values, axis=None)) if values.size else 0.0
    if least < 0:
        name = type(estimator).__name__
        remedy = "shift each feature by its minimum"
        if hasattr(estimator, "negative"):
            remedy = 'pass negative="shift", which starts each feature at 0'
        raise ValueError(
            f"Negative values in data passed to {name}: the smallest value of X is "
            f"{least:g}. {name} factorises non-negative data; {remedy}, or scale it to "
            "[0, 1] with sklearn.preprocessing.MinMaxScaler(clip=True). fnmf.RelevanceClusterer "
            "finds clusters and features of any real data."
        )


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
