"""Dense and sparse data behind one name."""

import math
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp

Matrix = np.ndarray | sp.csr_array


def is_sparse(X: Any) -> TypeGuard[sp.csr_array]:
    """Whether X is a sparse array."""
    return bool(sp.issparse(X))


def dense(X: Any) -> np.ndarray:
    """X as an array."""
    return X.toarray() if is_sparse(X) else np.asarray(X)


def squared_norms(X: Matrix) -> np.ndarray:
    """Squared length of each row."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    rows = np.asarray(X)
    return np.einsum("ij,ij->i", rows, rows)


def unit_scale(X: Matrix) -> float:
    """Power of two that brings the largest value near 1; squares of X times it stay finite.

    Multiplying by it changes no digit.
    """
    values = X.data if is_sparse(X) else np.asarray(X)
    largest = float(np.abs(values).max(initial=0.0))
    return 2.0 ** -max(min(math.frexp(largest)[1], 1000), -1000)
