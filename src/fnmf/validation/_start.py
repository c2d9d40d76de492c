"""Where a factorisation starts, and which components are known."""

from typing import Any

import numpy as np

from fnmf.data import Data, MappedCSR, is_dask
from fnmf.validation._checks import STARTS, check_choice


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


def check_components(components: Any, n_components: int, n_features: int) -> np.ndarray | None:
    """Components that are known, (n_components, n_features), rows of NaN for the others."""
    if components is None:
        return None
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
