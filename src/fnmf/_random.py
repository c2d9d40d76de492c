"""Random numbers from whatever a user hands over as ``random_state``."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["as_random_state"]


def as_random_state(random_state: Any) -> np.random.RandomState:
    """A ``RandomState`` from a seed, ``None``, a ``RandomState`` or a ``numpy.random.Generator``.

    A generator is drawn from once, so that it goes on as one expects of it: generators in equal
    states lead to equal results, and the same one used twice to different ones.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32, size=4, dtype=np.uint32))
    return check_random_state(random_state)
