"""Neighbours from a cache: checked, since what comes from a file goes into compiled code."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from fnmf.affinity._anchors import Nearest
from fnmf.data import check_structure

Arrays = dict[str, np.ndarray]
_PARTS = ("data", "indices", "indptr")


class ArrayCache(Protocol):
    """Keeps arrays that are expensive to compute."""

    def cached(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays kept under a name; made, and kept, if there are none."""


def cached_graph(
    cache: ArrayCache, name: str, make: Callable[[], sp.csr_array], n: int
) -> sp.csr_array:
    """A graph of n samples."""

    def arrays() -> Arrays:
        graph = make()
        return {part: getattr(graph, part) for part in _PARTS}

    found = cache.cached(name, arrays)
    try:
        graph = sp.csr_array(tuple(found[part] for part in _PARTS), shape=(n, n))
        check_structure(graph, name)
    except (KeyError, ValueError) as error:
        raise _unfit(name) from error
    return graph


def cached_nearest(
    cache: ArrayCache, name: str, make: Callable[[], Nearest], sizes: tuple[int, int]
) -> Nearest:
    """The nearest anchors of each sample, for these numbers of samples and anchors."""
    found = cache.cached(name, lambda: make()._asdict())
    if set(found) != set(Nearest._fields):
        raise _unfit(name)
    nearest, (n, anchors) = Nearest(**found), sizes
    indices, shares = nearest
    sound = indices.ndim == 2 and indices.shape == shares.shape and len(indices) == n
    sound = sound and indices.dtype.kind == "i" and shares.dtype.kind == "f"
    if not sound or indices.min(initial=0) < 0 or indices.max(initial=0) >= anchors:
        raise _unfit(name)
    return nearest


def _unfit(name: str) -> ValueError:
    return ValueError(f"{name} of the checkpoint does not fit the data; begin anew without it.")
