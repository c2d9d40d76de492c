"""Sparse matrices of the user's: structure checked in full, then brought to canonical CSR."""

from typing import Any

import scipy.sparse as sp

# Rows with a smaller share of entries other than 0 are quicker in CSR.
SPARSE_BELOW = 0.05


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
