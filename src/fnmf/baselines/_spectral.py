"""The smallest eigenvectors of a graph Laplacian, without a dense eigenproblem.

A graph with r components has the eigenvalue 0 exactly r times, and its eigenvectors are known:
the indicators of the components. They are written down, and only the remaining eigenvectors
are computed, by Lanczos iteration in the space orthogonal to them.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from fnmf.baselines._matrix import is_sparse
from fnmf.baselines._rank import components

# Beyond this many stored values a factorisation costs more than plain Lanczos steps.
_FACTORISE_UP_TO = 2_000_000
_SHIFT = 1e-6


class ImplicitLaplacian:
    """Laplacian of (S + Sᵀ)/2 that is only ever multiplied with; S is not copied."""

    def __init__(self, weights: sp.csr_array) -> None:
        self.weights, self.shape = weights, weights.shape
        self.degrees = 0.5 * (weights.sum(axis=1) + weights.sum(axis=0))

    def diagonal(self) -> np.ndarray:
        return self.degrees - self.weights.diagonal()

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        degrees = self.degrees if vectors.ndim == 1 else self.degrees[:, None]
        both = self.weights @ vectors
        both += self.weights.T @ vectors
        return degrees * vectors - 0.5 * both


Laplacian = sp.csr_array | ImplicitLaplacian


def laplacian(weights: sp.csr_array) -> Laplacian:
    """Laplacian of (S + Sᵀ)/2; implicit if S is so full that it will not be factorised."""
    if 2 * weights.nnz > _FACTORISE_UP_TO:
        return ImplicitLaplacian(weights)
    symmetric = sp.csr_array(0.5 * (weights + weights.T))
    return sp.csr_array(sp.diags_array(symmetric.sum(axis=1)) - symmetric)


def indicators(labels: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """Unit-length indicator of each component, the largest component first.

    With ``scale`` (the square roots of the degrees) these are null vectors of the normalised
    Laplacian; components of scale 0 have none.
    """
    values = np.ones(len(labels)) if scale is None else scale
    lengths = np.sqrt(np.bincount(labels, values**2))
    order = np.argsort(-np.bincount(labels), kind="stable")
    order = order[lengths[order] > 0]
    vectors = np.zeros((len(labels), len(order)))
    for column, component in enumerate(order):
        members = labels == component
        vectors[members, column] = values[members] / lengths[component]
    return vectors


def smallest_eigenvectors(
    matrix: Laplacian, n_vectors: int, null: np.ndarray, start: np.ndarray | None = None
) -> np.ndarray:
    """Orthonormal eigenvectors of the ``n_vectors`` smallest eigenvalues.

    Parameters
    ----------
    matrix : csr_array or ImplicitLaplacian of shape (n, n)
        Symmetric, positive semidefinite.
    n_vectors : int
        Eigenvectors wanted.
    null : ndarray of shape (n, r)
        Orthonormal basis of the null space. With r ≥ ``n_vectors`` its first columns are the
        answer, since all of them belong to the eigenvalue 0.
    start : ndarray of shape (n, any), optional
        Eigenvectors of a similar matrix; their sum starts the iteration.
    """
    n, missing = matrix.shape[0], n_vectors - null.shape[1]
    if missing <= 0:
        return null[:, :n_vectors]
    # ARPACK needs room for its Krylov space.
    if n <= 4 * n_vectors + 20:
        return np.hstack([null, _dense(matrix, missing, null)])
    first = (
        np.cos(np.arange(n)) if start is None else start.sum(axis=1) + 1e-3 * np.cos(np.arange(n))
    )
    apply = _inverse(matrix) if is_sparse(matrix) else _reflection(matrix)

    def deflated(vector: np.ndarray) -> np.ndarray:
        image = apply(_without(null, vector.ravel()))
        return _without(null, image)

    operator = LinearOperator((n, n), matvec=deflated, dtype=np.float64)
    values, vectors = eigsh(
        operator,
        missing,
        which="LA",
        v0=_without(null, first),
        ncv=min(n - 1, max(2 * missing + 20, 40)),
        tol=1e-10,
        maxiter=10_000,
    )
    vectors = _without(null, vectors[:, np.argsort(-values)])
    return np.hstack([null, np.linalg.qr(vectors)[0]])


def _without(null: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return vectors - null @ (null.T @ vectors)


def _inverse(matrix: sp.csr_array) -> Callable[[np.ndarray], np.ndarray]:
    """(L + shift)⁻¹: its largest eigenvalues are the smallest of L, and far apart."""
    shift = _SHIFT * max(float(matrix.diagonal().max()), np.finfo(float).tiny)
    shifted = sp.csc_array(matrix + shift * sp.eye_array(matrix.shape[0]))
    factors = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return factors.solve


def _reflection(matrix: Laplacian) -> Callable[[np.ndarray], np.ndarray]:
    """bound − L, with the bound of Gershgorin: the spectrum upside down."""
    bound = 2.0 * float(matrix.diagonal().max())
    return lambda vector: bound * vector - matrix @ vector


def _dense(matrix: Laplacian, missing: int, null: np.ndarray) -> np.ndarray:
    """Null vectors are lifted above the rest of the spectrum, which is then solved directly."""
    lift = 1.0 + 2.0 * float(matrix.diagonal().max())
    lifted = matrix @ np.eye(matrix.shape[0]) + lift * (null @ null.T)
    return eigh(lifted, subset_by_index=[0, missing - 1])[1]


def inverse_root(values: np.ndarray) -> np.ndarray:
    """1/√x, and 0 for 0: the scale of a normalised Laplacian."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def eigenmap(graph: sp.csr_array, n_vectors: int, *, trivial: bool) -> np.ndarray:
    """Solutions of L y = λ D y for the smallest λ; D^{-1/2} times those of the normalised L.

    Without the ``trivial`` one, which is constant, there are as many others. Samples that no edge
    reaches are at 0.
    """
    _, labels = components(graph)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale, roots = inverse_root(degrees), np.sqrt(degrees)
    normalised = sp.csr_array(
        sp.diags_array((degrees > 0).astype(float))
        - sp.diags_array(scale) @ graph @ sp.diags_array(scale)
    )
    null = indicators(labels, roots)
    n_wanted = min(n_vectors + (not trivial), len(labels))
    vectors = smallest_eigenvectors(normalised, n_wanted, null)
    if not trivial and null.shape[1] > 0:
        # The constant lies in the space of the indicators: turn it into the first axis, drop it.
        first = min(null.shape[1], n_wanted)
        constant = (roots / np.linalg.norm(roots))[:, None]
        turned = np.linalg.qr(np.hstack([constant, null]))[0][:, 1 : null.shape[1]]
        vectors = np.hstack([turned, vectors[:, first:]])[:, :n_vectors]
    return scale[:, None] * vectors


def polar_factor(matrix: np.ndarray) -> np.ndarray:
    """The V with VᵀV = I that maximises tr(VᵀN): P Qᵀ of the thin SVD N = P Ω Qᵀ."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right


def random_orthonormal(n_rows: int, n_columns: int, generator: np.random.Generator) -> np.ndarray:
    """Uniformly distributed matrix with orthonormal columns (n_rows ≥ n_columns)."""
    q, r = np.linalg.qr(generator.standard_normal((n_rows, n_columns)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)
