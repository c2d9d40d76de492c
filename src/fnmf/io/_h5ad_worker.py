"""Reads an AnnData file with anndata and sends what was asked for; started by ``_h5ad``.

A line of JSON says what follows: arrays in NumPy's own format.
"""

import faulthandler
import json
import sys
import warnings
from math import prod
from types import SimpleNamespace
from typing import Any

import anndata
import h5py
import numpy as np
import scipy.sparse as sp


class RefusedError(Exception):
    """The file cannot be used; the text goes behind its name."""


def send(**message: Any) -> None:
    """One line of JSON."""
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def stored_bytes(group: Any) -> int:
    """What all datasets would take; nothing may point out of this file."""
    total = 0
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise RefusedError(f": {name!r} lies in another file, or nowhere")
        member = group[name]
        if isinstance(member, h5py.Group):
            total += stored_bytes(member)
        elif isinstance(member, h5py.Dataset):
            if member.external or member.is_virtual:
                raise RefusedError(f": {member.name!r} is not stored in this file")
            total += prod(member.shape or ()) * max(member.dtype.itemsize, 1)
    return total


def layers(data: Any) -> list[str]:
    """Names of layers; from anndata 0.13 on the main matrix is among them, without a name."""
    return [str(name) for name in data.layers if name is not None]


def matrix(data: Any, request: dict[str, Any]) -> tuple[Any, Any]:
    """The matrix that was asked for, and the table of its columns."""
    if request["layer"]:
        if request["layer"] not in data.layers:
            known = ", ".join(map(repr, layers(data)[:12])) or "none"
            raise RefusedError(f": there is no layer {request['layer']!r}; it has {known}")
        return data.layers[request["layer"]], data.var
    if request["raw"]:
        if data.raw is None:
            raise RefusedError(": there are no raw data")
        return data.raw.X, data.raw.var
    return data.X, data.var


def column(obs: Any, name: str) -> list[str]:
    """A column of ``obs`` as text."""
    if name not in obs:
        known = ", ".join(repr(key) for key in [obs.index.name or "index", *obs][:12])
        raise RefusedError(f": obs has no column {name!r}; it has {known}")
    return obs[name].astype(object).where(obs[name].notna(), "").map(str).to_list()


def main(request: dict[str, Any]) -> None:
    """Send what was asked for."""
    with h5py.File(request["path"], "r") as file:
        if stored_bytes(file) > request["limit"]:
            raise RefusedError(": its arrays are far larger than the file, which no honest data is")
    data = anndata.read_h5ad(request["path"], backed="r")
    X, var = matrix(data, request)
    if X is None:
        raise RefusedError(": there is no X")
    X = X.to_memory() if hasattr(X, "to_memory") else X
    sparse = sp.issparse(X)
    parts = [X.data, X.indices, X.indptr] if sparse else [np.asarray(X[()])]
    send(
        kind=X.format if sparse else "dense",
        shape=[int(size) for size in X.shape],
        names=[str(name) for name in var.index],
        ids=column(data.obs, request["id_column"])
        if request["id_column"]
        else [str(name) for name in data.obs_names],
        labels=column(data.obs, request["label_column"]) if request["label_column"] else None,
        layers=layers(data)[:50],
        has_raw=data.raw is not None,
    )
    # Without a file number NumPy writes to the pipe in pieces.
    pipe: Any = SimpleNamespace(write=sys.stdout.buffer.write)
    for part in parts:
        np.lib.format.write_array(pipe, part, allow_pickle=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    wanted = json.loads(sys.argv[1])
    # A watch outside of Python: HDF5 holds its lock while it hangs. Importing is not counted.
    faulthandler.dump_traceback_later(wanted["seconds"], exit=True)
    try:
        main(wanted)
    except RefusedError as refused:
        send(error=str(refused))
    except Exception as error:
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        send(error=f" is not a usable .h5ad file: {reason}")
