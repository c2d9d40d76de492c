"""How far the approximate search must look: measured on probes whose neighbours are known."""

import warnings
from collections.abc import Callable
from typing import Any

_TARGET_RECALL = 0.985
_PROMISED_RECALL = 0.97
_CANDIDATES = ((4, 2), (16, 8), (64, 32))  # for each neighbour, and more


def tune(index: Any, recall: Callable[[int], float], k: int, n_samples: int) -> int:
    """Look through twice as many lists until enough neighbours of the probes are found.

    When more lists no longer help, the codes are what misses them: measure more candidates.
    The best setting is kept; one that is too poor is answered with a warning.
    """
    most = max(16, index.nlist // 6)  # beyond that the exact search is about as fast
    best = (0.0, 1, 0)
    for each, more in _CANDIDATES:
        wanted = min(each * k + more, n_samples)
        before = 0.0
        index.nprobe = min(4, index.nlist)
        while True:
            reached = recall(wanted)
            best = max(best, (reached, index.nprobe, wanted))
            if reached >= _TARGET_RECALL:
                return wanted
            if reached < before + 0.001 or index.nprobe >= min(most, index.nlist):
                break
            before = reached
            index.nprobe = min(2 * index.nprobe, most, index.nlist)
    reached, index.nprobe, wanted = best
    if reached < _PROMISED_RECALL:
        _warn(reached)
    return wanted


def _warn(reached: float) -> None:
    warnings.warn(
        f'algorithm="faiss" finds only {reached:.0%} of the nearest neighbours of these samples '
        f"(measured on a sample of them; {_PROMISED_RECALL:.0%} is the aim): their distances "
        'differ too little for short codes. algorithm="exact" finds all; for a model, pass '
        'graph=adaptive_neighbors(X, algorithm="exact").',
        UserWarning,
        stacklevel=2,
    )
