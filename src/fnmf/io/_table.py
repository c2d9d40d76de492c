"""What every reader returns, and the error they raise."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


class TableError(ValueError):
    """A file that cannot be used as a table; the message says where and what to do."""


@dataclass(frozen=True)
class Roles:
    """Which columns the user set apart."""

    id_column: str | None = None
    label_column: str | None = None
    exclude: tuple[str, ...] = ()
    # Columns that must be numbers and must stay, whatever they look like.
    required: frozenset[str] = frozenset()

    def named(self) -> list[str]:
        """Every column the user named."""
        return [name for name in (self.id_column, self.label_column) if name] + list(self.exclude)

    def check(self, names: Sequence[str], path: Path) -> None:
        """Raise if a column the user named does not exist or has two roles."""
        if len(set(self.named())) < len(self.named()):
            raise TableError(
                "A column is named twice among --id-column, --label-column, --exclude."
            )
        for name in self.named():
            if name not in names:
                shown = ", ".join(repr(known) for known in list(names)[:12])
                more = ", ..." if len(names) > 12 else ""
                raise TableError(f"{path} has no column {name!r}; its columns are {shown}{more}.")


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
    """

    path: Path
    X: Any
    names: list[str]
    ids: list[str] | None = None
    labels: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    lines: np.ndarray | None = None

    def place(self, row: int, column: int | None = None) -> str:
        """Where a value is, in words: file, line or row, column."""
        where = f"{self.path}, "
        where += f"line {self.lines[row]}" if self.lines is not None else f"row {row + 1}"
        return where if column is None else f"{where}, column {self.names[column]!r}"

    def keep(self, rows: np.ndarray) -> None:
        """Keep only the rows that the mask selects."""
        self.X = self.X[rows]
        kept = np.flatnonzero(rows)
        self.ids = None if self.ids is None else [self.ids[i] for i in kept]
        self.labels = None if self.labels is None else [self.labels[i] for i in kept]
        self.lines = None if self.lines is None else self.lines[rows]


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise if two columns have the same name."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise TableError(
                f"{path} has two columns named {name!r} (columns {seen[name]} and {position}); "
                "rename one of them."
            )
        seen[name] = position


def check_not_empty(n_rows: int, n_columns: int, path: Path, notes: Sequence[str] = ()) -> None:
    """Raise if nothing is left to cluster."""
    if n_rows == 0:
        raise TableError(f"{path} has no rows of data.")
    if n_columns == 0:
        why = f" ({'; '.join(notes)})" if notes else ""
        raise TableError(
            f"{path} has no numeric column left{why}; at least one column of numbers is needed."
        )


def compact_csr(matrix: Any) -> sp.csr_array:
    """The matrix as CSR, with 32-bit indices where they fit: scikit-learn takes no others."""
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    if max(csr.nnz, *csr.shape) <= np.iinfo(np.int32).max:
        parts = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        csr = sp.csr_array(parts, shape=csr.shape)
    return csr
