"""What a user may hand over beside X: weights, a graph, groups and batches, where a fit starts."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fnmf.data import Data, MappedCSR, as_counts, canonical, check_structure, is_dask
from fnmf.validation._checks import STARTS, check_choice

# Neighbours of a row are searched in every batch.
_FEWEST_IN_BATCH = 10
# Rows that a message names at most.
_NAMED = 5


def check_weights(weights: Any, n_features: int | None = None) -> np.ndarray:
    """Weights of the user's: a finite number of at least 0 for each feature, not all of them 0."""
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(())
    if found.ndim != 1:
        raise ValueError(
            f'weighting={weights!r} is not known; use one of "relevance", "paper", "uniform", or '
            "an array with a weight for each feature."
        )
    if not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise ValueError("weighting must be finite and non-negative, and not 0 for all features.")
    if n_features is not None and len(found) != n_features:
        raise ValueError(
            f"weighting has {len(found)} weights, but X has {n_features} features; pass one each."
        )
    return found


def check_graph(graph: Any, n_samples: int, dtype: np.dtype) -> sp.csr_array:
    """A neighbour graph of the user's: square, non-negative, symmetric, diagonal dropped."""
    is_sparse: bool = sp.issparse(graph)
    if not is_sparse:
        raise TypeError(
            'graph must be "adaptive", "approximate", None or a SciPy sparse matrix, got '
            f"{type(graph).__name__}; wrap a dense array in scipy.sparse.csr_array."
        )
    check_structure(graph, "graph")
    if graph.shape != (n_samples, n_samples):
        raise ValueError(
            f"graph has shape {graph.shape}, but X has {n_samples} samples; "
            f"pass a graph of shape ({n_samples}, {n_samples})."
        )
    S = canonical(sp.csr_array(graph)).astype(dtype, copy=False)
    if not np.isfinite(S.data).all():
        raise ValueError("graph contains NaN or infinity; its weights must be finite.")
    if S.nnz and S.data.min() < 0:
        raise ValueError(
            f"graph has a negative weight ({S.data.min():g}); similarities must be non-negative."
        )
    gap = _asymmetry(S)
    if gap > 100 * np.finfo(dtype).eps * (S.data.max() if S.nnz else 0):
        raise ValueError(
            f"graph is not symmetric (largest difference {gap:g}); pass (S + S.T) / 2."
        )
    if S.diagonal().any() or not S.data.all():
        rows = np.repeat(np.arange(n_samples), np.diff(S.indptr))
        kept = (S.data != 0) & (S.indices != rows)
        S = sp.csr_array((S.data[kept], (rows[kept], S.indices[kept])), shape=S.shape)
    return S


def _asymmetry(S: sp.csr_array) -> float:
    """Largest |s_ij − s_ji|."""
    T = S.T.tocsr()
    if np.array_equal(S.indptr, T.indptr) and np.array_equal(S.indices, T.indices):
        T.data -= S.data
    else:
        T = T - S
    return float(np.abs(T.data, out=T.data).max()) if T.nnz else 0.0


def check_groups(groups: Any, n_features: int) -> np.ndarray:
    """The group of each feature, numbered from 0, from names of any kind."""
    names = np.asarray(groups)
    if names.shape != (n_features,):
        raise ValueError(
            f"feature_groups has shape {names.shape}, but X has {n_features} features; "
            f"pass one group for each, an array of shape ({n_features},)."
        )
    if names.dtype.kind not in "iubUS" and not all(isinstance(name, str) for name in names):
        raise ValueError("feature_groups must hold whole numbers or strings.")
    return np.unique(names.astype(str), return_inverse=True)[1].ravel()


def check_batch(
    batch: Any, data: Data, kept: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """The batch of each row, numbered from 0, from names of any kind; -1 of rows not ``kept``."""
    if is_dask(data) or isinstance(data, MappedCSR):
        raise ValueError("batch takes rows in memory or an array mapped from disk; load X first.")
    # NumPy would make texts of what is missing in lists.
    names = np.asarray(batch, None if isinstance(batch, np.ndarray) else object)
    names = names.astype(str) if names.dtype.kind in "SM" else names
    if names.shape != (data.shape[0],):
        raise ValueError(
            f"batch has shape {names.shape}, but X has {data.shape[0]} samples; pass one batch for "
            f"each, an array of shape ({data.shape[0]},)."
        )
    texts = missing_texts(names)
    if unknown := [row for row in np.flatnonzero(kept) if is_missing(names[row], texts)]:
        shown = ", ".join(map(str, unknown[:_NAMED])) + ", ..." * (len(unknown) > _NAMED)
        raise ValueError(
            f"batch is missing for {len(unknown)} sample(s), row(s) {shown}; leave them out, or "
            "name their batch."
        )
    known, own = np.unique(names[kept].astype(str), return_inverse=True)
    codes = np.full(len(names), -1)
    codes[kept] = own.ravel()
    sizes = np.bincount(own.ravel(), None if weights is None else as_counts(weights[kept]))
    if sizes.min() < _FEWEST_IN_BATCH:
        least = str(known[sizes.argmin()])
        raise ValueError(
            f"batch {least!r} has {sizes.min():g} sample(s); each needs at least "
            f"{_FEWEST_IN_BATCH}: join it to another, or leave its samples out."
        )
    return codes


def missing_texts(values: np.ndarray) -> set[str]:
    """Texts that say nothing; of NaN and of no date NumPy makes texts if their length is fixed."""
    return {"", "nan", "NaT"} if values.dtype.kind == "U" else {""}


def is_missing(value: Any, texts: set[str]) -> bool:
    """Whether it is None, one of ``texts``, NaN or a missing value of pandas."""
    if value is None or isinstance(value, str):
        return value is None or value.strip() in texts
    # The missing value of pandas equals nothing, itself included, and has no truth.
    same = value == value
    return not isinstance(same, bool | np.bool_) or not same


def check_init(init: Any, data: Data, n_components: int) -> Any:
    """A start: its name, or the user's pair (embedding, components) in double precision."""
    if isinstance(init, str):
        check_choice("init", init, STARTS)
        if init == "nndsvda" and (isinstance(data, MappedCSR) or is_dask(data)):
            kind = "a MappedCSR" if isinstance(data, MappedCSR) else "a Dask array"
            raise ValueError(f'init="nndsvda" cannot work on {kind}; use "kmeans" or "random".')
        return init
    if hasattr(init, "fit"):
        return init
    try:
        V, H = (np.array(part, dtype=np.float64) for part in init)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f'init={init!r} is not known; use "random", "nndsvda", "kmeans" or a pair of arrays '
            "(embedding of shape (n_samples, n_components), components of shape "
            "(n_components, n_features))."
        ) from error
    expected = (data.shape[0], n_components), (n_components, data.shape[1])
    if (V.shape, H.shape) != expected:
        raise ValueError(
            f"init has arrays of shapes {V.shape} and {H.shape}; "
            f"shapes {expected[0]} and {expected[1]} are needed."
        )
    if not (np.isfinite(V).all() and np.isfinite(H).all()) or V.min() < 0 or H.min() < 0:
        raise ValueError("init must be finite and non-negative.")
    return V, H


def components_of_frame(components: Any, names: Any) -> Any:
    """Known components in a frame, their columns in the order of the features of X."""
    columns = [str(name) for name in components.columns]
    if names is None:
        return components
    if sorted(columns) != sorted(names):
        odd = sorted({*columns} ^ {*names}) or columns
        raise ValueError(
            f"components and X have other columns: {odd[0]!r} is not in both; give them the same."
        )
    return np.asarray(components, np.float64)[:, [columns.index(name) for name in names]]


def check_components(components: Any, n_components: int, n_features: int) -> np.ndarray | None:
    """Components that are known, (n_components, n_features), rows of NaN for the others.

    ``None`` if none is.
    """
    found = np.array(components, dtype=np.float64)
    if found.shape != (n_components, n_features):
        raise ValueError(
            f"components has shape {found.shape}; ({n_components}, {n_features}) is needed, a row "
            "for each of n_components, filled with NaN if it is to be found."
        )
    free = np.isnan(found).all(axis=1)
    known = found[~free]
    if not np.isfinite(known).all() or known.min(initial=0) < 0 or not known.any(axis=1).all():
        raise ValueError(
            "components must be finite, non-negative and not all 0; a row that is to be found is "
            "NaN throughout."
        )
    return None if free.all() else found
