"""Rows in files that all workers see: what is lost with a worker goes on from there.

Dask makes lost rows again by repeating every task that led to them. Rows that were read from a file
have no such past: no more tasks are repeated than came after it, and the scheduler can forget those
before. Rows are written by the tasks that make them, and never pass through the client.
"""

from __future__ import annotations

import secrets
import shutil
import socket
import tempfile
import warnings
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Self

import dask

from fnmf._atomic import clear_leftovers, hold
from fnmf.execution.dask._worker import sees

# Tasks, one after the other, after which rows are stored.
_EVERY = 20


def every() -> int:
    """After how many tasks rows are stored; 0 for never."""
    found = dask.config.get("fnmf.store.every", _EVERY)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise ValueError(
            f"fnmf.store.every={found!r} in Dask's configuration is no number of tasks; use one "
            "from 1 on, or 0 to store nothing."
        )
    return found


class Store:
    """A folder for the rows of a fit; it goes with the last of them.

    Parameters
    ----------
    folder : Path
        One that all workers see.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()
        # Whoever is killed leaves it unlocked, and the next fit clears it away.
        locked = ExitStack()
        locked.enter_context(hold(folder))
        weakref.finalize(self, _end, folder, locked)

    @classmethod
    def made(cls) -> Self:
        """A new one, where Dask's configuration wants it."""
        given = dask.config.get("fnmf.store.folder", None)
        usual = dask.config.get("temporary-directory", None) or tempfile.gettempdir()
        parent = Path(given or usual).absolute()
        # Locks may be unknown to other machines: each clears what is its own.
        prefix = f".fnmf-rows-{socket.gethostname()}-"
        clear_leftovers(parent, prefix, "")
        folder = parent / f"{prefix}{secrets.token_hex(6)}"
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise OSError(
                f"No folder to store rows in ({error}); name one that all workers see with "
                "dask.config.set({'fnmf.store.folder': ...})."
            ) from error
        return cls(folder)

    def seen(self, client: Any) -> bool:
        """Whether all workers of a cluster see it."""
        place, word = self._folder / "word", secrets.token_hex(16)
        place.write_text(word, encoding="utf-8")
        # Who dies meanwhile is asked nothing.
        return all(client.run(sees, str(place), word, on_error="ignore").values())

    def tell(self) -> None:
        """Warn that it is of no use."""
        warnings.warn(
            f"Not all workers see {self._folder.parent}, so a worker that is lost costs all tasks "
            "of its blocks so far; name a folder that all see with "
            "dask.config.set({'fnmf.store.folder': ...}), or store nothing with "
            "dask.config.set({'fnmf.store.every': 0}).",
            UserWarning,
            stacklevel=2,
        )

    def version(self, blocks: int) -> Stored:
        """Places for the rows of all blocks."""
        number = next(self._numbers)
        return Stored(self, [str(self._folder / f"{number}-{block}") for block in range(blocks)])


class Stored:
    """Rows of all blocks as some pass has left them, kept as long as anybody needs them.

    Parameters
    ----------
    store : Store
        Where they are.
    paths : list of str
        A file for each block.
    """

    def __init__(self, store: Store, paths: list[str]) -> None:
        self._store, self.paths = store, paths
        weakref.finalize(self, _forget, paths)


class Lineage(NamedTuple):
    """Where rows come from.

    Attributes
    ----------
    tasks : int
        How many tasks, one after the other, have led to a block since rows were stored.
    stored : tuple of Stored
        What these began with: needed as long as the rows are.
    """

    tasks: int = 0
    stored: tuple[Stored, ...] = ()

    @classmethod
    def after(cls, lines: Sequence[Lineage], tasks: int) -> Self:
        """That of rows made of others."""
        longest = max((line.tasks for line in lines), default=0)
        return cls(longest + tasks, tuple({one for line in lines for one in line.stored}))


class FileLifetime:
    """Holds what is stored for a user's array; only the client's copy does."""

    def __init__(self, stored: tuple[Stored, ...] = ()) -> None:
        self._stored = stored

    def __reduce__(self) -> tuple[Any, ...]:
        return FileLifetime, ()


def _forget(paths: list[str]) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)


def _end(folder: Path, locked: ExitStack) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    locked.close()
