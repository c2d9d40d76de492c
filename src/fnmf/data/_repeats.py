"""Whether rows repeat each other, by a hash of their values."""

from __future__ import annotations

import numpy as np

from fnmf.data._views import View, drawn

# Rows and columns that tell whether a full look for equal rows is worth it.
_SCREENED, _COLUMNS, _PROBES = 100_000, 32, 64


def row_keys(
    view: View, rows: np.ndarray | None = None, columns: np.ndarray | None = None
) -> np.ndarray:
    """A number for each row that depends on its values alone, dense or CSR; mostly another one."""
    if rows is not None:
        view = view.subset(rows)
    keys = np.zeros(view.shape[0], np.uint64)
    for start, stop in view.few():
        values, *pattern = view.stored(start, stop)
        if pattern:
            indices, pointers = pattern
            sums = np.zeros(len(values) + 1, np.uint64)
            np.cumsum(_mixed(_bits(values), indices), out=sums[1:])
            keys[start:stop] = np.diff(sums[pointers - pointers[0]])
        else:
            own = np.arange(values.shape[1]) if columns is None else columns
            mixed = _mixed(_bits(values if columns is None else values[:, own]), own)
            keys[start:stop] = mixed.sum(axis=1, dtype=np.uint64)
    return keys


def repeats(view: View) -> bool:
    """Whether some rows are equal; of very many a sample is looked at."""
    n, d = view.shape
    if n > _SCREENED:
        view = view.subset(drawn(n, _SCREENED // 5, np.random.RandomState(0)))
        n = view.shape[0]
    if view.sparse or d <= _COLUMNS:
        return len(np.unique(row_keys(view))) < n
    probes = view.take(np.linspace(0, n - 1, min(n, _PROBES), dtype=np.int64))
    telling = np.argsort(-np.count_nonzero(probes != probes[0], axis=0), kind="stable")[:_COLUMNS]
    _, groups, counts = np.unique(
        row_keys(view, columns=np.sort(telling)), return_inverse=True, return_counts=True
    )
    # Only rows that agree in the columns that tell most can be equal.
    candidates = np.flatnonzero(counts[groups.ravel()] > 1)
    return len(np.unique(row_keys(view, candidates))) < len(candidates)


def _bits(values: np.ndarray) -> np.ndarray:
    """Double precision as integers; there is one zero and one number that is none."""
    values = np.add(values, 0.0, dtype=np.float64)
    values[np.isnan(values)] = np.nan
    return np.ascontiguousarray(values).view(np.uint64)


def _mixed(bits: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Steele, Lea and Flood's mix of 64 bits, other for every column."""
    z = bits + (columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # Zeros have no part, so that CSR gives the same as dense rows.
    return np.where(bits == 0, np.uint64(0), z ^ (z >> np.uint64(31)))
