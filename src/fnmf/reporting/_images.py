"""Matrices as small PNG images inside the page; the format is simple enough to write by hand."""

import base64
import struct
import zlib

import numpy as np

# Dark blue over green to yellow, even in lightness, readable in print and without red-green vision.
_STOPS = np.array(
    [
        [68, 1, 84],
        [65, 68, 135],
        [42, 120, 142],
        [34, 168, 132],
        [122, 209, 81],
        [253, 231, 37],
    ],
    dtype=float,
)


def heat_image(values: np.ndarray) -> str:
    """A data URI of the matrix with values from low (dark) to high (bright)."""
    values = np.nan_to_num(np.asarray(values, dtype=float))
    low, high = (values.min(), values.max()) if values.size else (0.0, 0.0)
    scaled = (values - low) / (high - low) if high > low else np.zeros_like(values)
    place = scaled * (len(_STOPS) - 1)
    below = np.minimum(place.astype(int), len(_STOPS) - 2)
    share = (place - below)[..., None]
    colours = _STOPS[below] * (1 - share) + _STOPS[below + 1] * share
    return (
        "data:image/png;base64," + base64.b64encode(_png(colours.round().astype(np.uint8))).decode()
    )


def _png(pixels: np.ndarray) -> bytes:
    height, width, _ = pixels.shape
    # Every row starts with a byte that says: no filter.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
