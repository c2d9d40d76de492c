"""What happens on a worker: the only code of this package that runs there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import scipy.sparse as sp

from fnmf.data import Scaling, canonical, check_structure, view_of
from fnmf.runners import pools


def on_worker(packed: bytes, block: Any, arguments: bytes) -> Any:
    """``function(block, *arguments)``; both were packed, so that arrays are ours to change."""
    function, own = cloudpickle.loads(packed), cloudpickle.loads(arguments)
    with _QUIET.held():
        return function(block, *own)


def tidy(block: Any) -> Any:
    """A block as views want it; the very same object if it is that already."""
    if sp.issparse(block):
        matrix: Any = block
        check_structure(matrix, "a block of X")
        return canonical(sp.csr_array(matrix))
    return block if isinstance(block, np.ndarray) else np.asarray(block)


def dense_block(block: Any) -> np.ndarray:
    """A CSR block with all its zeros."""
    return tidy(block).toarray()


class Facts(NamedTuple):
    """What the door wants to know of a block."""

    shape: tuple[int, ...]
    dtype: np.dtype
    sparse: bool
    finite: bool
    smallest: float
    stored: int


def facts(block: Any) -> Facts:
    """Look at every value of a block once."""
    sparse: bool = sp.issparse(block)
    values = block.data if sparse else block
    numbers = values.dtype.kind in "fiub"
    finite = bool(np.isfinite(values).all()) if numbers else False
    smallest = float(values.min()) if numbers and values.size else 0.0
    return Facts(block.shape, values.dtype, sparse, finite, smallest, values.size)


def rows_at(block: Any, places: np.ndarray) -> Any:
    """Some rows of a block."""
    return block[places]


def total(block: Any) -> float:
    """The sum of all entries of a block."""
    return float(block.sum(dtype=np.float64))


@dataclass(frozen=True)
class OnPart:
    """Work that a runner takes over the blocks."""

    work: Callable[..., Any]

    def __call__(
        self, block: Any, scaling: Scaling | None, columns: np.ndarray | None, *own: np.ndarray
    ) -> Any:
        return self.work(view_of(block, scaling, columns), *own)


@dataclass(frozen=True)
class Filling:
    """Work of a sweep: the rows that it has filled come back with its sums."""

    work: Any
    layout: Any

    def __call__(
        self, block: Any, scaling: Scaling | None, columns: np.ndarray | None, *own: np.ndarray
    ) -> tuple[tuple[np.ndarray, ...], Any]:
        part = view_of(block, scaling, columns)
        rows, sums = self.work(self.layout.operands(part, 0, part.shape[0]), own)
        return tuple(rows[place] for place in self.work.fills), sums


class _Quiet:
    """Linear algebra held to one thread while any task runs, then as it was."""

    def __init__(self) -> None:
        self._lock, self._tasks = Lock(), 0
        self._limit: Any = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._tasks == 0:
                self._limit = pools().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._tasks += 1
        try:
            yield
        finally:
            with self._lock:
                self._tasks -= 1
                if self._tasks == 0:
                    self._limit.__exit__(None, None, None)


_QUIET = _Quiet()
