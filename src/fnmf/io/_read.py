"""One door for every kind of table."""

import importlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fnmf.io._columns import note_genes_in_rows
from fnmf.io._messages import Problems, TableError, one_line, report
from fnmf.io._open import check_readable
from fnmf.io._options import Progress, ReadOptions
from fnmf.io._table import Table

Reader = Callable[[Any, ReadOptions, Problems, Progress], Table]
# Ending, and the module and function that read it; anything else is text. Imported when needed.
_READERS = {
    ".npy": "_arrays.read_npy",
    ".npz": "_arrays.read_npz",
    ".mtx": "_matrix_market.read_matrix_market",
    ".mm": "_matrix_market.read_matrix_market",
    ".parquet": "_frames.read_parquet",
    ".pq": "_frames.read_parquet",
    ".h5ad": "_h5ad.read_h5ad",
    ".h5": "_h5ad.read_h5ad",
    ".hdf5": "_h5ad.read_h5ad",
    ".xlsx": "_xlsx.read_xlsx",
    ".xlsm": "_xlsx.read_xlsx",
}
READABLE = (".csv", ".tsv", ".tab", ".txt", *_READERS)
_PACKED = (".gz", ".bz2", ".xz", ".zip")
_READ_PACKED = (".mtx", ".mm")


def read_table(
    source: Any,
    options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    problems: list[TableError] | None = None,
    **choices: Any,
) -> Table:
    """A table of numbers from a file or a data frame.

    Parameters
    ----------
    source : str, path-like or data frame
        CSV, TSV or other delimited text (also ``.gz``, ``.bz2``, ``.xz`` or a zip archive of one
        file), Parquet, ``.xlsx``, ``.npy`` (mapped, not read), ``.npz``, Matrix Market, ``.h5ad``,
        a folder of images, or a folder with ``matrix.mtx``, ``features.tsv`` and ``barcodes.tsv``.
        Arrays of three dimensions are images. Or a frame of pandas, Polars, PyArrow or DuckDB:
        numbers and booleans are numbers, everything else is text.
    options : ReadOptions, default=None
        How to read.
    progress : callable, default=None
        Called with the number of rows read so far.
    problems : list, default=None
        Collects what is wrong with single cells and columns. By default all of it is raised
        together.
    **choices
        Fields of :class:`ReadOptions`, in place of those in ``options``.

    Returns
    -------
    Table
        Numbers, names, ids, labels and notes on what was decided.

    Raises
    ------
    TableError
        With the file, the line or row, the column, what was found and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fnmf.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "shop.csv"
    ...     _ = path.write_text("name;bread;milk\\nAnn;1,5;2\\nBob;0;3\\n")
    ...     table = read_table(path, id_column="name")
    >>> table.names, table.ids, table.X.tolist()
    (['bread', 'milk'], ['Ann', 'Bob'], [[1.5, 2.0], [0.0, 3.0]])
    """
    options = replace(options or ReadOptions(), **choices)
    if options.transpose:
        # What is required are columns of the table that is turned.
        options = replace(options, required=())
    found: list[TableError] = []
    table = _read(source, options, found, progress or (lambda n_rows: None))
    if options.transpose:
        table.transpose(options.duplicates, found)
    else:
        note_genes_in_rows(table)
    report(found, problems)
    return table


def _read(source: Any, options: ReadOptions, problems: Problems, progress: Progress) -> Table:
    if not isinstance(source, (str, os.PathLike)):
        from fnmf.io._frames import read_frame

        return read_frame(source, options, problems, progress)
    path = Path(source)
    if not path.is_dir():
        check_readable(path)
    reader = _reader(path)
    try:
        return reader(path, options, problems, progress)
    except (TableError, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        # Decoders written by others fail in their own ways on files that somebody made up.
        raise TableError(
            f"{path} is damaged, or not what its ending says ({type(error).__name__}: "
            f"{one_line(error)})"
        ) from error


def _reader(path: Path) -> Reader:
    if path.is_dir():
        from fnmf.io._folders import read_folder

        return read_folder
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in _PACKED
    kind = suffixes[-2] if packed and len(suffixes) > 1 else "".join(suffixes[-1:])
    if packed and kind in _READERS and kind not in _READ_PACKED:
        raise TableError(f"{path} is packed; unpack it first")
    module, _, name = _READERS.get(kind, "_csv.read_csv").partition(".")
    return getattr(importlib.import_module(f"fnmf.io.{module}"), name)
