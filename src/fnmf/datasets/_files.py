"""Reading files that came from elsewhere: bounded, without links, without code."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

import numpy as np

from fnmf._atomic import atomic_file

# Far above the largest original (USPS, 18 MB of text) and far below what would fill a memory.
MAX_BYTES = 256 * 2**20


class DataFileError(ValueError):
    """A data file is not what it should be."""


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def arrays_sha256(X: np.ndarray, y: np.ndarray) -> str:
    """SHA-256 over type, shape and values of data and classes, in C order."""
    digest = hashlib.sha256()
    for array in (X, y):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _bounded(stream: _Readable, name: str, limit: int) -> bytes:
    """Everything in the stream; its declared size is not believed."""
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise DataFileError(f"{name} unpacks to more than {limit} bytes; it was not unpacked.")
    return content


def _check_name(name: str, archive: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[:1]:
        raise DataFileError(
            f"{archive} holds the member {name!r}, which points outside; the archive is refused."
        )


def _from_zip(source: IO[bytes], member: str, archive: str, limit: int) -> bytes | None:
    with zipfile.ZipFile(source) as packed:
        members = packed.infolist()
        for info in members:
            _check_name(info.filename, archive)
            if (info.external_attr >> 16) & 0o170000 == 0o120000:
                raise DataFileError(f"{archive} holds a link ({info.filename!r}); it is refused.")
        for info in members:
            inner_tar = info.filename.endswith(".tar")
            if inner_tar or PurePosixPath(info.filename).name == member:
                name = f"{archive}:{info.filename}"
                with packed.open(info) as stream:
                    content = _bounded(stream, name, limit)
                if not inner_tar:
                    return content
                found = _from_tar(io.BytesIO(content), member, name, limit)
                if found is not None:
                    return found
    return None


def _from_tar(source: IO[bytes], member: str, archive: str, limit: int) -> bytes | None:
    with tarfile.open(fileobj=source, mode="r:") as packed:
        members = packed.getmembers()
        for info in members:
            _check_name(info.name, archive)
            if info.issym() or info.islnk():
                raise DataFileError(f"{archive} holds a link ({info.name!r}); it is refused.")
        for info in members:
            if info.isfile() and PurePosixPath(info.name).name == member:
                stream = packed.extractfile(info)
                assert stream is not None
                return _bounded(stream, f"{archive}:{info.name}", limit)
    return None


def read_original(path: Path, member: str, *, limit: int = MAX_BYTES) -> bytes:
    """Content of one file, taken out of a zip or tar archive (or gzip) when it lies in one.

    Nothing is unpacked to disk. An archive that holds a link, or a name pointing outside,
    is refused whole, even when the member asked for is harmless.
    """
    try:
        with path.open("rb") as source:
            start = source.read(4)
            source.seek(0)
            content: bytes | None
            if start == b"PK\x03\x04":
                content = _from_zip(source, member, path.name, limit)
            elif path.name.endswith(".tar"):
                content = _from_tar(source, member, path.name, limit)
            elif start[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=source) as stream:
                    content = _bounded(stream, path.name, limit)
            else:
                content = _bounded(source, path.name, limit)
    except (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, EOFError) as error:
        raise DataFileError(
            f"{path} is damaged ({error}); delete it and fetch it again."
        ) from error
    if content is None:
        raise DataFileError(f"{path} has no member {member!r}; it is not the file expected.")
    return content


def read_npz(path: Path, *, limit: int = MAX_BYTES) -> dict[str, np.ndarray]:
    """Arrays of an ``.npz`` file, its declared sizes checked before anything is read."""
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(info.file_size for info in packed.infolist())
        if size > limit:
            raise DataFileError(f"{path} unpacks to {size} bytes, more than {limit}; not read.")
        with np.load(path, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise DataFileError(f"{path} is damaged ({error}); delete or replace it.") from error
    except ValueError as error:
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(f"{path} cannot be read: {error}") from error


def write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write so that a reader sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
