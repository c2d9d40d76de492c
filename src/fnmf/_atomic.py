"""Files and folders that appear whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def _sibling(path: Path) -> Path:
    # The same folder, so that the final rename never crosses a file system.
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.partial")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes its name only after everything was written."""
    partial = _sibling(path)
    try:
        with open(partial, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to fill; it takes its name at the end, or vanishes when anything fails.

    With ``replace`` an older folder of that name is kept aside until the new one is in place.
    """
    made = _make_parents(path.parent)
    partial = _sibling(path)
    try:
        partial.mkdir()
        yield partial
        if replace and path.exists():
            old = _sibling(path)
            path.rename(old)
            try:
                partial.rename(path)
            except BaseException:
                old.rename(path)
                raise
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        else:
            # Renaming onto an empty folder succeeds on POSIX; a full one is never replaced.
            partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        for folder in made:
            # Somebody else may have put something there meanwhile.
            with suppress(OSError):
                folder.rmdir()
        raise


def _make_parents(folder: Path) -> list[Path]:
    """Create missing folders; the innermost of those created comes first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
    return missing
