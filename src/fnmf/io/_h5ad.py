"""AnnData files (``.h5ad``): a matrix, names of cells and genes, and columns of ``obs``.

The HDF5 library can hang or crash on a damaged file, so anndata reads in a process of its own,
which sends JSON and arrays, never pickles, and ends itself when it takes too long.
"""

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.io._arrays import array_table
from fnmf.io._guard import COLUMNAR_RATIO, FREE_SIZE
from fnmf.io._messages import Note, Problems, TableError, listed
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table, checked_csr

_WORKER = Path(__file__).with_name("_h5ad_worker.py")
# To decode a small file, and how many bytes a second more for a large one.
_SECONDS = 8.0
_BYTES_A_SECOND = 2_000_000


def read_h5ad(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """The main matrix of an AnnData file, a layer or the raw data; sparse if it is stored so."""
    if importlib.util.find_spec("anndata") is None:
        raise TableError(
            f'{path}: reading .h5ad needs anndata; install it with: pip install "fnmf[h5ad]"'
        )
    size = path.stat().st_size
    _check_signature(path, size)
    wanted = ("layer", "raw", "id_column", "label_column")
    request = {name: getattr(options, name) for name in wanted}
    request |= {"path": str(path), "limit": max(FREE_SIZE, COLUMNAR_RATIO * size)}
    request["seconds"] = _SECONDS + size / _BYTES_A_SECOND
    facts, parts = _decoded(path, request)
    X: Any = parts[0]
    if facts["kind"] != "dense":
        X = checked_csr(path, facts["kind"], parts, facts["shape"])
    table = array_table(path, X, facts["names"], options.features_only(), problems)
    table.ids, table.labels = facts["ids"], facts["labels"]
    _advise(table, facts, options)
    return table


def _check_signature(path: Path, size: int) -> None:
    """Whether a process is worth it: the mark of HDF5 stands at 0 or a power of two from 512 on."""
    with open(path, "rb") as file:
        for at in [0, *(1 << k for k in range(9, max(9, size.bit_length())))]:
            file.seek(at)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return
    raise TableError(f"{path} is not a usable .h5ad file: it is no HDF5 file")


def _decoded(path: Path, request: dict[str, Any]) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What the worker says of the file, and the arrays of its matrix."""
    # -P: the folder of the program must not hide modules of the standard library.
    started = time.monotonic()
    command = [sys.executable, "-P", str(_WORKER), json.dumps(request)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        # Without a file number NumPy reads from the pipe in pieces.
        pipe: Any = SimpleNamespace(read=process.stdout.read)
        try:
            facts = json.loads(process.stdout.readline())
            if "error" in facts:
                raise TableError(f"{path}{facts['error']}")
            count = 1 if facts["kind"] == "dense" else 3
            read = np.lib.format.read_array
            return facts, [read(pipe, allow_pickle=False) for _ in range(count)]
        except (ValueError, EOFError) as error:
            if isinstance(error, TableError):
                raise
            # The watch of the worker ends it with 1, as any error of Python does, but not before.
            late = process.wait() == 1 and time.monotonic() - started > request["seconds"]
            why = f"took more than {request['seconds']:.0f} seconds" if late else "crashed on it"
            raise TableError(f"{path} is damaged: its decoder {why}") from error
        finally:
            process.kill()


def _advise(table: Table, facts: dict[str, Any], options: ReadOptions) -> None:
    """Scaled data have negative values; the counts are often in the same file."""
    values = table.X.data if isinstance(table.X, sp.csr_array) else table.X
    if not values.size or float(values.min()) >= 0:
        return
    where = [f"layer {name!r}" for name in facts["layers"]]
    where += ["raw"] if facts["has_raw"] and not options.raw else []
    text = "the data are scaled or centred (there are negative values); counts are better"
    text += f", and the file also holds {listed(where)}" if where else ""
    table.notes.append(Note(text, "layer" if where else ""))
