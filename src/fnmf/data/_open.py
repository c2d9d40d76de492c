"""From a matrix of the user's to its view; sparse ones are checked in full and made canonical."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data._mapped import MappedCSR
from fnmf.data._sparse import SparseView
from fnmf.data._views import DenseView, Scaling, View

Data = np.ndarray | sp.csr_array | MappedCSR

# Rows with a smaller share of entries other than 0 are quicker in CSR.
SPARSE_BELOW = 0.05
# CSR data with at least this share of entries are worked on as dense ones, up to a size,
_FILLED, _MOST_BYTES = 0.1, 2**28
# and small ones however they are filled: then storage cannot decide between equal neighbours.
_SMALL_BYTES = 2**24


def view_of(X: Data, scaling: Scaling | None = None, columns: np.ndarray | None = None) -> View:
    """The view of a data matrix that has been validated; dense ones may lack some columns."""
    if isinstance(X, np.ndarray):
        return DenseView(X, scaling, columns)
    return SparseView(X, scaling)


def quickest(view: View) -> View:
    """The same data dense, if they are CSR and either small or well filled and not large."""
    size = view.shape[0] * view.shape[1] * view.dtype.itemsize
    most = _MOST_BYTES if view.filled >= _FILLED else _SMALL_BYTES
    return view.dense() if view.filled > 0 and size <= most else view


def as_view(X: Any, name: str = "X") -> View:
    """The view of anything like a matrix; its form is checked, its values are not."""
    if isinstance(X, View):
        return X
    if isinstance(X, MappedCSR):
        X.check()
        return view_of(X)
    is_sparse: bool = sp.issparse(X)
    if is_sparse:
        check_structure(X, name)
        _check_not_empty(X.shape, name)
        return view_of(canonical(sp.csr_array(X)))
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} has {array.ndim} dimension(s) and type {array.dtype}; "
            "a two-dimensional array of numbers is needed."
        )
    _check_not_empty(array.shape, name)
    return view_of(array)


def _check_not_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape}: at least one sample and feature is needed.")


def check_structure(matrix: Any, name: str) -> None:
    """SciPy and scikit-learn accept indices out of range; a compiled kernel must never see them."""
    if matrix.format not in ("csr", "csc", "bsr"):
        return
    try:
        # A matrix whose last pointer says that it is empty is looked at no closer there.
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
            raise ValueError("indptr decreases")
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"{name} is a malformed {matrix.format.upper()} matrix ({error}); "
            "rebuild it from its triplets with scipy.sparse.coo_array."
        ) from error


def canonical(matrix: sp.csr_array) -> sp.csr_array:
    """Sorted indices without duplicates; the user's own arrays are never sorted in place."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def is_dask(X: Any) -> bool:
    """Whether something is a Dask array; Dask need not be there to know that it is not."""
    return type(X).__module__.startswith("dask.array") and hasattr(X, "to_delayed")


def has_missing(X: Any) -> bool:
    """Whether dense data have missing cells."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return False
    step = max(1, (1 << 22) // max(X.shape[1], 1))
    return any(bool(np.isnan(np.min(X[a : a + step]))) for a in range(0, len(X), step) if X.size)
