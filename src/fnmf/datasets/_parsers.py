"""From the original public files to arrays: samples as rows, classes counted from 0."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.ndimage import gaussian_filter

from fnmf.datasets._files import DataFileError
from fnmf.datasets._usps_subset import subset_rows

Arrays = dict[str, np.ndarray]
Originals = Mapping[str, bytes]


def _numbers(content: bytes, separator: str | None = None) -> np.ndarray:
    try:
        return np.loadtxt(io.BytesIO(content), delimiter=separator, ndmin=2)
    except (ValueError, UnicodeDecodeError) as error:
        raise DataFileError(f"the file is not a table of numbers: {error}") from error


def _only(originals: Originals) -> bytes:
    (content,) = originals.values()
    return content


def _matlab(content: bytes, names: list[str]) -> dict[str, np.ndarray]:
    # Matlab files are parsed only after their SHA-256 was proved: every such original has one.
    stream: Any = io.BytesIO(content)
    return loadmat(stream, variable_names=names)


def _faces(originals: Originals) -> Arrays:
    # Matlab stores images column by column; every image is made upright here.
    content = _matlab(_only(originals), ["fea", "gnd"])
    images = content["fea"].reshape(-1, 32, 32).transpose(0, 2, 1)
    y = content["gnd"].ravel().astype(np.int64) - 1
    return {"X": images.reshape(len(images), -1).astype(np.uint8), "y": y}


def orl(originals: Originals) -> Arrays:
    """ORL faces, 32 x 32."""
    return _faces(originals) | {"image_shape": np.array([32, 32])}


def yale(originals: Originals) -> Arrays:
    """Yale faces: the mean of each 2 x 2 block of the public 32 x 32 crop."""
    faces = _faces(originals)
    blocks = faces["X"].reshape(-1, 16, 2, 16, 2).astype(np.float32)
    return {
        "X": blocks.mean(axis=(2, 4)).reshape(len(blocks), -1),
        "y": faces["y"],
        "image_shape": np.array([16, 16]),
    }


def binary_alphadigits(originals: Originals) -> Arrays:
    """A cell array of 36 classes by 39 images of 20 x 16."""
    cells = _matlab(_only(originals), ["dat"])["dat"]
    images = np.stack([image for row in cells for image in row])
    names = np.array(list("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    return {
        "X": images.reshape(len(images), -1).astype(np.uint8),
        "y": np.repeat(np.arange(cells.shape[0]), cells.shape[1]),
        "image_shape": np.array([20, 16]),
        "class_names": names,
    }


def semeion(originals: Originals) -> Arrays:
    """256 pixels, then ten class indicators."""
    table = _numbers(_only(originals))
    return {
        "X": table[:, :256].astype(np.uint8),
        "y": table[:, 256:].argmax(axis=1).astype(np.int64),
        "image_shape": np.array([16, 16]),
    }


def cnae9(originals: Originals) -> Arrays:
    """The class first, then 856 word counts."""
    table = _numbers(_only(originals), ",")
    return {"X": table[:, 1:].astype(np.uint8), "y": table[:, 0].astype(np.int64) - 1}


def glass(originals: Originals) -> Arrays:
    """A number, nine measurements, the type; type 4 does not occur."""
    table = _numbers(_only(originals), ",")
    types, y = np.unique(table[:, 10].astype(np.int64), return_inverse=True)
    return {
        "X": table[:, 1:10].astype(np.float32),
        "y": y.astype(np.int64),
        "feature_names": np.array(["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]),
        "original_type": types,
    }


def mfeat_pix(originals: Originals) -> Arrays:
    """Pixel averages of 16 x 15; 200 rows a digit, 0 to 9 in order, no classes in the file."""
    table = _numbers(_only(originals))
    return {
        "X": table.astype(np.uint8),
        "y": np.repeat(np.arange(10), len(table) // 10),
        "image_shape": np.array([16, 15]),
    }


def usps(originals: Originals) -> Arrays:
    """The 1854 rows of the two public files, in thousandths, before smoothing."""
    table = np.vstack([_numbers(originals["zip.train"]), _numbers(originals["zip.test"])])
    rows = subset_rows(table[:, 0].astype(np.int64))
    return {
        "X": np.rint(1000 * table[rows, 1:]).astype(np.int16),
        "y": table[rows, 0].astype(np.int64),
        "image_shape": np.array([16, 16]),
    }


def smoothed_usps(raw: Arrays) -> Arrays:
    """The same digits, smoothed as the copy in the literature is (they agree to 1e-6)."""
    images = (raw["X"].reshape(-1, 16, 16) / 1000 + 1) / 2
    smooth = 2 * gaussian_filter(images, (0, 0.75, 0.75), mode="constant") - 1
    X = np.round(smooth, 6).astype(np.float32).reshape(len(images), -1)
    return raw | {"X": X}
