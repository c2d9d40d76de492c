"""From a matrix to its view."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data._csr import canonical, check_structure
from fnmf.data._dense import DenseView
from fnmf.data._mapped import MappedCSR
from fnmf.data._scaling import Scaling
from fnmf.data._sparse import SparseView
from fnmf.data._types import Data
from fnmf.data._views import View

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
