"""From a path to a stream of text: compression, encoding, and files that are no text at all."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from fnmf.io._guard import FREE_SIZE, PACKED_RATIO
from fnmf.io._messages import TableError, refusing

_SAMPLE = 1 << 18
# A table with very long lines is judged by a few of them, however long.
_SAMPLE_LINES = 12
_LONGEST_SAMPLE = 1 << 26
_LONGEST_LINE = 1 << 28
# Unpacked bytes after which the ratio to the packed ones counts; before, buffers would blur it.
_UNWATCHED = 1 << 26
_PIECES = 16
_PIECE = 1 << 13
# Control characters but for tabs and ends of lines and pages.
_STRANGE = bytes(set(range(32)) - {9, 10, 12, 13})

# What is often taken for a table of text, by how it begins.
_OTHERS = {
    rb"PAR1": "a Parquet file; give it the ending .parquet",
    rb"\x93NUMPY": "a NumPy file; give it the ending .npy",
    rb"\x89HDF": "an HDF5 file; give it the ending .h5ad if it is an AnnData file",
    rb"%PDF": "a PDF document; export the table as CSV",
    rb"\xd0\xcf\x11\xe0": "an old Excel workbook; export the sheet as CSV",
    rb"\x89PNG|\xff\xd8\xff": "an image",
    rb"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    rb"\x7fELF": "a program",
    rb"SQLite format": "an SQLite database; export the table as CSV",
    rb'(\xef\xbb\xbf)?\s*(\{\s*"|\[\s*[\[{])': "JSON; turn it into CSV",
    rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml)": "a web page or XML; export the table as CSV",
}


def check_readable(path: Path) -> int:
    """Size of a regular, non-empty file; a clear error for anything else."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise TableError(f"{path} is a folder; give the file that holds the table")
    if not stat.S_ISREG(status.st_mode):
        raise TableError(f"{path} is not a regular file; save its content to a file first")
    if status.st_size == 0:
        raise TableError(f"{path} is empty")
    try:
        with open(path, "rb"):
            pass
    except PermissionError:
        raise TableError(f"{path} cannot be read: no permission.") from None
    return status.st_size


class _Limited(io.RawIOBase):
    """Counts what comes out of an unpacker and stops a decompression bomb."""

    def __init__(self, inner: BinaryIO, packed: BinaryIO, size: int, path: Path) -> None:
        self._inner, self._packed, self._path = inner, packed, path
        self._done, self._most = 0, max(FREE_SIZE, size * PACKED_RATIO)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        with refusing(f"{self._path} is a damaged compressed file"):
            data = self._inner.read(len(buffer))
        self._done += len(data)
        # What was unpacked so far tells a bomb long before all of it would.
        swollen = self._done > _UNWATCHED and self._done > PACKED_RATIO * self._packed.tell()
        if swollen or self._done > self._most:
            raise TableError(
                f"{self._path} unpacks to more than {PACKED_RATIO} times its size, which no honest "
                "table does; unpack it yourself if you trust it"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._inner.close()
        self._packed.close()
        super().close()


def _only_member(packed: BinaryIO) -> Any:
    with refusing(f"{packed.name} is a damaged or locked zip archive"):
        archive = zipfile.ZipFile(packed)
        members = [m for m in archive.infolist() if not m.is_dir()]
        if any(m.filename.startswith(("xl/", "word/", "content.xml")) for m in members):
            raise TableError(f"{packed.name} is a spreadsheet or document; export the table as CSV")
        if len(members) != 1:
            text = f"{packed.name} is an archive of {len(members)} files; it must hold just one"
            raise TableError(text)
        return archive.open(members[0])


_UNPACKERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"PK\x03\x04": _only_member,
}


def open_bytes(path: Path) -> BinaryIO:
    """The content as bytes, unpacked if the file is compressed (told by content, not by name)."""
    size = check_readable(path)
    file = open(path, "rb")  # noqa: SIM115 (closed by the caller, or with what unpacks it)
    start = file.peek(8)
    for magic, unpack in _UNPACKERS.items():
        if start.startswith(magic):
            try:
                return io.BufferedReader(_Limited(unpack(file), file, size, path), 1 << 16)
            except TableError:
                file.close()
                raise
    return file


@dataclass(frozen=True)
class Sample:
    """Bytes from the beginning of a text, and from places further down."""

    head: bytes
    complete: bool
    later: tuple[bytes, ...] = ()

    def lines(self, encoding: str) -> tuple[list[str], list[str]]:
        """Whole lines of the beginning, and whole lines of the other places."""
        head = _split(self.head, encoding)
        if encoding == "utf-16":
            # Only the beginning has a mark that says which byte comes first.
            big = self.head.startswith(codecs.BOM_UTF16_BE)
            encoding = "utf-16-be" if big else "utf-16-le"
        later = [line for piece in self.later for line in _split(piece, encoding)[1:-1]]
        # An endless first line is still a line.
        return head if self.complete else head[:-1] or head, later


def _split(content: bytes, encoding: str) -> list[str]:
    text = content.decode(encoding, errors="replace").lstrip("\ufeff")
    # With their ends, and at every kind of end, as the reader of rows does.
    return list(io.StringIO(text, newline=""))


def read_sample(path: Path) -> Sample:
    """A sample of the whole content, checked to be text."""
    with open_bytes(path) as file:
        head = file.read(_SAMPLE)
        while (
            max(head.count(b"\n"), head.count(b"\r")) < _SAMPLE_LINES
            and len(head) < _LONGEST_SAMPLE
            and (more := file.read(len(head) or 1))
        ):
            head += more
        complete = not file.read(1)
        later = []
        # Unpacking all of a compressed file would cost too much.
        if not complete and isinstance(getattr(file, "raw", None), io.FileIO):
            beyond = max(0, path.stat().st_size - len(head) - _PIECE)
            for step in range(1, _PIECES + 1):
                # Even offsets keep two-byte characters whole; the last piece ends with the file.
                file.seek(len(head) + beyond * step // _PIECES // 2 * 2)
                later.append(file.read(_PIECE))
    if not head:
        raise TableError(f"{path} is empty")
    for pattern, what in _OTHERS.items():
        if re.match(pattern, head):
            raise TableError(f"{path} is no table of text but {what}")
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        strange = len(head) - len(head.translate(None, _STRANGE))
        if b"\0" in head or strange > len(head) // 20:
            raise TableError(f"{path} is not text: it holds binary data; export the table as CSV")
    return Sample(head, complete, tuple(later))


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
    """Lines of a text file, one by one or many at once."""

    def __init__(self, file: io.TextIOBase, path: Path) -> None:
        self._file, self._path = file, path
        self._number = 0

    def __iter__(self) -> Iterator[str]:
        while line := self.chunk(0):
            yield line

    def chunk(self, size: int) -> str:
        """About ``size`` characters that end with a line; empty at the end of the file."""
        text = self._file.read(size)
        while text.endswith("\r") and (more := self._file.read(1)):
            # The second half of a line end belongs to the first.
            text += more
        if not text.endswith(("\n", "\r")):
            text += self._file.readline(_LONGEST_LINE)
        if len(text) >= size + _LONGEST_LINE:
            raise TableError(
                f"{self._path}: a line near line {self._number + 1} has more than {_LONGEST_LINE} "
                "characters; is this a table with one row on each line?"
            )
        if "\0" in text:
            number = self._number + 1 + text[: text.index("\0")].count("\n")
            raise TableError(f"{self._path}, line {number} holds binary data (a zero byte)")
        self._number += text.count("\n")
        return text


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """A file that began in plain ASCII and has accents of Windows further down."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("fnmf.as_windows", _as_windows)


def open_lines(path: Path, encoding: str, guessed: bool = False) -> tuple[io.TextIOWrapper, Lines]:
    """The text of a file, to be closed by the caller, and its lines."""
    errors = "replace" if encoding == "cp1252" else "strict"
    if guessed and encoding.startswith("utf-8"):
        errors = "fnmf.as_windows"
    file = io.TextIOWrapper(open_bytes(path), encoding=encoding, errors=errors, newline="")
    return file, Lines(file, path)
