"""Arrays for the script of the page: packed, compressed, and cut to a budget of bytes."""

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import fnmf
from fnmf.reporting._samples import Drawn, chosen_samples
from fnmf.statistics import Statistics, rows_between

# Compressed bytes; a third more once they are text.
_VALUES_ROOM, _SPREAD_ROOM, _NAMES_ROOM = 1_100_000, 1_100_000, 800_000
_MOST_CELLS = 4_000_000
_SORTED_CELLS = 40_000_000
_COLUMNS_AT_ONCE = 2000
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_FEWEST_DIGITS = np.uint32(0x3FF)


def pack(arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays one after the other, compressed; text is packed as JSON."""
    entries, parts, offset = [], [], 0
    for name, array in arrays.items():
        if isinstance(array, list):
            raw, kind, shape = json.dumps(array).encode(), "json", [len(array)]
        else:
            kind, shape = array.dtype.name, list(array.shape)
            raw = _planes(array) if kind == "float32" else np.ascontiguousarray(array).tobytes()
        entries.append({"name": name, "type": kind, "shape": shape, "at": offset, "size": len(raw)})
        parts.append(raw)
        offset += len(raw)
    return {"arrays": entries, "bytes": zlib.compress(b"".join(parts), 6)}


def as_text(packed: dict[str, Any]) -> dict[str, Any]:
    """The packed arrays as they stand in the page."""
    return {"arrays": packed["arrays"], "data": base64.b64encode(packed["bytes"]).decode()}


class Ranked(NamedTuple):
    """Features by relevance, the names of all, and what is known of each."""

    order: np.ndarray
    names: list[str]
    known: dict[str, np.ndarray]
    levels: list[list[str] | None]


def payload(
    X: Any,
    stats: Statistics,
    drawn: Drawn,
    ranked: Ranked,
    samples: dict[str, Any],
    embedding: Any,
) -> dict[str, Any]:
    """Everything the script needs, features in the order of their relevance."""
    order, names, features, levels = ranked
    rows = drawn.rows
    sample_arrays: dict[str, Any] = {"code": stats.codes[rows].astype(np.uint16)}
    for layout in drawn.layouts:
        sample_arrays[layout.key] = np.round(layout.xy * 20).astype(np.uint16)
    sample_arrays |= {"near": drawn.neighbours, "row": rows.astype(np.int32), **samples}
    if embedding is not None:
        sample_arrays["embedding"] = _bytes(np.asarray(embedding, dtype=float)[rows])
    matrix = _only_rows(X, rows)

    def values(count: int) -> dict[str, Any]:
        return {"values": _columns(matrix, order[:count]).astype(np.float32).T}

    def known(count: int) -> dict[str, Any]:
        chosen = order[:count]
        arrays = {key: array[chosen].astype(np.float32) for key, array in features.items()}
        return {
            "names": [names[k] for k in chosen],
            "levels": [levels[k] for k in chosen],
            "index": chosen.astype(np.int32),
            **arrays,
        }

    n_features = len(order)
    value_count = max(1, min(n_features, _MOST_CELLS // max(1, len(rows))))
    spread_count = max(1, min(n_features, _MOST_CELLS // len(stats.sizes)))
    distributions = _Distributions(matrix, stats, rows)
    return {
        "samples": as_text(pack(sample_arrays)),
        "values": as_text(_fitting(values, value_count, _VALUES_ROOM)),
        "spread": as_text(
            _fitting(lambda count: distributions(order[:count]), spread_count, _SPREAD_ROOM)
        ),
        "features": as_text(_fitting(known, n_features, _NAMES_ROOM)),
    }


class _Distributions:
    """Quantiles of features in each cluster, from at most a few thousand samples."""

    def __init__(self, matrix: Any, stats: Statistics, rows: np.ndarray) -> None:
        most = max(20 * len(stats.sizes), _SORTED_CELLS // max(1, matrix.shape[1]))
        codes = stats.codes[rows]
        self._part = chosen_samples(codes, most)
        self._matrix, self._stats, self._codes = matrix[self._part], stats, codes[self._part]
        self._known: dict[str, np.ndarray] = {}

    def __call__(self, features: np.ndarray) -> dict[str, Any]:
        if not self._known:
            self._known = self._compute(features)
        # A smaller choice is the beginning of a larger one.
        return {key: array[: len(features)] for key, array in self._known.items()}

    def _compute(self, features: np.ndarray) -> dict[str, np.ndarray]:
        k, q = len(self._stats.sizes), len(_QUANTILES)
        found = np.zeros((len(features), k, q))
        filled = np.zeros((len(features), k))
        for start in range(0, len(features), _COLUMNS_AT_ONCE):
            stop = start + _COLUMNS_AT_ONCE
            block = _columns(self._matrix, features[start:stop])
            for c in range(k):
                own = block[self._codes == c]
                if len(own):
                    found[start:stop, c] = _quantiles(own)
                    filled[start:stop, c] = (np.nan_to_num(own) != 0).mean(axis=0)
        low, high = found.min(axis=(1, 2)), found.max(axis=(1, 2))
        span = np.where(high > low, high - low, 1.0)[:, None, None]
        return {
            "low": low.astype(np.float32),
            "high": high.astype(np.float32),
            "quantiles": np.round((found - low[:, None, None]) / span * 255).astype(np.uint8),
            "filled": np.round(filled * 255).astype(np.uint8),
            "means": self._stats.means[:, features].T.astype(np.float32),
        }


def _quantiles(rows: np.ndarray) -> np.ndarray:
    """Quantiles of each column, 0 where all of it is missing."""
    missing = np.isnan(rows)
    if not missing.any():
        return np.quantile(rows, _QUANTILES, axis=0).T
    rows = np.where(missing.all(axis=0), 0, rows)
    return np.nanquantile(rows, _QUANTILES, axis=0).T


def _fitting(make: Callable[[int], dict[str, Any]], count: int, room: int) -> dict[str, Any]:
    """As many features as the room allows."""
    while True:
        packed = pack(make(count))
        size = len(packed["bytes"])
        if size <= room or count == 1:
            return packed
        count = max(1, min(count - 1, int(0.95 * count * room / size)))


def _planes(array: np.ndarray) -> bytes:
    """Four digits of every number, bytes of equal rank together: that compresses well."""
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4")
    rounded = np.where(np.isfinite(array), (bits + np.uint32(0x200)) & ~_FEWEST_DIGITS, bits)
    return rounded.astype("<u4").view(np.uint8).reshape(-1, 4).T.tobytes()


def _bytes(columns: np.ndarray) -> np.ndarray:
    """Each column on its own scale from 0 to 255: columns of V have no common unit."""
    top = columns.max(axis=0)
    scaled = np.divide(columns, top, out=np.zeros_like(columns), where=top > 0)
    return np.round(255 * np.clip(scaled, 0, 1)).astype(np.uint8)


def _only_rows(X: Any, rows: np.ndarray) -> Any:
    if sp.issparse(X):
        matrix: Any = X
        return sp.csc_array(sp.csr_array(matrix)[rows])
    if isinstance(X, fnmf.MappedCSR):
        parts = [rows_between(X, int(i), int(i) + 1) for i in rows]
        return sp.csc_array(sp.vstack(parts))
    return X if len(rows) == X.shape[0] else np.asarray(X[rows])


def _columns(matrix: Any, columns: np.ndarray) -> np.ndarray:
    part: Any = matrix[:, columns]
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=float)
