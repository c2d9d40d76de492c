"""A sparse matrix whose three arrays stay on disk."""

import json
from pathlib import Path
from typing import Self

import numpy as np
import scipy.sparse as sp

_ROWS_AT_ONCE = 65536
_MALFORMED = "X is a malformed CSR matrix"
_PARTS = ("data", "indices", "indptr")


class MappedCSR:
    """CSR matrix over memory-mapped arrays, for sparse data larger than memory.

    Parameters
    ----------
    data, indices, indptr : ndarray
        The arrays of the CSR format, usually opened with ``numpy.load(..., mmap_mode="r")``.
    shape : tuple of int
        Number of samples and features.

    Examples
    --------
    >>> import tempfile
    >>> import scipy.sparse as sp
    >>> from fnmf import MappedCSR
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     MappedCSR.write(sp.eye_array(3, format="csr"), folder)
    ...     X = MappedCSR.open(folder)
    ...     X.shape
    (3, 3)
    """

    def __init__(
        self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
    ) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = data.dtype

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        return 2

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Map the matrix that :meth:`write` stored in ``folder``."""
        folder = Path(folder)
        shape = json.loads((folder / "shape.json").read_text(encoding="utf-8"))
        data, indices, indptr = (
            np.load(folder / f"{part}.npy", mmap_mode="r", allow_pickle=False) for part in _PARTS
        )
        return cls(data, indices, indptr, shape=(shape[0], shape[1]))

    @staticmethod
    def write(X: sp.csr_array | sp.csr_matrix, folder: str | Path) -> None:
        """Store a CSR matrix as three ``.npy`` files and its shape."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for part in _PARTS:
            np.save(folder / f"{part}.npy", getattr(X, part), allow_pickle=False)
        (folder / "shape.json").write_text(
            json.dumps([int(size) for size in X.shape]), encoding="utf-8"
        )

    def check(self) -> None:
        """Raise ``ValueError`` unless the arrays form a canonical CSR matrix."""
        n, d = self.shape
        nnz = len(self.indices)
        if self.indptr.shape != (n + 1,) or self.indptr[0] != 0 or self.indptr[-1] != nnz:
            raise ValueError(
                f"X is a malformed CSR matrix: indptr does not fit {n} rows, {nnz} entries."
            )
        if len(self.data) != nnz:
            raise ValueError(
                f"X is a malformed CSR matrix: {len(self.data)} values, {nnz} indices."
            )
        for start in range(0, n, _ROWS_AT_ONCE):
            pointers = np.asarray(self.indptr[start : start + _ROWS_AT_ONCE + 1])
            if (np.diff(pointers) < 0).any():
                raise ValueError(f"{_MALFORMED}: indptr decreases.")
            columns = np.asarray(self.indices[pointers[0] : pointers[-1]])
            if columns.size and (columns.min() < 0 or columns.max() >= d):
                raise ValueError(
                    f"X is a malformed CSR matrix: a column index is outside 0..{d - 1}."
                )
            rising = np.diff(columns) > 0
            first_of_row = pointers[1:-1] - pointers[0] - 1
            rising[first_of_row[(first_of_row >= 0) & (first_of_row < rising.size)]] = True
            if not rising.all():
                raise ValueError(
                    "X is not a canonical CSR matrix: column indices of a row must rise; "
                    "call sum_duplicates() before writing it."
                )

    def rows(self, start: int, stop: int) -> sp.csr_array:
        """Rows ``start`` to ``stop`` as an array in memory."""
        pointers = np.asarray(self.indptr[start : stop + 1])
        span = slice(int(pointers[0]), int(pointers[-1]))
        return sp.csr_array(
            (np.asarray(self.data[span]), np.asarray(self.indices[span]), pointers - pointers[0]),
            shape=(stop - start, self.shape[1]),
        )
