"""AnnData files (``.h5ad``): a matrix, names of cells and genes, and columns of ``obs``."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._guard import COLUMNAR_RATIO, FREE_SIZE, check_shape
from fnmf.io._isolated import decode
from fnmf.io._options import Options
from fnmf.io._table import Roles, Table, check_not_empty, compact_csr, unique_names
from fnmf.io._told import Note, TableError, listed

_RATIO = COLUMNAR_RATIO


def read_h5ad(path: Path, options: Options, problems: list[TableError]) -> Table:
    """The main matrix of an AnnData file, a layer or the raw data; sparse if it is stored so.

    The HDF5 library can hang on a damaged file, so it works in a process of its own.
    """
    if importlib.util.find_spec("h5py") is None:
        raise TableError(
            f'{path}: reading .h5ad needs h5py; install it with: pip install "fnmf[h5ad]"'
        )
    _check_signature(path)
    roles = options.roles
    request = {
        "path": str(path),
        "limit": max(FREE_SIZE, _RATIO * path.stat().st_size),
        "layer": options.layer,
        "raw": options.raw,
        "id_column": roles.id_column,
        "label_column": roles.label_column,
    }
    program = Path(__file__).with_name("_h5ad_worker.py")
    facts, arrays = decode(program, request, path, _RATIO)
    X = _matrix(path, facts, arrays)
    n_rows, n_columns = X.shape
    check_not_empty(n_rows, n_columns, path)
    names = facts["names"] or [f"column {k}" for k in range(1, n_columns + 1)]
    ids = facts.get("id_column") or facts["ids"]
    labels = facts.get("label_column")
    for what, values, count in (("var", names, n_columns), ("obs", ids, n_rows)):
        if values is not None and len(values) != count:
            text = f"{path}: the data has shape {X.shape}, and {what} names {len(values)}"
            raise TableError(text)
    if labels is not None and len(labels) != n_rows:
        raise TableError(f"{path}: {roles.label_column!r} has {len(labels)} rows, not {n_rows}")
    names, notes = unique_names(names, path, options.duplicates, problems)
    table = Table(path, X, names, ids=ids, labels=labels, notes=[*notes])
    _advise(table, facts, options)
    if roles.exclude:
        Roles(exclude=roles.exclude).check(names, path)
        table.leave_out(set(roles.exclude))
    return table


def _check_signature(path: Path) -> None:
    """The mark of an HDF5 file stands at its beginning or at a power of two from 512 on."""
    with open(path, "rb") as file:
        at, size = 0, path.stat().st_size
        while at < size:
            file.seek(at)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return
            at = max(512, 2 * at)
    raise TableError(f"{path} is not a usable .h5ad file: it is no HDF5 file")


def _matrix(path: Path, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    if facts["kind"] == "dense":
        return arrays["X"]
    rows, columns = facts["shape"]
    check_shape(path, rows, columns, len(arrays["data"]))
    build: Any = sp.csr_array if facts["kind"] == "csr" else sp.csc_array
    parts = tuple(arrays[name] for name in ("data", "indices", "indptr"))
    if any(part.ndim != 1 for part in parts) or arrays["indptr"].dtype.kind not in "iu":
        raise TableError(f"{path} holds a malformed sparse matrix")
    if len(arrays["indptr"]) != (rows if facts["kind"] == "csr" else columns) + 1:
        raise TableError(f"{path} holds a malformed sparse matrix: indptr does not fit the shape")
    matrix = build(parts, shape=(rows, columns))
    # SciPy accepts indices out of range unless asked.
    matrix.check_format(full_check=True)
    return compact_csr(matrix)


def _advise(table: Table, facts: dict[str, Any], options: Options) -> None:
    """Scaled data have negative values; the counts are often in the same file."""
    values = table.X.data if isinstance(table.X, sp.csr_array) else table.X
    if not values.size or float(values.min()) >= 0:
        return
    where = [f"layer {name!r}" for name in facts["layers"]]
    where += ["raw"] if facts["has_raw"] and not options.raw else []
    text = "the data are scaled or centred (there are negative values); counts are better"
    text += f", and the file also holds {listed(where)}" if where else ""
    table.notes.append(Note(text, "layer" if where else ""))
