"""The folder of a run: only files that a run of ours wrote are ever replaced.

New files are written into a hidden folder first. For a folder that does not exist yet, it takes
that name as a whole. In a folder that exists, the hidden one is marked as complete by a rename,
and then its files move into place one by one; whoever is killed in between leaves a complete
hidden folder, and the next command that opens the results finishes the move.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fnmf._atomic import atomic_file, atomic_folder, clear_leftovers, hold
from fnmf.cli._errors import UsageError

RUN_FILES = (
    "labels.csv",
    "features.csv",
    "embedding.csv",
    "model.fnmf",
    "report.html",
    "number.svg",
    "suspicious.csv",
    "label-next.csv",
    "run.json",
)
APPLY_FILES = ("labels.csv", "embedding.csv", "run.json")

RECORD = "run.json"
# What a run of 0.1.0 wrote, which kept no list.
_FIRST_FILES = ("labels.csv", "features.csv", "embedding.csv", "model.fnmf", "report.html", RECORD)
_PREFIX = ".fnmf-"
_COMPLETE = ".complete"
_PARTIAL = ".partial"
_GONE = "gone.json"


def read_record(folder: Path) -> dict[str, Any] | None:
    """The record of the run that wrote ``folder``, or None if there is no such thing."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    known = isinstance(record, dict) and isinstance(record.get("fnmf"), str)
    return record if known and isinstance(record.get("input"), dict) else None


def file_hash(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files of a folder."""
    if not path.is_dir():
        return file_hash(path)
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file():
            digest.update(f"{file.relative_to(path)}\0{file_hash(file)}\n".encode())
    return digest.hexdigest()


def check_folder(folder: Path, names: tuple[str, ...], force: bool, inputs: list[Path]) -> None:
    """Raise if writing ``names`` into ``folder`` would touch anything but older results."""
    if folder.is_symlink() and not folder.exists():
        raise UsageError(f"{folder} is a link to a folder that does not exist.")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; choose another --out.")
    finish_moves(folder)
    taken = {path for path in inputs if path.exists()}
    for name in names:
        target = folder / name
        if any(target.exists() and target.samefile(path) for path in taken):
            raise UsageError(
                f"{target} is the input of this run and would be overwritten; choose another --out."
            )
    there = [name for name in names if os.path.lexists(folder / name)]
    if not there:
        return
    if not force:
        raise UsageError(
            f"{folder} exists already and holds {there[0]}; "
            "choose another --out, or --force to replace the results of an earlier run."
        )
    ours = _written_by_a_run(folder)
    for name in there:
        if name not in ours:
            raise UsageError(
                f"{folder / name} was not written by an earlier run, or has changed since; --force "
                "does not replace it. Move it away, or choose another --out."
            )


def _written_by_a_run(folder: Path) -> set[str]:
    """Files of ``folder`` that are still as an earlier run wrote them."""
    record = read_record(folder)
    if record is None:
        return set()
    files = record.get("files")
    if not isinstance(files, dict):
        return set(_FIRST_FILES)
    same = {
        name
        for name, digest in files.items()
        if (folder / name).is_file() and file_hash(folder / name) == digest
    }
    return same | {RECORD}


@contextmanager
def results_folder(folder: Path, check: Callable[[], None]) -> Iterator[Path]:
    """A hidden folder to fill; at the end its files are those of ``folder``, or nothing changed.

    ``check`` is asked again just before files are replaced: a run takes long, and somebody may
    have put something there meanwhile. The record lists the files, so that later runs know
    which are theirs.
    """
    # Through a link, the folder it points to is meant.
    folder = folder.resolve()
    if not folder.exists():
        with _alone(folder), atomic_folder(folder) as partial:
            yield partial
            _list_files(partial)
        return
    clear_leftovers(folder, _PREFIX, _PARTIAL)
    token = secrets.token_hex(6)
    partial = folder / f"{_PREFIX}{token}{_PARTIAL}"
    try:
        partial.mkdir()
        with hold(partial):
            yield partial
            _list_files(partial)
            _sync(partial)
            old = _written_by_a_run(folder)
            complete = folder / f"{_PREFIX}{token}{_COMPLETE}"
            gone = sorted(old - {path.name for path in partial.iterdir()})
            (partial / _GONE).write_text(json.dumps(gone), encoding="utf-8")
            check()
            partial.rename(complete)
            _move(complete, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Say in words that another run was faster; its results stay."""
    try:
        yield
    except OSError as error:
        taken = error.errno in (errno.EEXIST, errno.ENOTEMPTY) and folder.is_dir()
        if not taken or error.filename2 is None:
            raise
        raise UsageError(
            f"another run has written {folder} meanwhile; its results are there, and those of "
            "this run were not kept. Run again with another --out, or with --force."
        ) from error


def finish_moves(folder: Path) -> None:
    """Finish what a killed run had completed but not moved into place."""
    with suppress(PermissionError):
        for complete in sorted(folder.glob(f"{_PREFIX}*{_COMPLETE}")):
            _move(complete, folder)


def _move(complete: Path, folder: Path) -> None:
    with suppress(FileNotFoundError):
        for name in json.loads((complete / _GONE).read_text(encoding="utf-8")):
            # Names come from a folder of ours; still, nothing outside it is ever removed.
            if Path(name).name == name:
                (folder / name).unlink(missing_ok=True)
        (complete / _GONE).unlink()
    # The record comes last: while it is the old one, the old list of files holds.
    for path in sorted(complete.iterdir(), key=lambda path: path.name == RECORD):
        os.replace(path, folder / path.name)
    complete.rmdir()


def _list_files(partial: Path) -> None:
    """Add the digest of every file to the record."""
    record_file = partial / RECORD
    record = json.loads(record_file.read_text(encoding="utf-8"))
    record["files"] = {
        path.name: file_hash(path) for path in sorted(partial.iterdir()) if path != record_file
    }
    record_file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def update_record(folder: Path, name: str) -> None:
    """Take note that a command of ours has written the file ``name`` again."""
    record = read_record(folder)
    if record is not None and isinstance(record.get("files"), dict):
        record["files"][name] = file_hash(folder / name)
        with atomic_file(folder / RECORD) as file:
            file.write((json.dumps(record, indent=2) + "\n").encode())


def _sync(folder: Path) -> None:
    for path in folder.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
