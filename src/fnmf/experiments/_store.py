"""The store of results: one SQLite file, one row a run, shared by any number of processes."""

import io
import json
import os
import secrets
import socket
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fnmf import __version__
from fnmf.experiments._plan import Run

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS owners (
    owner TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, beat REAL NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL, data_sha256 TEXT NOT NULL,
    method TEXT NOT NULL, params TEXT NOT NULL, seed INTEGER NOT NULL, purpose TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('claimed', 'done', 'failed')),
    owner TEXT, finished TEXT, versions TEXT,
    acc REAL, nmi REAL, objective REAL, n_iter INTEGER, n_found INTEGER,
    seconds REAL, cpu_seconds REAL,
    labels BLOB, details BLOB, notes TEXT, reason TEXT);
CREATE TABLE IF NOT EXISTS pictures (name TEXT PRIMARY KEY, arrays BLOB NOT NULL);
"""

_PLAIN_COLUMNS = (
    "key, dataset, data_sha256, method, params, seed, purpose, state, finished, versions, "
    "acc, nmi, objective, n_iter, n_found, seconds, cpu_seconds, notes, reason"
)

# A process that has not been heard of for so long is taken for dead.
_SILENCE_SECONDS = 120.0
_BEAT_SECONDS = 5.0


def pack(**arrays: np.ndarray) -> bytes:
    """Arrays as the bytes of a compressed ``.npz`` file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(content: bytes) -> dict[str, np.ndarray]:
    """Arrays from such bytes; objects are refused."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 would end the process there; its silence must tell
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Store:
    """Results of the experiments in one file.

    Each process that writes is an owner. It claims a run before starting it, so that no run
    is done twice; the claims of an owner that died are given up to whoever asks next.

    Parameters
    ----------
    path : path-like
        The file; it is made when it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from fnmf.experiments import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/store.sqlite") as store:
    ...     store.results()
    []
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._next_beat = 0.0
        self._db = sqlite3.connect(self.path, timeout=60.0, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._write():
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)
            self._db.execute(
                "INSERT OR IGNORE INTO meta VALUES ('fnmf version', ?)", (__version__,)
            )
        (made_by,) = self._db.execute(
            "SELECT value FROM meta WHERE name = 'fnmf version'"
        ).fetchone()
        if made_by != __version__:
            self._db.close()
            raise ValueError(
                f"{self.path} holds results of fnmf {made_by}, this is fnmf {__version__}; "
                "results of two versions are not mixed: use another folder with --out."
            )

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up claims and close the file."""
        self.release()
        self._db.close()

    @contextmanager
    def _write(self) -> Iterator[None]:
        # IMMEDIATE takes the write lock at once: no deadlock of two readers that want to write.
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def beat(self) -> None:
        """Say that this process lives; more often than needed does no harm."""
        if time.monotonic() < self._next_beat:
            return
        self._next_beat = time.monotonic() + _BEAT_SECONDS
        self._db.execute(
            "INSERT INTO owners VALUES (?, ?, ?, ?) "
            "ON CONFLICT (owner) DO UPDATE SET beat = excluded.beat",
            (self.owner, socket.gethostname(), os.getpid(), time.time()),
        )

    def claim(self, run: Run, data_sha256: str) -> bool:
        """Take a run for this process; False if it is done or somebody alive has it."""
        key = run.key(data_sha256)
        with self._write():
            row = self._db.execute("SELECT state, owner FROM runs WHERE key = ?", (key,)).fetchone()
            if row is not None:
                if row["state"] != "claimed" or not self._dead(row["owner"]):
                    return False
                self._db.execute("DELETE FROM runs WHERE key = ?", (key,))
            self.beat()
            self._db.execute(
                "INSERT INTO runs (key, dataset, data_sha256, method, params, seed, purpose, "
                "state, owner) VALUES (?, ?, ?, ?, ?, ?, ?, 'claimed', ?)",
                (
                    key,
                    run.dataset,
                    data_sha256,
                    run.method,
                    run.params_json,
                    run.seed,
                    run.purpose,
                    self.owner,
                ),
            )
        return True

    def _dead(self, owner: str) -> bool:
        row = self._db.execute("SELECT * FROM owners WHERE owner = ?", (owner,)).fetchone()
        if row is None or time.time() - row["beat"] > _SILENCE_SECONDS:
            return True
        return row["host"] == socket.gethostname() and not _alive(row["pid"])

    def finish(self, key: str, outcome: dict[str, Any], versions: dict[str, str]) -> None:
        """Write the outcome of a claimed run."""
        columns = {
            **outcome,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "versions": json.dumps(versions, sort_keys=True),
            "state": "failed" if outcome.get("reason") else "done",
            "owner": None,
        }
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        with self._write():
            self._db.execute(
                f"UPDATE runs SET {assignments} WHERE key = :key AND state = 'claimed' "
                "AND owner = :me",
                {**columns, "key": key, "me": self.owner},
            )

    def release(self) -> None:
        """Give up what this process has claimed and not finished."""
        with self._write():
            self._db.execute(
                "DELETE FROM runs WHERE state = 'claimed' AND owner = ?", (self.owner,)
            )
            self._db.execute("DELETE FROM owners WHERE owner = ?", (self.owner,))
        self._next_beat = 0.0

    def forget_failures(self) -> int:
        """Delete failed runs, so that they are tried again."""
        return self._db.execute("DELETE FROM runs WHERE state = 'failed'").rowcount

    def adopt(self, rows: Iterable[dict[str, Any]]) -> int:
        """Take finished runs from elsewhere, without their labels; runs that are here stay."""
        count = 0
        with self._write():
            for row in rows:
                names = ", ".join(row)
                values = ", ".join(f":{name}" for name in row)
                statement = f"INSERT OR IGNORE INTO runs ({names}) VALUES ({values})"
                count += self._db.execute(statement, row).rowcount
        return count

    def forget(self, key: str) -> None:
        """Delete one run, so that it is done again."""
        self._db.execute("DELETE FROM runs WHERE key = ?", (key,))

    def has_labels(self, key: str) -> bool:
        """Whether the labels of a run are here; those of adopted runs are not."""
        query = "SELECT 1 FROM runs WHERE key = ? AND labels IS NOT NULL"
        return self._db.execute(query, (key,)).fetchone() is not None

    def states(self) -> dict[str, str]:
        """State of every run by key."""
        return {row["key"]: row["state"] for row in self._db.execute("SELECT key, state FROM runs")}

    def results(self) -> list[dict[str, Any]]:
        """Finished and failed runs, without labels and details, in a fixed order."""
        rows = self._db.execute(
            f"SELECT {_PLAIN_COLUMNS} FROM runs WHERE state != 'claimed' "
            "ORDER BY dataset, method, purpose, params, seed"
        )
        return [{**row, "params": json.loads(row["params"])} for row in map(dict, rows)]

    def labels(self, key: str) -> np.ndarray:
        """Labels of a finished run."""
        (content,) = self._db.execute("SELECT labels FROM runs WHERE key = ?", (key,)).fetchone()
        return unpack(content)["labels"]

    def details(self, key: str) -> dict[str, np.ndarray]:
        """History and weights of a run made for its details."""
        (content,) = self._db.execute("SELECT details FROM runs WHERE key = ?", (key,)).fetchone()
        return unpack(content)

    def keep_picture(self, name: str, **arrays: np.ndarray) -> None:
        """Keep arrays that a figure needs beside the results."""
        self._db.execute("INSERT OR REPLACE INTO pictures VALUES (?, ?)", (name, pack(**arrays)))

    def picture(self, name: str) -> dict[str, np.ndarray] | None:
        """Such arrays, or None."""
        row = self._db.execute("SELECT arrays FROM pictures WHERE name = ?", (name,)).fetchone()
        return None if row is None else unpack(row["arrays"])
