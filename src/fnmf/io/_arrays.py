"""NumPy files and Matrix Market: sizes are checked against the file before memory is taken."""

import tokenize
import zipfile
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from fnmf.io._open import UNPACK_ERRORS
from fnmf.io._table import Roles, Table, TableError, check_names, check_not_empty, compact_csr

_FREE_SIZE = 1 << 30
_MOST_RATIO = 400
_DATA_NAMES = ("X", "data", "x", "features", "arr_0")
_NAME_NAMES = ("feature_names", "names", "columns")
# Parsing a file somebody made up can fail in any of these ways.
_BAD_FILE = (
    ValueError,
    TypeError,
    KeyError,
    OverflowError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
)


def read_npy(path: Path, roles: Roles) -> Table:
    """An array that stays on disk."""
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except (*_BAD_FILE, OSError, EOFError) as error:
        raise TableError(f"{path} is not a usable NumPy file: {_one_line(error)}.") from error
    return _table(path, X, None, roles)


def read_npz(path: Path, roles: Roles) -> Table:
    """A dense array or a SciPy sparse matrix from a NumPy archive."""
    arrays = _members(path)
    wanted = [name for name in (roles.id_column, roles.label_column) if name]
    for name in wanted:
        if name not in arrays:
            known = ", ".join(repr(key) for key in arrays)
            raise TableError(f"{path} has no array {name!r}; it holds {known}.")
    if {"indices", "indptr", "shape", "data", "format"} <= arrays.keys():
        X: Any = _sparse(path, arrays)
    else:
        X = _main_array(path, arrays, wanted)
    names = next((arrays[key] for key in _NAME_NAMES if key in arrays), None)
    n_columns = X.shape[1] if X.ndim == 2 else 0
    named = None
    if names is not None and names.dtype.kind in "US" and names.shape == (n_columns,):
        named = [_text(name) for name in names]
    table = _table(path, X, named, Roles(exclude=roles.exclude))
    for attribute, key in (("ids", roles.id_column), ("labels", roles.label_column)):
        if key:
            if arrays[key].shape != (table.X.shape[0],):
                raise TableError(
                    f"{path}: array {key!r} has shape {arrays[key].shape}, "
                    f"and the data has {table.X.shape[0]} rows."
                )
            setattr(table, attribute, [_text(value) for value in arrays[key]])
    return table


def read_matrix_market(path: Path, roles: Roles) -> Table:
    """A matrix in Matrix Market format, compressed or not; rows are samples."""
    from fnmf.io._matrix_market import read_matrix

    return _table(path, read_matrix(path), None, roles)


def _members(path: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            declared = sum(info.file_size for info in infos)
            if declared > max(_FREE_SIZE, _MOST_RATIO * path.stat().st_size):
                raise TableError(
                    f"{path} unpacks to {declared} bytes, more than {_MOST_RATIO} times its size, "
                    "which no honest data does."
                )
            if len({info.filename for info in infos}) < len(infos):
                raise TableError(f"{path} holds two arrays of the same name.")
            arrays = {}
            for info in infos:
                if info.filename.endswith(".npy"):
                    with archive.open(info) as member:
                        array = _read_member(member, info.file_size)  # type: ignore[arg-type]
                    if array is not None:
                        arrays[info.filename[:-4]] = array
            return arrays
    except TableError:
        raise
    except (*_BAD_FILE, *UNPACK_ERRORS, NotImplementedError, RuntimeError) as error:
        raise TableError(f"{path} is not a usable .npz file: {_one_line(error)}.") from error


def _read_member(member: BinaryIO, size: int) -> np.ndarray | None:
    """One array; None for Python objects, which are never unpacked."""
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
    else:
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(member)
    if dtype.hasobject:
        return None
    n_bytes = prod(shape) * dtype.itemsize
    if n_bytes > size:
        raise ValueError("an array is longer than its file")
    content = member.read(n_bytes)
    if len(content) < n_bytes:
        raise ValueError("an array ends early")
    return np.frombuffer(bytearray(content), dtype=dtype).reshape(
        shape, order="F" if fortran else "C"
    )


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    try:
        kind = _text(arrays["format"].item())
        if kind not in ("csr", "csc"):
            raise ValueError(f"sparse format {kind!r}; store it as CSR or CSC")
        build: Any = sp.csr_array if kind == "csr" else sp.csc_array
        rows, columns = (int(size) for size in arrays["shape"])
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        if len(arrays["indptr"]) != (rows if kind == "csr" else columns) + 1:
            raise ValueError("indptr does not fit the shape")
        matrix = build(parts, shape=(rows, columns))
        # SciPy accepts indices out of range unless asked.
        matrix.check_format(full_check=True)
        if kind == "csc" and rows > max(10_000_000, 100 * len(arrays["data"])):
            raise ValueError("nearly all rows are empty")
        return compact_csr(matrix)
    except _BAD_FILE as error:
        raise TableError(f"{path} holds a malformed sparse matrix: {_one_line(error)}.") from error


def _main_array(path: Path, arrays: dict[str, np.ndarray], apart: list[str]) -> np.ndarray:
    matrices = {
        name: array
        for name, array in arrays.items()
        if array.ndim == 2 and array.dtype.kind in "fiub" and name not in apart
    }
    for name in _DATA_NAMES:
        if name in matrices:
            return matrices[name]
    if len(matrices) == 1:
        return next(iter(matrices.values()))
    shown = ", ".join(f"{name!r} {array.shape}" for name, array in list(arrays.items())[:12])
    raise TableError(
        f"{path} holds {shown or 'no array'}; the data must be the only two-dimensional array of "
        "numbers, or be called 'X' or 'data'."
    )


def _table(path: Path, X: Any, names: list[str] | None, roles: Roles) -> Table:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise TableError(
            f"{path} holds an array of shape {X.shape} and type {X.dtype}; "
            "two dimensions of numbers are needed: samples and features."
        )
    n_rows, n_columns = X.shape
    check_not_empty(n_rows, n_columns, path)
    names = names or [f"column {position}" for position in range(1, n_columns + 1)]
    check_names(names, path)
    roles.check(names, path)
    table = Table(path, X, list(names))
    if not roles.named():
        return table
    for attribute, name in (("ids", roles.id_column), ("labels", roles.label_column)):
        if name:
            column = X[:, [names.index(name)]]
            column = column.toarray() if isinstance(column, sp.csr_array) else np.asarray(column)
            setattr(table, attribute, [f"{value:g}" for value in column.ravel()])
    kept = [k for k, name in enumerate(names) if name not in roles.named()]
    check_not_empty(n_rows, len(kept), path)
    table.X, table.names = X[:, kept], [names[k] for k in kept]
    return table


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text.rstrip(".")[:200]
