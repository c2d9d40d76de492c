"""Matrices with orthonormal columns."""

import numpy as np


def polar_factor(matrix: np.ndarray) -> np.ndarray:
    """The V with VᵀV = I that maximises tr(VᵀN): P Qᵀ of the thin SVD N = P Ω Qᵀ."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right


def random_orthonormal(n_rows: int, n_columns: int, generator: np.random.Generator) -> np.ndarray:
    """Uniformly distributed matrix with orthonormal columns (n_rows ≥ n_columns)."""
    q, r = np.linalg.qr(generator.standard_normal((n_rows, n_columns)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)
