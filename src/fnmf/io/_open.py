"""From a path to a stream of text: compression, encoding, and files that are no text at all."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from fnmf.io._table import TableError

_SAMPLE = 1 << 18
# A table with very long lines is judged by a few of them, however long.
_SAMPLE_LINES = 12
_LONGEST_SAMPLE = 1 << 26
# Honest text shrinks 5 to 50 times; a bomb shrinks a thousand times.
_MOST_RATIO = 400
_FREE_SIZE = 1 << 30
_LONGEST_LINE = 1 << 28

_MAGIC = {
    b"PAR1": "a Parquet file; give it the ending .parquet",
    b"\x93NUMPY": "a NumPy file; give it the ending .npy",
    b"\x89HDF": "an HDF5 file; give it the ending .h5ad if it is an AnnData file",
    b"%PDF": "a PDF document; export the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export the sheet as CSV",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"\x7fELF": "a program",
    b"SQLite format": "an SQLite database; export the table as CSV",
}
_UNPACKERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
UNPACK_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def check_readable(path: Path) -> int:
    """Size of a regular, non-empty file; a clear error for anything else."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise TableError(f"{path} is a folder; give the file that holds the table.")
    if not stat.S_ISREG(status.st_mode):
        raise TableError(f"{path} is not a regular file; save its content to a file first.")
    if status.st_size == 0:
        raise TableError(f"{path} is empty.")
    try:
        with open(path, "rb"):
            pass
    except PermissionError:
        raise TableError(f"{path} cannot be read: no permission.") from None
    return status.st_size


class _Limited(io.RawIOBase):
    """Counts what comes out of an unpacker and stops a decompression bomb."""

    def __init__(self, inner: BinaryIO, packed: int, path: Path) -> None:
        self._inner, self._path = inner, path
        self._left = max(_FREE_SIZE, packed * _MOST_RATIO)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._inner.read(len(buffer))
        except UNPACK_ERRORS as error:
            raise TableError(f"{self._path} is a damaged compressed file: {error}.") from error
        self._left -= len(data)
        if self._left < 0:
            raise TableError(
                f"{self._path} unpacks to more than {_MOST_RATIO} times its size, which no honest "
                "table does; unpack it yourself if you trust it."
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._inner.close()
        super().close()


def open_bytes(path: Path) -> BinaryIO:
    """The content as bytes, unpacked if the file is compressed (told by content, not by name)."""
    size = check_readable(path)
    with open(path, "rb") as file:
        start = file.read(8)
    for magic, unpack in _UNPACKERS.items():
        if start.startswith(magic):
            inner = unpack(path, "rb")
            return io.BufferedReader(_Limited(inner, size, path), 1 << 16)
    if start.startswith(b"PK\x03\x04"):
        limited = _Limited(_only_member(path), size, path)
        return io.BufferedReader(limited, 1 << 16)
    return open(path, "rb")


def _only_member(path: Path) -> BinaryIO:
    try:
        archive = zipfile.ZipFile(path)
        members = [m for m in archive.infolist() if not m.is_dir()]
        if any(m.filename.startswith(("xl/", "word/", "content.xml")) for m in members):
            raise TableError(f"{path} is a spreadsheet or document; export the table as CSV.")
        if len(members) != 1:
            raise TableError(
                f"{path} is an archive of {len(members)} files; it must hold just one."
            )
        return archive.open(members[0])  # type: ignore[return-value]
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise TableError(f"{path} is a damaged or locked zip archive: {error}.") from error


def read_sample(path: Path) -> tuple[bytes, bool]:
    """The first bytes of the content, checked to be text, and whether that is all of it."""
    with open_bytes(path) as file:
        sample = file.read(_SAMPLE)
        while (
            max(sample.count(b"\n"), sample.count(b"\r")) < _SAMPLE_LINES
            and len(sample) < _LONGEST_SAMPLE
            and (more := file.read(len(sample) or 1))
        ):
            sample += more
        complete = not file.read(1)
    if not sample:
        raise TableError(f"{path} is empty.")
    for magic, what in _MAGIC.items():
        if sample.startswith(magic):
            raise TableError(f"{path} is not text: it is {what}.")
    if not sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        strange = sum(
            sample.count(bytes([code])) for code in range(32) if code not in (9, 10, 12, 13)
        )
        if b"\0" in sample or strange > len(sample) // 20:
            raise TableError(f"{path} is not text: it holds binary data; export the table as CSV.")
    return sample, complete


def guess_encoding(sample: bytes) -> str:
    """UTF-8 or UTF-16 if the bytes say so, otherwise the code page of Western Windows."""
    if sample.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        # Not final: the sample may end in the middle of a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


class Lines:
    """Lines of a text file; remembers whether an underscore was among them."""

    def __init__(self, file: io.TextIOBase, path: Path) -> None:
        self._file, self._path = file, path
        self.underscore = False

    def __iter__(self) -> Iterator[str]:
        number = 0
        while line := self._file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE:
                raise TableError(
                    f"{self._path}, line {number} has more than {_LONGEST_LINE} characters; "
                    "is this a table with one row on each line?"
                )
            if "\0" in line:
                raise TableError(f"{self._path}, line {number} holds binary data (a zero byte).")
            # Python reads "1_000" as a number; a table that says so means an identifier.
            if not self.underscore and "_" in line:
                self.underscore = True
            yield line


def open_lines(path: Path, encoding: str) -> tuple[io.TextIOWrapper, Lines]:
    """The text of a file, to be closed by the caller, and its lines."""
    errors = "replace" if encoding == "cp1252" else "strict"
    file = io.TextIOWrapper(open_bytes(path), encoding=encoding, errors=errors, newline="")
    return file, Lines(file, path)
