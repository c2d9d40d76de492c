"""Folders that are tables: images, and matrices of cells as 10x Genomics stores them."""

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fnmf.io._arrays import array_table
from fnmf.io._collect import RowBuffer
from fnmf.io._guard import COLUMNAR_RATIO, FREE_SIZE
from fnmf.io._matrix_market import read_matrix
from fnmf.io._messages import Note, Problems, TableError, listed, optional, refusing
from fnmf.io._open import open_lines
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table, compact_csr

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp")
_FOLDER = "folder"


def is_one_table(path: Path) -> bool:
    """Whether a folder is a table by itself: other tables in it belong to its matrix or images."""
    return _one_of(path, "matrix.mtx") is not None or next(_images(path), None) is not None


def read_folder(path: Path, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    """Cells of a 10x folder, or the images of any other folder."""
    if _one_of(path, "matrix.mtx") is not None:
        return _read_cells(path, options, problems)
    images = sorted(_images(path))
    if images:
        return _read_images(path, images, options, progress)
    raise TableError(
        f"{path} is a folder with neither images nor matrix.mtx; give the file that holds the table"
    )


def _images(folder: Path) -> Iterator[Path]:
    files = folder.rglob("*")
    return (file for file in files if file.suffix.lower() in _IMAGES and file.is_file())


def _one_of(folder: Path, *names: str) -> Path | None:
    found = (folder / f"{name}{ending}" for name in names for ending in ("", ".gz"))
    return next((file for file in found if file.is_file()), None)


def _read_cells(path: Path, options: ReadOptions, problems: Problems) -> Table:
    """Genes are the rows of the matrix, and cells its columns; here cells are the samples."""
    matrix = _one_of(path, "matrix.mtx")
    assert matrix is not None
    genes = _one_of(path, "features.tsv", "genes.tsv")
    cells = _one_of(path, "barcodes.tsv")
    if genes is None or cells is None:
        raise TableError(
            f"{path} has a matrix.mtx, but lacks features.tsv or barcodes.tsv beside it"
        )
    X: Any = read_matrix(matrix)
    columns = _lines(genes)
    symbols = [row[1] if len(row) > 1 else row[0] for row in columns]
    often = Counter(symbols)
    names = [
        f"{symbol} ({row[0]})" if often[symbol] > 1 else symbol
        for symbol, row in zip(symbols, columns, strict=True)
    ]
    ids = [row[0] for row in _lines(cells)]
    if X.shape != (len(names), len(ids)):
        raise TableError(
            f"{matrix} has shape {X.shape}, with {len(names)} genes and {len(ids)} cells beside it"
        )
    turned = np.ascontiguousarray(X.T) if isinstance(X, np.ndarray) else compact_csr(X.T)
    table = array_table(path, turned, names, options.features_only(), problems)
    table.ids = ids
    return table


def _lines(path: Path) -> list[list[str]]:
    file, lines = open_lines(path, "utf-8")
    with file:
        return [line.rstrip("\r\n").split("\t") for line in lines if line.strip()]


def _read_images(path: Path, files: list[Path], options: ReadOptions, progress: Progress) -> Table:
    """Every image is a row of grey values, 0 to 255, named by its file."""
    pillow = optional("PIL.Image", f"{path}: reading images", "images")
    limit = max(FREE_SIZE, COLUMNAR_RATIO * sum(file.stat().st_size for file in files))
    first = _grey(pillow, files[0], limit // len(files))
    height, width = first.shape
    buffer = RowBuffer(first.size, np.dtype(options.dtype))
    for number, file in enumerate(files, start=1):
        grey = _grey(pillow, file, limit // len(files))
        if grey.shape != first.shape:
            raise TableError(
                f"{file} has {grey.shape[0]} x {grey.shape[1]} pixels, and {files[0]} "
                f"{height} x {width}; images of one size are needed"
            )
        buffer.extend(1)[0] = grey.ravel()
        progress(number)
    names = [f"pixel {y},{x}" for y in range(height) for x in range(width)]
    ids = [str(file.relative_to(path)) for file in files]
    table = Table(path, buffer.finish(), names, ids=ids, image_shape=(height, width))
    folders = [file.relative_to(path).parts[0] for file in files if file.parent != path]
    if options.label_column == _FOLDER and len(folders) == len(files):
        table.labels = folders
    elif options.label_column:
        raise TableError(f"{path}: the only classes images can have are their folders: {_FOLDER!r}")
    elif len(folders) == len(files) and 1 < len(set(folders)) < len(files):
        shown = listed(sorted(set(folders)), 4)
        table.notes.append(Note(f"the images lie in folders ({shown})", "folders"))
    return table


def _grey(pillow: Any, file: Path, limit: int) -> np.ndarray:
    with refusing(f"{file} is not a usable image"), warnings.catch_warnings():
        warnings.simplefilter("error", pillow.DecompressionBombWarning)
        with pillow.open(file) as image:
            if image.width * image.height * 8 > max(limit, FREE_SIZE // 8):
                raise ValueError(f"{image.width} x {image.height} pixels are too many")
            grey = np.asarray(image.convert("L"))
    return grey
