"""NumPy files: sizes are checked against the file before memory is taken."""

import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._guard import PACKED_RATIO, check_bytes, check_shape
from fnmf.io._messages import Problems, TableError, refusing
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table, check_not_empty, checked_csr, text, unique_names

_DATA_NAMES = ("X", "data", "x", "features", "arr_0")
_NAME_NAMES = ("feature_names", "names", "columns")


def read_npy(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """An array that stays on disk."""
    with refusing(f"{path} is not a usable NumPy file"):
        X = np.lib.format.open_memmap(path, mode="r")
    return array_table(path, X, None, options, problems)


def read_npz(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """A dense array or a SciPy sparse matrix from a NumPy archive."""
    arrays = _members(path)
    wanted = [name for name in (options.id_column, options.label_column) if name]
    for name in wanted:
        if name not in arrays:
            known = ", ".join(repr(key) for key in arrays)
            raise TableError(f"{path} has no array {name!r}; it holds {known}")
    if {"indices", "indptr", "shape", "data", "format"} <= arrays.keys():
        X: Any = _sparse(path, arrays)
    else:
        X = _main_array(path, arrays, wanted)
    names = next((arrays[key] for key in _NAME_NAMES if key in arrays), None)
    n_columns = X.shape[1] if X.ndim == 2 else 0
    named = None
    if names is not None and names.dtype.kind in "US" and names.shape == (n_columns,):
        named = [text(name) for name in names]
    table = array_table(path, X, named, options.features_only(), problems)
    for attribute, key in (("ids", options.id_column), ("labels", options.label_column)):
        if key:
            if arrays[key].shape != (table.X.shape[0],):
                raise TableError(
                    f"{path}: array {key!r} has shape {arrays[key].shape}, "
                    f"and the data has {table.X.shape[0]} rows"
                )
            setattr(table, attribute, [text(value) for value in arrays[key]])
    return table


def _members(path: Path) -> dict[str, np.ndarray]:
    """All arrays but those of Python objects, which are never unpacked."""
    arrays = {}
    with refusing(f"{path} is not a usable .npz file"), zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        check_bytes(path, sum(info.file_size for info in infos), PACKED_RATIO)
        if len({info.filename for info in infos}) < len(infos):
            raise TableError(f"{path} holds two arrays of the same name")
        for info in infos:
            if not info.filename.endswith(".npy"):
                continue
            with archive.open(info) as member:
                major, _ = np.lib.format.read_magic(member)
                read = np.lib.format.read_array_header_1_0
                shape, _, dtype = (np.lib.format.read_array_header_2_0 if major > 1 else read)(
                    member
                )
            # NumPy takes memory for what the head says before it reads.
            if not 0 <= prod(shape) * dtype.itemsize <= info.file_size:
                raise ValueError("an array is longer than its file")
            if not dtype.hasobject:
                with archive.open(info) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                arrays[info.filename[:-4]] = array
    return arrays


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    kind = text(arrays["format"].item()) if arrays["format"].size == 1 else ""
    if kind not in ("csr", "csc"):
        raise TableError(f"{path} holds a sparse matrix as {kind!r}; store it as CSR or CSC")
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise TableError(f"{path} holds a malformed sparse matrix: its shape is {shape}")
    parts = [arrays["data"], arrays["indices"], arrays["indptr"]]
    return checked_csr(path, kind, parts, shape.tolist())


def _main_array(path: Path, arrays: dict[str, np.ndarray], apart: list[str]) -> np.ndarray:
    matrices = {
        name: array
        for name, array in arrays.items()
        if array.ndim in (2, 3) and array.dtype.kind in "fiub" and name not in apart
    }
    for name in _DATA_NAMES:
        if name in matrices:
            return matrices[name]
    if len(matrices) == 1:
        return next(iter(matrices.values()))
    shown = ", ".join(f"{name!r} {array.shape}" for name, array in list(arrays.items())[:12])
    raise TableError(
        f"{path} holds {shown or 'no array'}; the data must be the only array of numbers with two "
        "dimensions, or three for images, or be called 'X' or 'data'"
    )


def array_table(
    path: Path, X: Any, names: list[str] | None, options: ReadOptions, problems: Problems
) -> Table:
    """The table around an array; three dimensions are images."""
    image_shape = None
    if X.ndim == 3 and X.dtype.kind in "fiub" and X.size:
        image_shape = (int(X.shape[1]), int(X.shape[2]))
        X = X.reshape(len(X), -1)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise TableError(
            f"{path} holds an array of shape {X.shape} and type {X.dtype}; two dimensions of "
            "numbers are needed, samples and features, or three for images"
        )
    n_rows, n_columns = X.shape
    check_not_empty(n_rows, n_columns, path)
    # What a sparse file on disk declares costs nothing until names are made for its columns.
    check_shape(path, n_rows, n_columns, X.nnz if isinstance(X, sp.csr_array) else n_rows)
    names = names or [f"column {position}" for position in range(1, n_columns + 1)]
    names, notes = unique_names(names, path, options.duplicates, problems)
    options.check_columns(names, path)
    table = Table(path, X, names, notes=[*notes], image_shape=image_shape)
    if not options.named():
        return table
    for attribute, name in (("ids", options.id_column), ("labels", options.label_column)):
        if name:
            column = X[:, [names.index(name)]]
            column = column.toarray() if isinstance(column, sp.csr_array) else np.asarray(column)
            setattr(table, attribute, [f"{value:g}" for value in column.ravel()])
    table.leave_out(options.named())
    check_not_empty(n_rows, len(table.names), path)
    table.image_shape = None
    return table
