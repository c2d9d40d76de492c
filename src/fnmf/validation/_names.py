"""Groups of features and batches of rows, by names of any kind."""

from typing import Any

import numpy as np

from fnmf.data import Data, MappedCSR, is_dask

# Neighbours of a row are searched in every batch.
_FEWEST_IN_BATCH = 10


def check_groups(groups: Any, n_features: int) -> np.ndarray | None:
    """The group of each feature, numbered from 0, from names of any kind."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (n_features,):
        raise ValueError(
            f"feature_groups has shape {names.shape}, but X has {n_features} features; "
            f"pass one group for each, an array of shape ({n_features},)."
        )
    if names.dtype.kind not in "iubUS" and not all(isinstance(name, str) for name in names):
        raise ValueError("feature_groups must hold whole numbers or strings.")
    return np.unique(names.astype(str), return_inverse=True)[1].ravel()


def check_batch(batch: Any, data: Data, kept: slice | np.ndarray) -> np.ndarray:
    """The batch of each row that is kept, numbered from 0, from names of any kind."""
    if is_dask(data) or isinstance(data, MappedCSR):
        raise ValueError("batch takes rows in memory or an array mapped from disk; load X first.")
    names = np.asarray(batch)
    if names.shape != (data.shape[0],):
        raise ValueError(
            f"batch has shape {names.shape}, but X has {data.shape[0]} samples; pass one batch for "
            f"each, an array of shape ({data.shape[0]},)."
        )
    known, codes = np.unique(names[kept].astype(str), return_inverse=True)
    sizes = np.bincount(codes.ravel())
    if sizes.min() < _FEWEST_IN_BATCH:
        least = str(known[sizes.argmin()])
        raise ValueError(
            f"batch {least!r} has {sizes.min()} sample(s); each needs at least "
            f"{_FEWEST_IN_BATCH}: join it to another, or leave its samples out."
        )
    return codes.ravel()
