"""AnnData files (``.h5ad``): the matrix X, names of cells and genes, and one column of ``obs``."""

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._table import Roles, Table, TableError, check_names, check_not_empty, compact_csr

_FREE_SIZE = 1 << 30
_MOST_RATIO = 1100


def read_h5ad(path: Path, roles: Roles) -> Table:
    """The main matrix of an AnnData file, sparse if it is stored so."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise TableError(
            f'{path}: reading .h5ad needs h5py; install it with: pip install "fnmf[h5ad]"'
        ) from None
    try:
        with h5py.File(path, "r") as file:
            return _Reader(h5py, file, path).table(roles)
    except TableError:
        raise
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise TableError(f"{path} is not a usable .h5ad file: {reason}.") from error


class _Reader:
    def __init__(self, h5py: Any, file: Any, path: Path) -> None:
        self.h5py, self.file, self.path = h5py, file, path
        self.limit = max(_FREE_SIZE, _MOST_RATIO * path.stat().st_size)

    def table(self, roles: Roles) -> Table:
        X = self._matrix()
        check_not_empty(X.shape[0], X.shape[1], self.path)
        names = self._index("var") or [f"column {k}" for k in range(1, X.shape[1] + 1)]
        ids = self._index("obs")
        if len(names) != X.shape[1] or (ids is not None and len(ids) != X.shape[0]):
            raise TableError(f"{self.path}: X has shape {X.shape}, which does not fit obs and var.")
        check_names(names, self.path)
        table = Table(self.path, X, names, ids=ids)
        if roles.id_column:
            table.ids = self._column(roles.id_column, X.shape[0])
        if roles.label_column:
            table.labels = self._column(roles.label_column, X.shape[0])
        if roles.exclude:
            Roles(exclude=roles.exclude).check(names, self.path)
            kept = [k for k, name in enumerate(names) if name not in roles.exclude]
            check_not_empty(X.shape[0], len(kept), self.path)
            table.X, table.names = X[:, kept], [names[k] for k in kept]
        return table

    def _get(self, group: Any, name: str) -> Any:
        # Links may point into other files of this machine; only what is in this file is read.
        if not isinstance(group.get(name, getlink=True), self.h5py.HardLink):
            raise TableError(f"{self.path}: {name!r} is missing or lies in another file.")
        return group[name]

    def _read(self, dataset: Any) -> np.ndarray:
        if not isinstance(dataset, self.h5py.Dataset) or dataset.external:
            raise TableError(f"{self.path}: {dataset.name!r} is not stored in this file.")
        if prod(dataset.shape) * dataset.dtype.itemsize > self.limit:
            raise TableError(f"{self.path}: {dataset.name!r} is far larger than its file.")
        return dataset[()]

    def _matrix(self) -> Any:
        X = self._get(self.file, "X")
        if isinstance(X, self.h5py.Dataset):
            values = self._read(X)
            if values.ndim != 2 or values.dtype.kind not in "fiub":
                raise TableError(
                    f"{self.path}: X has shape {values.shape} and type {values.dtype}."
                )
            return values
        kind = _text(X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", "")))
        build = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
        build |= {"csr": sp.csr_array, "csc": sp.csc_array}
        if kind not in build:
            raise TableError(f"{self.path}: X is stored as {kind!r}; dense, CSR or CSC is needed.")
        shape = X.attrs["shape"] if "shape" in X.attrs else X.attrs["h5sparse_shape"]
        n, d = (int(size) for size in shape)
        parts = [self._read(self._get(X, part)) for part in ("data", "indices", "indptr")]
        if len(parts[2]) != (n if kind.startswith("csr") else d) + 1 or n * 8 > self.limit:
            raise TableError(f"{self.path}: X is a malformed sparse matrix.")
        matrix = build[kind](tuple(parts), shape=(n, d))
        matrix.check_format(full_check=True)
        return compact_csr(matrix)

    def _index(self, axis: str) -> list[str] | None:
        if axis not in self.file:
            return None
        group = self._get(self.file, axis)
        if isinstance(group, self.h5py.Dataset):
            raise TableError(
                f"{self.path} was written by an old anndata; write it again with a new one."
            )
        key = _text(group.attrs.get("_index", "_index"))
        return (
            [_text(value) for value in self._read(self._get(group, key))] if key in group else None
        )

    def _column(self, name: str, n_rows: int) -> list[str]:
        obs = self._get(self.file, "obs") if "obs" in self.file else {}
        if name not in obs:
            known = ", ".join(repr(key) for key in list(obs)[:12]) or "none"
            raise TableError(f"{self.path}: obs has no column {name!r}; it has {known}.")
        column = self._get(obs, name)
        if isinstance(column, self.h5py.Group):
            categories = [_text(v) for v in self._read(self._get(column, "categories"))]
            codes = self._read(self._get(column, "codes"))
            if codes.size and not -1 <= codes.min() <= codes.max() < len(categories):
                raise TableError(f"{self.path}: the categories of {name!r} do not fit its codes.")
            values = [categories[code] if code >= 0 else "" for code in codes]
        else:
            values = [_text(value) for value in self._read(column)]
        if len(values) != n_rows:
            raise TableError(
                f"{self.path}: column {name!r} has {len(values)} rows, X has {n_rows}."
            )
        return values


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
