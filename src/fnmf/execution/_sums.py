"""Statistics: small sums over rows that add."""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

# A tuple of arrays, mostly a named one.
Statistics = TypeVar("Statistics", bound=tuple[Any, ...])


def add_up(parts: Iterable[Statistics]) -> Statistics:
    """Sums over blocks, in double precision and in the order of the blocks."""
    totals: list[np.ndarray] = []
    make: Any = tuple
    for part in parts:
        if not totals:
            make = getattr(type(part), "_make", tuple)
            # The arrays of the first block are nobody else's: double ones take the sums.
            totals = [np.asarray(array, dtype=np.float64) for array in part]
        else:
            for total, array in zip(totals, part, strict=True):
                total += array
    return make(totals)
