"""Decodes an AnnData file and sends what it holds; a program of its own, started by ``_h5ad``.

It imports nothing but NumPy and h5py, so that it starts quickly.
"""

import json
import sys
from math import prod
from typing import Any

import h5py
import numpy as np

_PIECE = 1 << 25


class RefusedError(Exception):
    """The file cannot be used; the text goes behind its name."""


def send(**message: Any) -> None:
    """One line of JSON."""
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def get(group: Any, name: str) -> Any:
    """A member that lies in this file: links may point into other files of this machine."""
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise RefusedError(f": {name!r} is missing or lies in another file")
    return group[name]


def checked(dataset: Any, limit: int) -> Any:
    """A dataset that is stored in the file and not far larger than it."""
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise RefusedError(f": {dataset.name!r} is not stored in this file")
    if prod(dataset.shape) * max(dataset.dtype.itemsize, 1) > limit:
        raise RefusedError(
            f": {dataset.name!r} is far larger than its file, which no honest data is"
        )
    return dataset


def send_array(name: str, dataset: Any, limit: int) -> None:
    """The numbers of a dataset, piece by piece."""
    dataset = checked(dataset, limit)
    if dataset.dtype.kind not in "fiub":
        raise RefusedError(f": {dataset.name!r} holds {dataset.dtype}, not numbers")
    native = dataset.dtype.newbyteorder("=")
    send(array=name, dtype=native.str, shape=list(dataset.shape))
    rows = dataset.shape[0] if dataset.shape else 0
    step = max(1, _PIECE // max(1, prod(dataset.shape[1:]) * native.itemsize))
    for start in range(0, rows, step):
        piece = np.ascontiguousarray(dataset[start : start + step], dtype=native)
        sys.stdout.buffer.write(piece.data)
    sys.stdout.buffer.flush()


def texts(dataset: Any, limit: int) -> list[str]:
    """A column of names."""
    values = checked(dataset, limit)[()]
    if np.ndim(values) != 1:
        raise RefusedError(f": {dataset.name!r} is not a list of names")
    return decoded(values)


def decoded(values: Any) -> list[str]:
    """Bytes and numbers as text."""
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]


def field(table: Any, name: str, limit: int) -> Any:
    """A column of a table as anndata stored them before 0.7: records in one dataset."""
    if checked(table, limit).dtype.names is None or name not in table.dtype.names:
        known = ", ".join(repr(key) for key in (table.dtype.names or ())[:12]) or "none"
        raise RefusedError(f": {table.name[1:]} has no column {name!r}; it has {known}")
    return table.fields(name)[()]


def index(file: Any, axis: str, limit: int) -> list[str] | None:
    """Names of the cells or genes."""
    if axis not in file:
        return None
    group = get(file, axis)
    if isinstance(group, h5py.Dataset):
        return decoded(field(group, "index", limit))
    key = group.attrs.get("_index", "_index")
    key = key.decode() if isinstance(key, bytes) else str(key)
    return texts(get(group, key), limit) if key in group else None


def column(file: Any, name: str, limit: int) -> list[str]:
    """A column of ``obs``."""
    obs = get(file, "obs") if "obs" in file else {}
    if isinstance(obs, h5py.Dataset):
        stored = f"{name}_categories"
        uns = get(file, "uns") if "uns" in file else {}
        values = field(obs, name, limit)
        return (
            named(values, texts(get(uns, stored), limit), name)
            if stored in uns
            else decoded(values)
        )
    if name not in obs:
        known = ", ".join(repr(key) for key in list(obs)[:12]) or "none"
        raise RefusedError(f": obs has no column {name!r}; it has {known}")
    found = get(obs, name)
    if not isinstance(found, h5py.Group):
        return texts(found, limit)
    codes = checked(get(found, "codes"), limit)[()]
    return named(codes, texts(get(found, "categories"), limit), name)


def named(codes: Any, categories: list[str], name: str) -> list[str]:
    """Categories by their numbers; -1 is none."""
    if codes.dtype.kind not in "iu":
        raise RefusedError(f": the categories of {name!r} do not fit its codes")
    if codes.size and not -1 <= codes.min() <= codes.max() < len(categories):
        raise RefusedError(f": the categories of {name!r} do not fit its codes")
    return [categories[code] if code >= 0 else "" for code in codes]


def send_matrix(X: Any, limit: int) -> tuple[int, int]:
    """The matrix, dense or in the three arrays of its sparse form."""
    if isinstance(X, h5py.Dataset):
        if len(X.shape) != 2:
            raise RefusedError(f": the data has shape {X.shape}; two dimensions are needed")
        send(facts={"kind": "dense"})
        send_array("X", X, limit)
        return X.shape
    kind = X.attrs.get("encoding-type", X.attrs.get("h5sparse_format", ""))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if kind[:3] not in ("csr", "csc"):
        raise RefusedError(f": the data is stored as {kind!r}; dense, CSR or CSC is needed")
    shape = X.attrs["shape"] if "shape" in X.attrs else X.attrs["h5sparse_shape"]
    rows, columns = (int(size) for size in shape)
    send(facts={"kind": kind[:3], "shape": [rows, columns]})
    for part in ("data", "indices", "indptr"):
        send_array(part, get(X, part), limit)
    return rows, columns


def matrix(file: Any, request: dict[str, Any]) -> tuple[Any, str]:
    """The matrix that was asked for, and the group with the names of its columns."""
    layers = list(get(file, "layers")) if "layers" in file else []
    send(facts={"layers": layers[:50], "has_raw": "raw" in file or "raw.X" in file})
    if request["layer"]:
        if request["layer"] not in layers:
            known = ", ".join(repr(name) for name in layers[:12]) or "none"
            raise RefusedError(f": there is no layer {request['layer']!r}; it has {known}")
        return get(get(file, "layers"), request["layer"]), "var"
    if request["raw"] and "raw.X" in file:
        return get(file, "raw.X"), "raw.var"
    if request["raw"]:
        raw = get(file, "raw")
        return get(raw, "X"), "raw/var" if "var" in raw else "var"
    return get(file, "X"), "var"


def main(request: dict[str, Any]) -> None:
    """Send what was asked for."""
    limit = int(request["limit"])
    send(facts={"ready": True})
    with h5py.File(request["path"], "r") as file:
        found, var = matrix(file, request)
        send_matrix(found, limit)
        group, names = (get(file, "raw"), "var") if var == "raw/var" else (file, var)
        facts = {"names": index(group, names, limit), "ids": index(file, "obs", limit)}
        send(facts=facts)
        for key in ("id_column", "label_column"):
            if request[key]:
                send(facts={key: column(file, request[key], limit)})
    send(done=True)


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except RefusedError as refused:
        send(error=str(refused))
    except Exception as error:
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        send(error=f" is not a usable .h5ad file: {reason}")
