"""Starting values for the basis U and the codes V."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.extmath import randomized_svd

from fnmf._labels import count_distinct
from fnmf._seeding import fit_kmeans
from fnmf._validation import Data
from fnmf.engine.mapped import MappedCSR
from fnmf.engine.views import working_dtype
from fnmf.graph._rows import ScaledRows

# k-means looks at no more rows than this; the others join the nearest centre.
_KMEANS_ROWS = 10_000
_KMEANS_STARTS = 5
_ROWS_AT_ONCE = 4096
# Codes of a partition: 1 for the own cluster, this for the others, so that samples can still move.
_SOFTNESS = 0.2

Start = tuple[np.ndarray, np.ndarray]


def initial_factors(
    X: Any, n_components: int, init: Any, scale: float, rng: np.random.RandomState
) -> Start:
    """U (d x c) and V (n x c) with V Uᵀ roughly equal to ``scale`` times X.

    ``init`` is ``"random"``, ``"nndsvda"``, ``"kmeans"``, or the pair (V, Uᵀ) of the user's.
    """
    if not isinstance(init, str):
        U, V = _given(X, n_components, init)
    elif init == "random":
        U, V = _random(X, n_components, scale, rng)
    elif init == "nndsvda":
        U, V = _nndsvda(X, n_components, scale, rng)
    else:
        U, V = _kmeans(X, n_components, scale, rng)
    dtype = working_dtype(X.dtype)
    return np.ascontiguousarray(U, dtype), np.array(V, dtype, order="C")


def _given(X: Data, n_components: int, init: Any) -> Start:
    try:
        V, H = (np.asarray(part, dtype=np.float64) for part in init)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f'init={init!r} is not known; use "random", "nndsvda", "kmeans" or a pair of arrays '
            "(embedding of shape (n_samples, n_components), components of shape "
            "(n_components, n_features))."
        ) from error
    expected = (X.shape[0], n_components), (n_components, X.shape[1])
    if (V.shape, H.shape) != expected:
        raise ValueError(
            f"init has arrays of shapes {V.shape} and {H.shape}; "
            f"shapes {expected[0]} and {expected[1]} are needed."
        )
    if not (np.isfinite(V).all() and np.isfinite(H).all()) or V.min() < 0 or H.min() < 0:
        raise ValueError("init must be finite and non-negative.")
    return H.T, V


def _random(X: Data, n_components: int, scale: float, rng: np.random.RandomState) -> Start:
    # Values of this size make V Uᵀ as large as the data on average.
    size = 2 * np.sqrt(scale * _mean(X) / n_components)
    U = rng.uniform(size=(X.shape[1], n_components))
    V = rng.uniform(size=(X.shape[0], n_components))
    U *= size
    V *= size
    return U, V


def _nndsvda(X: Data, n_components: int, scale: float, rng: np.random.RandomState) -> Start:
    """Non-negative double SVD (Boutsidis and Gallopoulos, 2008), zeros filled with the mean."""
    if isinstance(X, MappedCSR):
        raise ValueError('init="nndsvda" cannot work on a MappedCSR; use "kmeans" or "random".')
    rank = min(n_components, *X.shape)
    left, values, right = randomized_svd(X, rank, random_state=rng)
    U, V = np.zeros((X.shape[1], n_components)), np.zeros((X.shape[0], n_components))
    for a in range(rank):
        x, y = left[:, a], right[a]
        positive = np.maximum(x, 0), np.maximum(y, 0)
        negative = np.maximum(-x, 0), np.maximum(-y, 0)
        sizes = [np.linalg.norm(x) * np.linalg.norm(y) for x, y in (positive, negative)]
        x, y = positive if sizes[0] >= sizes[1] else negative
        energy = np.sqrt(scale * values[a] * max(sizes))
        V[:, a] = energy * x / max(np.linalg.norm(x), np.finfo(float).tiny)
        U[:, a] = energy * y / max(np.linalg.norm(y), np.finfo(float).tiny)
    fill = np.sqrt(scale * _mean(X) / n_components)
    U[U == 0] = fill
    V[V == 0] = fill
    return U, V


def _kmeans(X: Any, n_components: int, scale: float, rng: np.random.RandomState) -> Start:
    """V from a k-means partition, U from its means."""
    n_samples = X.shape[0]
    rows = _some_rows(X, rng)
    seed = rng.randint(np.iinfo(np.int32).max)
    # Duplicated samples can be fewer than they look; a centre without samples starts at the mean.
    centres = _distinct_centres(rows, n_components, seed)
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    U = np.tile(mean[:, None], (1, n_components))
    # A share of the mean keeps entries off 0, which a multiplicative update could never leave.
    U[:, : len(centres)] = 0.99 * centres.T + 0.01 * mean[:, None]
    labels = np.empty(n_samples, dtype=np.intp)
    for start in range(0, n_samples, _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, n_samples)
        labels[start:stop] = pairwise_distances_argmin(_rows(X, start, stop), centres)
    V = np.full((n_samples, n_components), _SOFTNESS)
    V[np.arange(n_samples), labels] += 1
    return scale * U, V


def _distinct_centres(rows: Any, n_components: int, seed: int) -> np.ndarray:
    count = rows.shape[0]
    if isinstance(rows, np.ndarray):
        count = count_distinct(rows, n_components)
    count = min(n_components, count)
    model = fit_kmeans(rows, count, n_init=_KMEANS_STARTS, random_state=seed)
    return model.cluster_centers_.astype(np.float64)


def _some_rows(X: Any, rng: np.random.RandomState) -> Any:
    n_samples = X.shape[0]
    if n_samples <= _KMEANS_ROWS:
        return _rows(X, 0, n_samples)
    chosen = np.sort(rng.choice(n_samples, _KMEANS_ROWS, replace=False))
    if isinstance(X, ScaledRows):
        return _for_kmeans(X.take(chosen), X.dtype)
    if isinstance(X, MappedCSR):
        return sp.vstack([X.rows(i, i + 1) for i in chosen], format="csr")
    rows = X[chosen]
    return rows if sp.issparse(rows) else np.asarray(rows, working_dtype(X.dtype))


def _for_kmeans(block: Any, dtype: np.dtype) -> Any:
    if not isinstance(block, np.ndarray):
        # scikit-learn wants 32-bit indices, which hold the features of any matrix that fits.
        block.indices, block.indptr = (a.astype(np.int32) for a in (block.indices, block.indptr))
    return block.astype(dtype)


def _rows(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, ScaledRows):
        return _for_kmeans(X.block(start, stop), X.dtype)
    if isinstance(X, MappedCSR):
        return X.rows(start, stop)
    rows = X[start:stop]
    return rows if sp.issparse(rows) else np.asarray(rows, working_dtype(X.dtype))


def _mean(X: Data) -> float:
    if isinstance(X, MappedCSR):
        return float(np.sum(X.data, dtype=np.float64)) / (X.shape[0] * X.shape[1])
    return float(X.mean(dtype=np.float64))
