"""Labels of some rows, as users have them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

UNKNOWN = -1


class Known(NamedTuple):
    """Classes in order, and the number of each row's class, -1 where it is not known."""

    classes: np.ndarray
    codes: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Rows with a label."""
        return np.flatnonzero(self.codes >= 0)


def read_labels(y: Any, n_samples: int) -> Known:
    """Labels with -1, ``None``, NaN or ``""`` where they are not known.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or None
        Numbers, texts or both; of both, all are read as texts.
    n_samples : int
        Rows of the data.
    """
    if y is None:
        return Known(np.empty(0, np.int64), np.full(n_samples, UNKNOWN))
    values = np.asarray(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_samples,):
        raise ValueError(f"y has shape {values.shape}; one label for each of {n_samples} samples.")
    numbers = np.asarray(y)
    if numbers.dtype.kind in "iuf":
        told = ((numbers == numbers) & (numbers != UNKNOWN)).reshape(n_samples)
    else:
        told = np.array([not _is_unknown(value) for value in values], bool)
    codes = np.full(n_samples, UNKNOWN)
    if not told.any():
        return Known(np.empty(0, np.int64), codes)
    given = values[told].tolist()
    named = any(isinstance(value, str) for value in given)
    texts = [str(value) for value in given]
    classes, codes[told] = np.unique(np.array(texts if named else given), return_inverse=True)
    if classes.dtype.kind == "f" and np.array_equal(classes, np.round(classes)):
        # A column with unknown cells holds whole numbers as floats.
        classes = classes.astype(np.int64)
    return Known(classes, codes)


def _is_unknown(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value.strip() == ""):
        return True
    if isinstance(value, str | bytes):
        return False
    # The missing value of pandas equals nothing, itself included, and has no truth.
    same = value == value
    return not isinstance(same, bool | np.bool_) or not same or bool(value == UNKNOWN)


def with_new(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Classes, and names for those that nobody labelled: "new 1", ..., or the next numbers."""
    more = n_classes - len(classes)
    if more <= 0:
        return classes
    if len(classes) == 0:
        return np.arange(n_classes)
    texts = [str(name) for name in classes]
    return np.array([*texts, *(f"new {i + 1}" for i in range(more))])


def unknown_mark(classes: np.ndarray) -> Any:
    """What stands for a class that is not known: -1 among numbers, "" among texts."""
    return "" if classes.dtype.kind in "US" else UNKNOWN
