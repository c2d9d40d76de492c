"""One door for every kind of table."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fnmf.io._open import check_readable
from fnmf.io._table import Roles, Table, TableError

READABLE = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".npy", ".npz", ".mtx", ".h5ad")
_PACKED = (".gz", ".bz2", ".xz", ".zip")


def read_table(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    exclude: Sequence[str] = (),
    required: Sequence[str] = (),
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    dtype: type = np.float64,
    progress: Callable[[int], None] | None = None,
) -> Table:
    """Read the numeric columns of a file.

    Parameters
    ----------
    path : str or path-like
        CSV, TSV or other delimited text (also ``.gz``, ``.bz2``, ``.xz`` or a zip archive of one
        file), Parquet, ``.npy`` (mapped, not read), ``.npz``, Matrix Market or ``.h5ad``.
    id_column, label_column : str, default=None
        Columns that name the rows and their known classes. They are kept apart from the data.
        In a ``.npz`` file they name arrays, in ``.h5ad`` columns of ``obs``.
    exclude : sequence of str, default=()
        Columns to leave out.
    required : sequence of str, default=()
        Columns of a text file that are taken as numbers whatever they look like, if they exist.
    delimiter, header, encoding : default=None
        How a text file is written. None detects it.
    dtype : {numpy.float64, numpy.float32}
        Type of the numbers read from text and Parquet.
    progress : callable, default=None
        Called with the number of rows read so far.

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
    path = Path(path)
    check_readable(path)
    roles = Roles(id_column, label_column, tuple(exclude), frozenset(required))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in _PACKED
    kind = suffixes[-2] if packed and len(suffixes) > 1 else "".join(suffixes[-1:])
    if kind in (".npy", ".npz", ".parquet", ".h5ad") and packed:
        raise TableError(f"{path} is packed; unpack it first.")
    if kind == ".npy":
        from fnmf.io._arrays import read_npy

        return read_npy(path, roles)
    if kind == ".npz":
        from fnmf.io._arrays import read_npz

        return read_npz(path, roles)
    if kind in (".mtx", ".mm"):
        from fnmf.io._arrays import read_matrix_market

        return read_matrix_market(path, roles)
    if kind in (".parquet", ".pq"):
        from fnmf.io._parquet import read_parquet

        return read_parquet(path, roles, dtype=dtype, progress=progress)
    if kind in (".h5ad", ".h5", ".hdf5"):
        from fnmf.io._h5ad import read_h5ad

        return read_h5ad(path, roles)
    from fnmf.io._csv import read_csv

    return read_csv(
        path,
        roles,
        delimiter=delimiter,
        header=header,
        encoding=encoding,
        dtype=dtype,
        progress=progress,
    )
