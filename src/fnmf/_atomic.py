"""Files and folders that appear whole or not at all."""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

# Windows has no such locks; there leftovers are told by their age.
fcntl: Any = None
with suppress(ModuleNotFoundError):
    fcntl = import_module("fcntl")

_PARTIAL = ".partial"
_OLD_SECONDS = 86_400.0


def _sibling(path: Path) -> Path:
    # The same folder, so that the final rename never crosses a file system.
    return path.with_name(f"{_prefix(path)}{secrets.token_hex(6)}{_PARTIAL}")


def _prefix(path: Path) -> str:
    return f".{path.name[:100]}."


@contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A binary file that takes its name only after everything was written.

    A ``durable`` one outlives a loss of power too, which takes longer.
    """
    partial = _sibling(path)
    try:
        with open(partial, "xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder to fill; it takes its name at the end, or vanishes when anything fails.

    What a killed process left behind under the same name is cleared away first.
    """
    made = _make_parents(path.parent)
    clear_leftovers(path.parent, _prefix(path), _PARTIAL)
    partial = _sibling(path)
    try:
        partial.mkdir()
        with hold(partial):
            yield partial
            # Renaming onto an empty folder succeeds on POSIX; a full one is never replaced.
            partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        for folder in made:
            # Somebody else may have put something there meanwhile.
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Mark a folder as in use for as long as this process lives."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            # Some network file systems have no locks; leftovers then stay.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def clear_leftovers(parent: Path, prefix: str, suffix: str) -> None:
    """Remove hidden folders that a killed process left in ``parent``, never those in use."""
    with suppress(OSError):
        for path in parent.iterdir():
            inner = path.name.removeprefix(prefix).removesuffix(suffix)
            if (
                path.name == f"{prefix}{inner}{suffix}"
                and len(inner) == 12
                and set(inner) <= set("0123456789abcdef")
                and path.is_dir()
                and not path.is_symlink()
                and not _in_use(path)
            ):
                shutil.rmtree(path, ignore_errors=True)


def _in_use(folder: Path) -> bool:
    if fcntl is None:
        return time.time() - folder.stat().st_mtime < _OLD_SECONDS
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(handle)


def _make_parents(folder: Path) -> list[Path]:
    """Create missing folders; the innermost of those created comes first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
    return missing
