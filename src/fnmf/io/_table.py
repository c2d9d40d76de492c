"""What every reader returns, and the error they raise."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import check_structure
from fnmf.io._guard import check_shape
from fnmf.io._messages import Note, TableError, listed, one_line


@dataclass
class Table:
    """Numbers with the names of their rows and columns.

    Attributes
    ----------
    X : ndarray, memmap or csr_array of shape (n_samples, n_features)
        The numeric columns. Missing values are NaN until :func:`fnmf.io.clean` was called.
    names : list of str
        Names of the columns of ``X``.
    ids : list of str or None
        A name for each row, from the id column.
    labels : list of str or None
        Known classes, kept apart from the data.
    notes : list of str
        What was decided on the way, in plain words.
    lines : ndarray or None
        Line of the file on which each row starts, for text files.
    texts : dict of str to list of str
        Columns of text, kept if they are to be encoded.
    image_shape : tuple of int or None
        Height and width, if rows are images.
    id_name : str or None
        The column that names the rows.
    groups : dict of str to str
        The file of each column, if there were several.
    sources : dict of str to str
        The column of the file behind each feature that was made from text.
    """

    path: Path
    X: Any
    names: list[str]
    ids: list[str] | None = None
    labels: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    lines: np.ndarray | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    image_shape: tuple[int, int] | None = None
    id_name: str | None = None
    groups: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def place(self, row: int, column: int | None = None) -> str:
        """Where a value is, in words: file, line or row, column."""
        where = f"{self.path}, "
        where += f"line {self.lines[row]}" if self.lines is not None else f"row {row + 1}"
        return where if column is None else f"{where}, column {self.names[column]!r}"

    def transpose(self, duplicates: str, problems: list[TableError]) -> None:
        """Turn the table round: columns become samples, the names of the rows become features."""
        if self.labels is not None:
            raise TableError(f"{self.path}: columns that are samples cannot hold their classes")
        n_rows = self.X.shape[0]
        names = self.ids or [f"column {k}" for k in range(1, n_rows + 1)]
        names, notes = unique_names(names, self.path, duplicates, problems)
        turned: Any = self.X.T
        dense = not sp.issparse(self.X)
        self.X = np.ascontiguousarray(turned) if dense else sp.csr_array(turned)
        self.ids, self.names = list(self.names), names
        self.lines, self.texts, self.image_shape = None, {}, None
        if self.id_name is not None:
            # What named the rows names the features now, and nothing says what a sample is.
            told = _names_what(self.id_name, "rows")
            self.notes = [note for note in self.notes if note != told]
            self.notes.append(_names_what(self.id_name, "features"))
            self.id_name = None
        self.notes += notes

    def name_rows(self, ids: list[str], column: str) -> None:
        """Take a column of text that names the rows."""
        self.ids, self.id_name = ids, column
        self.notes.append(_names_what(column, "rows"))

    def leave_out(self, names: Iterable[str]) -> None:
        """Take columns out of the data; what is in memory is changed in place."""
        gone = set(names)
        kept = [k for k, name in enumerate(self.names) if name not in gone]
        if type(self.X) is np.ndarray:
            # The kept columns move to the left: a copy would double the memory.
            for target, source in enumerate(kept):
                if target != source:
                    self.X[:, target] = self.X[:, source]
            self.X = self.X[:, : len(kept)]
        elif len(kept) < len(self.names):
            self.X = self.X[:, kept]
        self.names = [self.names[k] for k in kept]

    def keep(self, rows: np.ndarray) -> None:
        """Keep only the rows that the mask selects."""
        self.X = self.X[rows]
        self.ids = self.ids and list(compress(self.ids, rows))
        self.labels = self.labels and list(compress(self.labels, rows))
        self.lines = None if self.lines is None else self.lines[rows]
        self.texts = {name: list(compress(cells, rows)) for name, cells in self.texts.items()}


def _names_what(column: str, what: str) -> Note:
    text, why = f"column {column!r} names the {what}", "all its values differ"
    return Note(text, "id_column", why=why, columns=[column])


def unique_names(
    names: Sequence[str], path: Path, duplicates: str, problems: list[TableError]
) -> tuple[list[str], list[Note]]:
    """Names without repetition: numbered on request, otherwise a problem."""
    if len(set(names)) == len(names):
        return list(names), []
    taken, at, renamed = set(names), dict[str, int](), list[str]()
    for position, name in enumerate(names, start=1):
        own = name
        if name in at:
            if duplicates != "number" and not renamed:
                text = f"{path} has two columns named {name!r} (columns {at[name]} and {position})"
                problems.append(TableError(text, "duplicates", column=name))
            own = next(free for k in count(2) if (free := f"{name} ({k})") not in taken)
            taken.add(own)
            renamed.append(own)
        at[own] = position
    text = f"columns of the same name are numbered: {listed(renamed)}"
    return list(at), [Note(text, why="each column needs a name of its own")]


def check_not_empty(n_rows: int, n_columns: int, path: Path, texts: Sequence[str] = ()) -> None:
    """Raise if nothing is left to cluster."""
    if n_rows == 0:
        raise TableError(f"{path} has no rows of data")
    if n_columns == 0:
        why = f" (columns of text: {listed(list(texts))})" if texts else ""
        text = f"{path} has no numeric column left{why}; at least one column of numbers is needed"
        raise TableError(text, "encode" if texts else "")


def compact_csr(matrix: Any) -> sp.csr_array:
    """The matrix as CSR, with 32-bit indices where they fit: scikit-learn takes no others."""
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    if max(csr.nnz, *csr.shape) <= np.iinfo(np.int32).max:
        parts = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        csr = sp.csr_array(parts, shape=csr.shape)
    return csr


def checked_csr(
    path: Path, kind: str, parts: Sequence[np.ndarray], shape: Sequence[int]
) -> sp.csr_array:
    """A CSR array from data, indices and indptr of a file, "csr" or "csc", every index checked."""
    build: Any = sp.csr_array if kind == "csr" else sp.csc_array
    check_shape(path, shape[0], shape[1], parts[0].size)
    try:
        if len(parts[2]) != shape[0 if kind == "csr" else 1] + 1:
            raise ValueError("indptr does not fit the shape")
        matrix = build(tuple(parts), shape=tuple(shape))
        check_structure(matrix, "it")
        return compact_csr(matrix)
    except Exception as error:
        raise TableError(f"{path} holds a malformed sparse matrix: {one_line(error)}") from error


def text(value: Any) -> str:
    """Bytes or anything else as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
