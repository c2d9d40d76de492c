"""Labels of some rows, as users have them."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np

from fnmf.validation import is_missing, missing_texts

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
    # NumPy reads ragged lists as nothing else, and pandas keeps its missing values.
    array = np.asarray(y, None if isinstance(getattr(y, "dtype", None), np.dtype) else object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n_samples,):
        raise ValueError(f"y has shape {array.shape}; one label for each of {n_samples} samples.")
    if array.dtype.kind == "S":
        array = array.astype(str)
    if array.dtype.kind == "M":
        # A day is written without hours, a year without days.
        whole = np.datetime_data(array.dtype)[0] in "YMWD"
        array = np.datetime_as_string(array, None if whole else "auto")
    if array.dtype.kind in "iuf":
        told = (array == array) & (array != UNKNOWN)
    else:
        # Among texts of fixed length NumPy has made a text of -1 too.
        mark = str(UNKNOWN) if array.dtype.kind == "U" else UNKNOWN
        texts = missing_texts(array)
        told = np.array([not (is_missing(one, texts) or one == mark) for one in array], bool)
    codes = np.full(n_samples, UNKNOWN)
    if not told.any():
        return Known(np.empty(0, np.int64), codes)
    given = array[told].tolist()
    if any(isinstance(value, str) for value in given):
        given = [str(value) for value in given]
    if not all(isinstance(value, Hashable) for value in given):
        raise ValueError("y must hold one class for each sample: a number or a text.")
    classes, codes[told] = np.unique(np.array(given), return_inverse=True)
    if classes.dtype.kind == "f":
        if np.isinf(classes).any():
            raise ValueError("y holds an infinite number; mark what is not known with NaN or -1.")
        if np.array_equal(classes, np.round(classes)):
            # A column with unknown cells holds whole numbers as floats.
            classes = classes.astype(np.int64)
    return Known(classes, codes)


def with_new(classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Classes, and names for those that nobody labelled: "new 1", ..., or the next numbers."""
    more = n_classes - len(classes)
    if more <= 0:
        return classes
    if len(classes) == 0:
        return np.arange(n_classes)
    texts = [str(name) for name in classes]
    free = (name for i in count(1) if (name := f"new {i}") not in texts)
    return np.array([*texts, *islice(free, more)])


def unknown_mark(classes: np.ndarray) -> Any:
    """What stands for a class that is not known: -1 among numbers, "" among texts."""
    return "" if classes.dtype.kind in "US" else UNKNOWN
