"""One door for every kind of table."""

import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fnmf.io._apart import note_genes_in_rows
from fnmf.io._dialect import Given
from fnmf.io._open import check_readable
from fnmf.io._options import Options
from fnmf.io._table import Roles, Table
from fnmf.io._told import TableError, one_line, raise_all
from fnmf.validation import check_choice

# Ending, and the module and function that read it; anything else is text. Imported when needed.
_READERS = {
    ".npy": "_arrays.read_npy",
    ".npz": "_arrays.read_npz",
    ".mtx": "_arrays.read_matrix_market",
    ".mm": "_arrays.read_matrix_market",
    ".parquet": "_parquet.read_parquet",
    ".pq": "_parquet.read_parquet",
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
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    exclude: Sequence[str] = (),
    required: Sequence[str] = (),
    texts: Sequence[str] = (),
    keep_texts: bool = False,
    transpose: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    na_values: Sequence[str] = (),
    duplicates: str = "error",
    layer: str | None = None,
    raw: bool = False,
    sheet: str | None = None,
    dtype: type = np.float64,
    progress: Callable[[int], None] | None = None,
    problems: list[TableError] | None = None,
) -> Table:
    """Read the numeric columns of a file.

    Parameters
    ----------
    path : str or path-like
        CSV, TSV or other delimited text (also ``.gz``, ``.bz2``, ``.xz`` or a zip archive of one
        file), Parquet, ``.xlsx``, ``.npy`` (mapped, not read), ``.npz``, Matrix Market, ``.h5ad``,
        a folder of images, or a folder with ``matrix.mtx``, ``features.tsv`` and ``barcodes.tsv``.
        Arrays of three dimensions are images.
    id_column, label_column : str, default=None
        Columns that name the rows and their known classes. They are kept apart from the data.
        In a ``.npz`` file they name arrays, in ``.h5ad`` columns of ``obs``. Without
        ``id_column`` a column of text without repetition names the rows.
    exclude : sequence of str, default=()
        Columns to leave out.
    required : sequence of str, default=()
        Columns of a text file that are taken as numbers whatever they look like, if they exist.
    texts : sequence of str, default=()
        Columns that are taken as text whatever they look like, if they exist, and kept.
    keep_texts : bool, default=False
        Keep all columns of text, so that :meth:`Recipe.learn` turns them into features.
    transpose : bool, default=False
        The samples are the columns of the file, as where genes are rows.
    delimiter, decimal, thousands, header, encoding : default=None
        How a text file is written. None detects it, delimiter and marks together; where the file
        can be read in two ways, a note says which was taken. ``thousands=""`` means that there
        is no such mark.
    na_values : sequence of str, default=()
        Cells that count as missing, beyond the usual ones.
    duplicates : {"error", "number"}, default="error"
        What to do about columns of the same name.
    layer : str, default=None
        Layer of an ``.h5ad`` file to read instead of its main matrix.
    raw : bool, default=False
        Read the raw data of an ``.h5ad`` file.
    sheet : str, default=None
        Sheet of an Excel workbook; the first one by default.
    dtype : {numpy.float64, numpy.float32}
        Type of the numbers read from text and Parquet.
    progress : callable, default=None
        Called with the number of rows read so far.
    problems : list, default=None
        Collects what is wrong with single cells and columns. By default all of it is raised
        together.

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
    check_choice("duplicates", duplicates, ("error", "number"))
    options = Options(
        roles=Roles(
            id_column,
            label_column,
            tuple(exclude),
            frozenset() if transpose else frozenset(required),
            frozenset(texts),
        ),
        given=Given(delimiter, decimal, thousands, header),
        encoding=encoding,
        dtype=dtype,
        na_values=frozenset(value.strip() for value in na_values),
        duplicates=duplicates,
        keep_texts=keep_texts or bool(texts),
        layer=layer,
        raw=raw,
        sheet=sheet,
        progress=progress,
    )
    path = Path(path)
    found: list[TableError] = []
    table = _read(path, options, found)
    if transpose:
        table.transpose(duplicates, found)
    else:
        note_genes_in_rows(table)
    if problems is None:
        raise_all(found)
    else:
        problems += found
    return table


def _read(path: Path, options: Options, problems: list[TableError]) -> Table:
    if not path.is_dir():
        check_readable(path)
    reader = _reader(path)
    try:
        return reader(path, options, problems)
    except (TableError, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        # Decoders written by others fail in their own ways on files that somebody made up.
        raise TableError(
            f"{path} is damaged, or not what its ending says ({type(error).__name__}: "
            f"{one_line(error)})"
        ) from error


def _reader(path: Path) -> Callable[[Path, Options, list[TableError]], Table]:
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
