"""Checkpoints: how far a fit has come, in a folder from which the same fit goes on.

Everything in a fit follows from data, parameters and seeds, so only what is dear is written: the
neighbours, and the factors of the run. The rest is done again, with the same result to the bit.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf import __version__
from fnmf._atomic import atomic_file
from fnmf._settings import Settings
from fnmf.affinity import Arrays
from fnmf.data import View
from fnmf.execution import RowArray, Runner
from fnmf.factorization import CheckpointCache
from fnmf.factorization.solver import Snapshot, SolverCheckpoint
from fnmf.validation import check_real

_HEAD = "checkpoint.json"
_FORMAT = 1
# Results do not depend on these.
_FREE = ("n_jobs", "verbose")


class Checkpoint:
    """A folder to which a fit writes how far it has come.

    The same fit, started again with the same folder, goes on from there and ends with the same
    result as if it had never been interrupted. A finished fit is given back at once. Files appear
    whole or not at all and hold plain arrays; a folder serves one fit at a time.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist.
    every : float, default=30.0
        Seconds between two checkpoints; 0 writes one after each iteration.

    Examples
    --------
    >>> import tempfile
    >>> from fnmf import FNMF, Checkpoint
    >>> from fnmf.datasets import make_noisy_gaussians
    >>> X, _ = make_noisy_gaussians(random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = FNMF(3, random_state=0).fit(X, checkpoint=Checkpoint(folder, every=5))
    ...     again = FNMF(3, random_state=0).fit(X, checkpoint=folder)
    >>> bool((first.embedding_ == again.embedding_).all())
    True
    """

    def __init__(self, folder: str | Path, every: float = 30.0) -> None:
        self.folder = Path(folder)
        self.every = check_real("every", every)


class FolderCheckpointCache(CheckpointCache):
    """The checkpoint cache of a fit, in a folder that has been found to belong to it."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def cached(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        path = self._path(name)
        if path.exists():
            return read_arrays(path)
        arrays = make()
        write_arrays(path, arrays)
        return arrays

    def solver_checkpoint(self, name: str) -> SolverCheckpoint:
        return _FileCheckpoint(self._path(name), self._checkpoint.every)

    def _path(self, name: str) -> Path:
        return self._checkpoint.folder / f"{name}.npz"


class _FileCheckpoint(SolverCheckpoint):
    """The last snapshot of one run, in a file."""

    def __init__(self, path: Path, every: float) -> None:
        self._path, self._every = path, every
        self._written = time.monotonic()

    def last(self) -> Snapshot | None:
        if not self._path.exists():
            return None
        arrays = read_arrays(self._path)
        if set(arrays) != set(Snapshot._fields):
            raise _damaged(self._path)
        return Snapshot(**arrays)

    def due(self) -> bool:
        return time.monotonic() - self._written >= self._every

    def write(self, snapshot: Snapshot) -> None:
        write_arrays(self._path, snapshot._asdict())
        self._written = time.monotonic()


def open_checkpoint(
    checkpoint: Any,
    settings: Settings,
    view: View,
    seeds: Sequence[int],
    runner: Runner,
    *,
    any_seeds: bool,
) -> tuple[CheckpointCache, Sequence[int]]:
    """The checkpoint cache of a fit and the seeds to use; refuses a checkpoint of another fit.

    With ``any_seeds`` those of the checkpoint are taken, if there is one, whatever they are.
    """
    if not isinstance(checkpoint, Checkpoint):
        if not isinstance(checkpoint, (str, Path)):
            raise TypeError(
                f"checkpoint must be a folder or an fnmf.Checkpoint, got {checkpoint!r}."
            )
        checkpoint = Checkpoint(checkpoint)
    own: dict[str, Any] = {
        "format": _FORMAT,
        "version": __version__,
        "data": fingerprint(view, runner),
        "parameters": parameters_of(settings),
        "seeds": [int(seed) for seed in seeds],
    }
    found = _head(checkpoint.folder)
    if found is None:
        with atomic_file(checkpoint.folder / _HEAD) as file:
            file.write(json.dumps(own, indent=1).encode())
    else:
        _refuse_another(checkpoint.folder, found, own, any_seeds)
        own = found
    return FolderCheckpointCache(checkpoint), own["seeds"]


def fingerprint(view: View, runner: Runner) -> dict[str, Any]:
    """Shape, type and a digest of the values, block by block."""
    return {
        "samples": view.shape[0],
        "features": view.shape[1],
        "type": str(view.X.dtype),
        "sparse": view.sparse,
        "digest": _digest(*runner.over(View.digest, view)),
    }


def parameters_of(settings: Settings) -> dict[str, Any]:
    """Parameters that decide the result, as plain values."""
    names = (field.name for field in fields(settings) if field.name not in _FREE)
    return {name: _plain(getattr(settings, name)) for name in names}


def read_arrays(path: Path) -> Arrays:
    """Arrays of a file; never anything but arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path) from error


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """A file of arrays that appears whole or not at all.

    Rows that are elsewhere come and go block by block.
    """
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                if isinstance(array, np.ndarray):
                    np.lib.format.write_array(member, array, allow_pickle=False)
                else:
                    _write_rows(member, array)


def _write_rows(member: Any, rows: RowArray) -> None:
    descr = np.lib.format.dtype_to_descr(rows.dtype)
    header = {"descr": descr, "fortran_order": False, "shape": rows.shape}
    np.lib.format.write_array_header_1_0(member, header)
    for part in rows.parts():
        member.write(np.ascontiguousarray(part).data)


def _head(folder: Path) -> dict[str, Any] | None:
    """What a folder says it is a checkpoint of; ``None`` if it is a new one."""
    folder.mkdir(parents=True, exist_ok=True)
    # Whatever a killed process has left half-written.
    for partial in folder.glob(".*.partial"):
        partial.unlink(missing_ok=True)
    path = folder / _HEAD
    if not path.exists():
        if any(folder.iterdir()):
            raise ValueError(
                f"checkpoint={str(folder)!r} is a folder with other files; use an empty one, or "
                "one that does not exist."
            )
        return None
    try:
        head = json.loads(path.read_text(encoding="utf-8"))
        seeds = head["seeds"]
        sound = all(isinstance(head[part], dict) for part in ("data", "parameters"))
        if not (sound and seeds and all(isinstance(seed, int) for seed in seeds)):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    return head


def _refuse_another(
    folder: Path, found: dict[str, Any], own: dict[str, Any], any_seeds: bool
) -> None:
    before, now = _flat(found), _flat(own)
    if any_seeds:
        before["random_state"] = now["random_state"]
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not names:
        return
    said = []
    for name in names:
        if name in ("digest", "random_state"):
            said.append("the values of X" if name == "digest" else name)
        else:
            said.append(f"{name} (was {before.get(name)!r}, is {now.get(name)!r})")
    raise ValueError(
        f"checkpoint={str(folder)!r} is of another fit, which differs in {', '.join(said)}; use "
        "another folder, or delete this one to begin anew."
    )


def _flat(head: dict[str, Any]) -> dict[str, Any]:
    plain = {"format": head.get("format"), "fnmf": head.get("version")}
    plain["random_state"] = head["seeds"]
    return {**plain, **head["data"], **head["parameters"]}


def _plain(value: Any) -> Any:
    """Something that JSON gives back as it was."""
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        values = np.ascontiguousarray(value).reshape(-1).data
        return f"array of shape {value.shape}, digest {_digest(values)[:16]}"
    if sp.issparse(value):
        matrix: Any = value
        return [_plain(part) for part in (matrix.data, matrix.indices, matrix.indptr)]
    return value.item() if isinstance(value, np.generic) else value


def _digest(*parts: Any) -> str:
    whole = sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()


def _damaged(path: Path) -> ValueError:
    return ValueError(f"{path} is damaged and cannot be read; delete the folder to begin anew.")
