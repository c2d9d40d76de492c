"""Some of the rows, drawn without a list of all of them."""

import numpy as np

# Up to so many rows a draw permutes all of their numbers.
_PERMUTED = 1 << 20


def drawn(n: int, most: int, rng: np.random.RandomState) -> np.ndarray:
    """Numbers of at most ``most`` of n rows, in order."""
    if n <= most:
        return np.arange(n)
    if n > _PERMUTED:
        # Memory in proportion to what is drawn.
        few = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
        return np.sort(few.choice(n, most, replace=False, shuffle=False))
    return np.sort(rng.choice(n, most, replace=False))
