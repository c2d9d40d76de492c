"""Neighbours that a ledger keeps: checked, for what comes from a file goes into compiled code."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fnmf.data import check_structure
from fnmf.graph import Nearest
from fnmf.schemes._problem import Ledger

_PARTS = ("data", "indices", "indptr")


def kept_graph(ledger: Ledger, name: str, make: Callable[[], sp.csr_array], n: int) -> sp.csr_array:
    """A graph of n samples."""

    def arrays() -> dict[str, np.ndarray]:
        graph = make()
        return {part: getattr(graph, part) for part in _PARTS}

    found = ledger.kept(name, arrays)
    try:
        graph = sp.csr_array(tuple(found[part] for part in _PARTS), shape=(n, n))
        check_structure(graph, name)
    except (KeyError, ValueError) as error:
        raise _unfit(name) from error
    return graph


def kept_nearest(
    ledger: Ledger, name: str, make: Callable[[], Nearest], sizes: tuple[int, int]
) -> Nearest:
    """The nearest anchors of each sample, for these numbers of samples and anchors."""
    found = ledger.kept(name, lambda: make()._asdict())
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
