"""Rows that do not fit into memory, as a Dask array whose blocks are read where they are needed."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fnmf.io._folders import is_one_table
from fnmf.io._frames import open_parquet
from fnmf.io._messages import TableError, optional, refusing
from fnmf.io._read import read_table

# Blocks that a worker can hold several of, unless less memory is allowed.
_BLOCK = 64 << 20
# Blocks in memory at a time for each core: one read, one converted, one worked on.
_HELD = 4
_TABLES = (".csv", ".tsv", ".parquet")
# How many rows, and how to read them.
Block = tuple[int, Callable[[], np.ndarray]]


class Chunks(NamedTuple):
    """Rows by block: numbers as a Dask array in chunks of whole rows, features, files read."""

    X: Any
    names: list[str]
    sources: list[str]


def is_many(path: Path) -> bool:
    """Whether a path stands for several tables, or for an array in a folder."""
    if not path.exists():
        return glob.has_magic(str(path))
    if not path.is_dir() or _is_zarr(path):
        return _is_zarr(path)
    return any(map(_is_table, path.iterdir())) and not is_one_table(path)


def open_chunks(path: Path, memory: int | None = None, cores: int = 1) -> Chunks:
    """A folder or pattern of Parquet or CSV files, a Zarr array, or an .npy file, by blocks.

    Parameters
    ----------
    path : Path
        File, folder or pattern.
    memory : int, default=None
        Bytes that blocks may take altogether, if they are worked on here.
    cores : int, default=1
        Blocks that are worked on at a time.
    """
    da = optional("dask.array", f"{path}: reading by blocks", "dask")
    size = _BLOCK if memory is None else max(1, min(_BLOCK, memory // (_HELD * cores)))
    if path.suffix == ".npy":
        return _npy(path, size, da)
    if _is_zarr(path):
        return _zarr(path, size, da)
    return _tables(path, size, da)


def _is_zarr(path: Path) -> bool:
    return any((path / name).exists() for name in (".zarray", "zarr.json"))


def _is_table(path: Path) -> bool:
    return path.suffix in _TABLES and path.is_file()


def _npy(path: Path, size: int, da: Any) -> Chunks:
    table = read_table(path)
    (n, d), dtype = table.X.shape, table.X.dtype
    rows = _rows_of(size, d, dtype)
    blocks = [
        (min(rows, n - start), partial(_read_npy, path, start, start + rows))
        for start in range(0, n, rows)
    ]
    return Chunks(_array(blocks, d, dtype, da), table.names, [str(path)])


def _read_npy(path: Path, start: int, stop: int) -> np.ndarray:
    return np.array(read_table(path).X[start:stop])


def _zarr(path: Path, size: int, da: Any) -> Chunks:
    optional("zarr", f"{path}: reading Zarr", "zarr")
    with refusing(f"{path} is not a usable Zarr array"):
        X = da.from_zarr(str(path))
    if X.ndim != 2 or X.dtype.kind not in "fiub" or 0 in X.shape:
        raise TableError(
            f"{path} holds an array of shape {X.shape} and type {X.dtype}; a table of numbers is "
            "needed: two dimensions, samples and features."
        )
    X = X.rechunk({0: _rows_of(size, X.shape[1], X.dtype), 1: -1})
    return Chunks(X, [f"column {k}" for k in range(1, X.shape[1] + 1)], [str(path)])


def _tables(path: Path, size: int, da: Any) -> Chunks:
    """One block for each file of text, and for so many row groups of Parquet."""
    files = sorted(path.iterdir()) if path.is_dir() else [Path(p) for p in glob.glob(str(path))]
    files = sorted(file for file in files if _is_table(file))
    if not files:
        raise TableError(f"{path}: there is no Parquet or CSV file; .parquet, .csv and .tsv count.")
    blocks: list[Block] = []
    names: list[str] | None = None
    for file in files:
        found, own = (_parquet if file.suffix == ".parquet" else _text)(file, size)
        if names is not None and own != names:
            raise TableError(
                f"{file} has other numeric columns than {files[0]}: {_difference(own, names)}."
            )
        names = own
        blocks += found
    assert names is not None
    X = _array(blocks, len(names), np.dtype(np.float64), da)
    return Chunks(X, names, [str(file) for file in files])


def _parquet(file: Path, size: int) -> tuple[list[Block], list[str]]:
    with open_parquet(file) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
        counts = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    import pyarrow as pa

    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    names = [field.name for field in schema if any(is_one(field.type) for is_one in numbers)]
    rows = _rows_of(size, len(names), np.dtype(np.float64))
    # Row groups that are read together.
    held: list[list[int]] = []
    for group, count in enumerate(counts):
        if not held or sum(counts[k] for k in held[-1]) + count > rows:
            held.append([])
        held[-1].append(group)
    sizes = [sum(counts[k] for k in groups) for groups in held]
    reads = [partial(_read_parquet, file, groups, names) for groups in held]
    return [block for block in zip(sizes, reads, strict=True) if block[0]], names


def _read_parquet(file: Path, groups: Sequence[int], names: Sequence[str]) -> np.ndarray:
    import pyarrow as pa

    with open_parquet(file) as opened:
        table = opened.read_row_groups(list(groups), columns=list(names))
    out = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        out[:, k] = table.column(name).cast(pa.float64(), safe=False).to_numpy()
    return out


def _text(file: Path, size: int) -> tuple[list[Block], list[str]]:
    # Rows cannot be counted without reading them, and the reader is the one that knows all tricks.
    table = read_table(file)
    if table.X.nbytes > size:
        raise TableError(
            f"{file} is larger than a block may be ({table.X.nbytes >> 20} MB of numbers, "
            f"{size >> 20} MB); raise --memory, split the file, or convert it to Parquet."
        )
    return [(len(table.X), partial(_read_text, file, table.names))], table.names


def _read_text(file: Path, names: Sequence[str]) -> np.ndarray:
    table = read_table(file)
    if table.names != names:
        raise TableError(f"{file} has changed while it was read.")
    return np.asarray(table.X, np.float64)


def _array(blocks: Sequence[Block], d: int, dtype: np.dtype, da: Any) -> Any:
    import dask

    parts = [
        da.from_delayed(dask.delayed(read, pure=False)(), shape=(rows, d), dtype=dtype)
        for rows, read in blocks
    ]
    return da.concatenate(parts, axis=0)


def _rows_of(size: int, d: int, dtype: np.dtype) -> int:
    return max(1, size // max(1, d * dtype.itemsize))


def _difference(own: Sequence[str], names: Sequence[str]) -> str:
    lacks = [repr(name) for name in names if name not in set(own)][:3]
    extra = [repr(name) for name in own if name not in set(names)][:3]
    said = [f"it lacks {', '.join(lacks)}"] if lacks else []
    said += [f"only it has {', '.join(extra)}"] if extra else []
    return " and ".join(said) or "their order differs"
