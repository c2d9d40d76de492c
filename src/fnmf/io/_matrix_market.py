"""Matrix Market files: SciPy parses them, and only what it can be trusted with gets there.

Its compiled reader ends the interpreter on sizes of zero, bytes that are no text and a last line
without an end, and takes memory before it knows whether the entries are there.
"""

import io
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from fnmf.io._arrays import array_table
from fnmf.io._guard import PACKED_RATIO, check_bytes, check_shape
from fnmf.io._messages import Problems, TableError, refusing
from fnmf.io._open import open_bytes
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table, compact_csr

_MOST = 1 << 31
_LONGEST_LINE = 1 << 16
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_BYTES_OF_NUMBERS = b"0123456789+-.eE \t\r\nnaifNAIF"


def read_matrix_market(
    path: Path, options: ReadOptions, problems: Problems, progress: Progress
) -> Table:
    """A matrix in Matrix Market format, compressed or not; rows are samples."""
    return array_table(path, read_matrix(path), None, options, problems)


def read_matrix(path: Path) -> Any:
    """The matrix as a CSR array, or as a dense array if it is stored so."""
    import scipy.io

    with open_bytes(path) as file:
        head, n_lines = _checked_head(path, file)
        body = io.BufferedReader(_Numbers(file, path, head, n_lines))
        with refusing(str(path)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matrix: Any = scipy.io.mmread(body)
    return compact_csr(matrix) if hasattr(matrix, "tocsr") else matrix


def _checked_head(path: Path, file: BinaryIO) -> tuple[bytes, int]:
    """Banner, comments as empty ones, and sizes, which are checked; the number of their lines."""
    words = file.readline(_LONGEST_LINE).decode("latin-1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise TableError(f"{path} does not start with '%%MatrixMarket matrix ...'")
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array"):
        raise TableError(f"{path}, line 1: the layout {layout!r} is not known")
    if field not in _FIELDS or (layout == "array" and field == "pattern"):
        raise TableError(f"{path} holds {field} entries; real numbers are needed")
    if symmetry not in ("general", "symmetric"):
        raise TableError(f"{path} is stored as {symmetry}; store it as general")
    number, line = 2, file.readline(_LONGEST_LINE)
    while line and (line.startswith(b"%") or line.isspace()):
        number, line = number + 1, file.readline(_LONGEST_LINE)
    sizes = line.split()
    if len(sizes) != (3 if layout == "coordinate" else 2) or not all(map(bytes.isdigit, sizes)):
        raise TableError(f"{path}, line {number} should hold the sizes of the matrix")
    found = [int(size[:20]) for size in sizes]
    if max(found) >= _MOST:
        text = f"{path}, line {number} declares a size of {max(found):.3g}"
        raise TableError(f"{text}; below {_MOST:,} can be read")
    n_rows, n_columns = found[:2]
    if 0 in (n_rows, n_columns):
        raise TableError(f"{path}, line {number} declares {n_rows} rows and {n_columns} columns")
    if symmetry == "symmetric" and n_rows != n_columns:
        raise TableError(f"{path} is called symmetric and is not square")
    stored = n_rows * n_columns if layout == "array" else found[2]
    check_bytes(path, stored * 8, PACKED_RATIO)
    check_shape(path, n_rows, n_columns, stored)
    banner = f"%%MatrixMarket {' '.join(words[1:])}\n".encode() + b"%\n" * (number - 2)
    return banner + b" ".join(sizes) + b"\n", number


class _Numbers(io.RawIOBase):
    """The file as SciPy is to see it: a checked head, then nothing but lines of numbers."""

    def __init__(self, file: BinaryIO, path: Path, head: bytes, n_lines: int) -> None:
        self._file, self._path, self._left, self._line = file, path, head, n_lines
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._left and not self._ended:
            self._left = self._next()
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def _next(self) -> bytes:
        data = self._file.read(1 << 16)
        if strange := data.translate(None, _BYTES_OF_NUMBERS):
            number = self._line + data[: data.index(strange[:1])].count(b"\n") + 1
            raise TableError(f"{self._path}, line {number} should hold numbers only")
        self._line += data.count(b"\n")
        self._ended = not data
        # The last line gets an end.
        return data or b"\n"
