"""The bytes of a model file: a fixed head, a JSON header, then raw arrays.

======  =====================================================================
offset  content (integers are little-endian)
======  =====================================================================
0       eight magic bytes
8       format version, 32 bits; then 32 bits of zero
16      length of the header, 64 bits
24      length of the payload, 64 bits
32      SHA-256 of bytes 0-31 and of everything from byte 64 on
64      header: JSON in UTF-8, padded with spaces
...     payload: the arrays in the order of the header, each padded to 64 bytes
======  =====================================================================

Nothing is compressed, so a file cannot ask for more memory than its own size, and array
positions follow from the declared shapes, so they cannot overlap.
"""

import hashlib
import json
import os
import stat
import struct
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fnmf._atomic import atomic_file
from fnmf.persistence._dtypes import check_content, dtype_from_json, dtype_to_json

FORMAT_VERSION = 1
MAGIC = b"\x89FNMF\r\n\x1a"

_HEAD = struct.Struct("<8sIIQQ32s")
_ALIGN = 64
_DIGEST_AT = 32
_CHUNK = 1 << 20
# JSON takes many times its size in memory once parsed; large things belong in the payload.
MAX_HEADER = 8 << 20
_MAX_ARRAYS = 10_000
_MAX_DIMENSIONS = 8


class ModelFileError(ValueError):
    """A model file that cannot be written or must not be read; the message says why."""


def write_container(path: Path, header: dict[str, Any], arrays: list[np.ndarray]) -> None:
    """Write header and arrays to ``path``; the file appears whole or not at all."""
    specs = [
        {"dtype": dtype_to_json(a.dtype), "shape": list(a.shape), "order": _order(a)}
        for a in arrays
    ]
    text = json.dumps({**header, "arrays": specs}, allow_nan=False).encode()
    text += b" " * (-len(text) % _ALIGN)
    if len(text) > MAX_HEADER:
        raise ModelFileError(
            f"The model's parameters take {len(text)} bytes as JSON, more than {MAX_HEADER}; "
            "pass large parameters as NumPy arrays."
        )
    payload = sum(_padded(a.nbytes) for a in arrays)
    head = _HEAD.pack(MAGIC, FORMAT_VERSION, 0, len(text), payload, bytes(32))[:_DIGEST_AT]
    digest = hashlib.sha256(head)
    with atomic_file(path) as file:
        file.write(head + bytes(32))
        for chunk in (text, *_payload(arrays)):
            digest.update(chunk)
            file.write(chunk)
        file.seek(_DIGEST_AT)
        file.write(digest.digest())


def read_container(path: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Header and arrays of the file at ``path``, after every check that needs no estimator."""
    with open(path, "rb") as file:
        header, specs, start = _open_checked(file, path)
        file.seek(start)
        arrays = [_read_array(file, spec, path) for spec in specs]
    return header, arrays


def _payload(arrays: list[np.ndarray]) -> Iterator[Any]:
    for array in arrays:
        flat = array.ravel(order="F" if _order(array) == "F" else "C")
        yield flat.view(np.uint8).data if flat.size else b""
        yield b"\0" * (_padded(array.nbytes) - array.nbytes)


def _order(array: np.ndarray) -> str:
    # The layout decides the order of sums in BLAS, so it is part of a bit-exact round trip.
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _padded(size: int) -> int:
    return size + -size % _ALIGN


def _open_checked(file: BinaryIO, path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(f"{path} is not a regular file.")
    head = file.read(_HEAD.size)
    if head[:8] != MAGIC[: len(head)] or not head:
        raise ModelFileError(f"{path} is not a model file of fnmf.")
    if len(head) < _HEAD.size:
        raise ModelFileError(f"{path} is truncated: it ends after {len(head)} bytes.")
    _, version, reserved, header_size, payload_size, digest = _HEAD.unpack(head)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has format version {version}, and this fnmf reads versions up to "
            f"{FORMAT_VERSION}; upgrade fnmf to load it."
        )
    if version < 1 or reserved:
        raise ModelFileError(f"{path} is damaged: its head makes no sense.")
    if header_size > MAX_HEADER:
        raise ModelFileError(
            f"{path} declares a header of {header_size} bytes; at most {MAX_HEADER} are allowed."
        )
    expected = _HEAD.size + header_size + payload_size
    if expected != status.st_size:
        word = "truncated" if status.st_size < expected else "too long"
        raise ModelFileError(
            f"{path} is {word}: {expected} bytes are declared, the file has {status.st_size}."
        )
    _check_digest(file, head[:_DIGEST_AT], digest, path)
    file.seek(_HEAD.size)
    header = _parse(file.read(header_size), path)
    specs = _checked_specs(header.pop("arrays", None), payload_size, path)
    return header, specs, _HEAD.size + header_size


def _check_digest(file: BinaryIO, head: bytes, expected: bytes, path: Path) -> None:
    digest = hashlib.sha256(head)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    if digest.digest() != expected:
        raise ModelFileError(
            f"{path} is damaged: its content does not match its checksum. "
            "Copy or download it again, or save the model again."
        )


def _parse(text: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is damaged: its header is not valid JSON.") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{path} is damaged: its header is not a JSON object.")
    return header


def _checked_specs(specs: Any, payload_size: int, path: Path) -> list[dict[str, Any]]:
    if not isinstance(specs, list) or len(specs) > _MAX_ARRAYS:
        raise ModelFileError(f"{path} is damaged: its list of arrays makes no sense.")
    checked, total = [], 0
    for spec in specs:
        shape = spec.get("shape") if isinstance(spec, dict) else None
        if (
            not isinstance(shape, list)
            or len(shape) > _MAX_DIMENSIONS
            or not all(type(size) is int and 0 <= size < 1 << 48 for size in shape)
            or spec.get("order") not in ("C", "F")
        ):
            raise ModelFileError(f"{path} is damaged: an array is declared without a valid shape.")
        try:
            dtype = dtype_from_json(spec.get("dtype"))
        except ValueError as error:
            raise ModelFileError(f"{path} cannot be read: {error}") from error
        size = prod(shape) * dtype.itemsize
        total += _padded(size)
        checked.append(
            {"dtype": dtype, "shape": tuple(shape), "order": spec["order"], "size": size}
        )
    if total != payload_size:
        raise ModelFileError(
            f"{path} is damaged: its arrays need {total} bytes, and it holds {payload_size}."
        )
    return checked


def _read_array(file: BinaryIO, spec: dict[str, Any], path: Path) -> np.ndarray:
    count = prod(spec["shape"])
    flat = np.empty(count, dtype=spec["dtype"])
    if count and file.readinto(flat.view(np.uint8)) != spec["size"]:  # type: ignore[attr-defined]
        raise ModelFileError(f"{path} is truncated.")
    file.seek(_padded(spec["size"]) - spec["size"], os.SEEK_CUR)
    try:
        check_content(flat)
        return flat.reshape(spec["shape"], order=spec["order"])
    except ValueError as error:
        raise ModelFileError(f"{path} is damaged: {error}") from error
