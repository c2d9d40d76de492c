"""Matrix Market files, read with every index and size checked.

SciPy's reader is compiled code that ends the interpreter on some damaged files, so the format is
read here: a banner, comments, a line of sizes, then one entry a line.
"""

import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._guard import check_shape
from fnmf.io._open import Lines, open_bytes
from fnmf.io._table import compact_csr
from fnmf.io._told import TableError

_ENTRIES_AT_ONCE = 100_000
_MOST = 1 << 31
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")


def read_matrix(path: Path) -> Any:
    """The matrix as a CSR array, or as a dense array if it is stored so."""
    file = io.TextIOWrapper(open_bytes(path), encoding="latin-1", newline=None)
    with file:
        lines = enumerate(Lines(file, path), start=1)
        layout, field, symmetric = _banner(path, lines)
        sizes = _sizes(path, lines, layout)
        if layout == "array":
            return _dense(path, lines, sizes, symmetric)
        return _sparse(path, lines, sizes, field == "pattern", symmetric)


def _banner(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[str, str, bool]:
    words = next(lines, (1, ""))[1].lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise TableError(f"{path} does not start with '%%MatrixMarket matrix ...'")
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array"):
        raise TableError(f"{path}, line 1: the layout {layout!r} is not known")
    if field not in _FIELDS or (layout == "array" and field == "pattern"):
        raise TableError(f"{path} holds {field} entries; real numbers are needed")
    if symmetry not in ("general", "symmetric"):
        raise TableError(f"{path} is stored as {symmetry}; store it as general")
    return layout, field, symmetry == "symmetric"


def _sizes(path: Path, lines: Iterator[tuple[int, str]], layout: str) -> list[int]:
    for number, line in lines:
        if line.startswith("%") or line.isspace():
            continue
        words = line.split()
        whole = all(word.isascii() and word.isdigit() for word in words)
        if not whole or len(words) != (3 if layout == "coordinate" else 2):
            raise TableError(f"{path}, line {number} should hold the sizes of the matrix")
        sizes = [int(word[:20]) for word in words]
        if max(sizes) >= _MOST:
            text = f"{path}, line {number} declares a size of {max(sizes):.3g}"
            raise TableError(f"{text}; below {_MOST:,} can be read")
        return sizes
    raise TableError(f"{path} has no line with its size")


def _blocks(
    path: Path, lines: Iterator[tuple[int, str]], width: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Entries as rows of numbers, with the line on which each block starts."""
    while taken := list(islice(lines, _ENTRIES_AT_ONCE)):
        kept = [(n, line) for n, line in taken if not line.isspace() and line[0] != "%"]
        if not kept:
            continue
        try:
            block = np.loadtxt([line for _, line in kept], comments=None, ndmin=2)
        except ValueError:
            block = np.empty((0, 0))
        if block.shape != (len(kept), width):
            number = next((n for n, line in kept if not _is_entry(line, width)), kept[0][0])
            raise TableError(f"{path}, line {number} should hold {width} numbers")
        yield kept[0][0], block


def _is_entry(line: str, width: int) -> bool:
    words = line.split()
    try:
        return len(words) == width and bool([float(word) for word in words])
    except ValueError:
        return False


def _sparse(
    path: Path, lines: Iterator[tuple[int, str]], sizes: list[int], pattern: bool, symmetric: bool
) -> sp.csr_array:
    n_rows, n_columns, declared = sizes
    check_shape(path, n_rows, n_columns, declared)
    parts: list[np.ndarray] = []
    count = 0
    for number, block in _blocks(path, lines, 2 if pattern else 3):
        at = block[:, :2]
        inside = (at >= 1) & (at <= [n_rows, n_columns]) & (at == np.floor(at))
        if not inside.all():
            raise TableError(
                f"{path}, near line {number}: an entry is outside {n_rows} x {n_columns}"
            )
        count += len(block)
        parts.append(block)
    if count != declared:
        raise TableError(f"{path} declares {declared} entries and holds {count}")
    entries = np.concatenate(parts) if parts else np.empty((0, 3))
    rows, columns = (entries[:, k].astype(np.int64) - 1 for k in (0, 1))
    values = np.ones(count) if pattern else entries[:, 2]
    if symmetric:
        if n_rows != n_columns:
            raise TableError(f"{path} is called symmetric and is not square")
        off = rows != columns
        rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
        values = np.concatenate([values, values[off]])
    return compact_csr(sp.coo_array((values, (rows, columns)), shape=(n_rows, n_columns)))


def _dense(
    path: Path, lines: Iterator[tuple[int, str]], sizes: list[int], symmetric: bool
) -> np.ndarray:
    n_rows, n_columns = sizes
    if symmetric and n_rows != n_columns:
        raise TableError(f"{path} is called symmetric and is not square")
    values = [block.ravel() for _, block in _blocks(path, lines, 1)]
    flat = np.concatenate(values) if values else np.empty(0)
    expected = n_rows * (n_rows + 1) // 2 if symmetric else n_rows * n_columns
    if len(flat) != expected:
        raise TableError(f"{path} declares {expected} entries and holds {len(flat)}")
    if not symmetric:
        return np.ascontiguousarray(flat.reshape(n_rows, n_columns, order="F"))
    # Stored column by column from the diagonal down.
    columns, rows = np.triu_indices(n_rows)
    full = np.empty((n_rows, n_rows))
    full[rows, columns] = full[columns, rows] = flat
    return full
