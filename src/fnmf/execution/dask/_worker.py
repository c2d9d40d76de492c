"""What happens on a worker: the only code of this package that runs there."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import scipy.sparse as sp

from fnmf._atomic import atomic_file
from fnmf.data import Scaling, View, canonical, check_structure, view_of
from fnmf.execution import pools


class Opaque:
    """Something that Dask must not look into."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Part(NamedTuple):
    """What a task has made of one of its blocks.

    ``task`` is what all of it was made by, or its number among those that the next one is given.
    """

    task: Any
    at: int

    @property
    def value(self) -> Any:
        """That, where the task's result is at hand."""
        return (self.task.value if isinstance(self.task, Opaque) else self.task)[self.at]


class Kept(NamedTuple):
    """An array among those that an earlier task has left, as an argument of the next one.

    Columns are multiplied by ``factors`` on arrival, one after the other.
    """

    made: Part
    place: int
    factors: tuple[np.ndarray, ...] = ()

    def arrived(self) -> Any:
        """A copy of our own: what is kept is never changed."""
        value = deepcopy(self.made.value[self.place])
        for factors in self.factors:
            value *= factors
        return value


class Blank(NamedTuple):
    """An array that is yet to be filled."""

    shape: tuple[int, ...]
    dtype: Any

    def arrived(self) -> np.ndarray:
        return np.empty(self.shape, self.dtype)


class Repeated(NamedTuple):
    """The same row so many times."""

    row: np.ndarray
    times: int

    def arrived(self) -> np.ndarray:
        return np.repeat(self.row, self.times, axis=0)


def separated(arguments: Sequence[tuple[Any, ...]]) -> tuple[bytes, list[Any]]:
    """Arguments for some blocks, packed, without the tasks that Dask must see; and these."""
    tasks: dict[int, Any] = {}
    numbers: dict[int, int] = {}

    def plain(one: Any) -> Any:
        if not isinstance(one, Kept):
            return one
        task, at = one.made
        tasks[id(task)] = task
        return one._replace(made=Part(numbers.setdefault(id(task), len(numbers)), at))

    packed = pickle.dumps([[plain(one) for one in own] for own in arguments])
    return packed, list(tasks.values())


def on_blocks(packed: bytes, blocks: Sequence[Any], arguments: bytes, made: Sequence[Any]) -> Any:
    """``function(block, *arguments)`` of each block; arrays among arguments are ours to change."""
    function = cloudpickle.loads(packed)
    with _QUIET.held():
        return [
            function(block, *(_arrived(one, made) for one in own))
            for block, own in zip(blocks, pickle.loads(arguments), strict=True)
        ]


def _arrived(one: Any, made: Sequence[Any]) -> Any:
    if isinstance(one, Kept):
        number, at = one.made
        one = one._replace(made=Part(made[number], at))
    return one.arrived() if isinstance(one, (Kept, Blank, Repeated)) else one


def same(packed: bytes) -> bytes:
    """What all tasks of a pass share, on its way from worker to worker."""
    return packed


def picked(made: Sequence[Any], some: slice, place: int | None) -> list[Any]:
    """What a task has made of some of its blocks, or one part of it."""
    return [one if place is None else one[place] for one in made[some]]


def arrived(made: Any, at: int, place: int, factors: Opaque, lifetime: Any) -> np.ndarray:
    """A block of rows for the user."""
    return Kept(Part(made, at), place, factors.value).arrived()


def sees(path: str, word: str) -> bool:
    """Whether a file is here too."""
    try:
        return Path(path).read_text(encoding="utf-8") == word
    except OSError:
        return False


def all_recalled(paths: Sequence[str], kinds: Sequence[Any]) -> list[tuple[np.ndarray, ...]]:
    """Rows of some blocks."""
    return [recalled(*own) for own in zip(paths, kinds, strict=True)]


def recalled(path: str, kinds: Sequence[tuple[tuple[int, ...], Any]]) -> tuple[np.ndarray, ...]:
    """Rows of a block that a task has written, held to their shapes and types."""
    try:
        with open(path, "rb") as file:
            rows = tuple(np.lib.format.read_array(file, allow_pickle=False) for _ in kinds)
    except (OSError, ValueError) as error:
        raise OSError(
            f"Rows of a fit cannot be read from {path} ({error}); a worker must see the folder "
            "that all others see, named as fnmf.store.folder in Dask's configuration."
        ) from error
    if [(one.shape, one.dtype) for one in rows] != list(kinds):
        raise OSError(f"{path} does not hold the rows that were written there; fit again.")
    return rows


def handed(block: None, rows: np.ndarray) -> tuple[np.ndarray]:
    """Rows that came with the task, to stay."""
    return (rows,)


def some(block: None, rows: np.ndarray, places: np.ndarray | slice) -> np.ndarray:
    """Some rows of a block of what earlier tasks have made."""
    return rows[places]


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
    """What validation asks of a block."""

    shape: tuple[int, ...]
    dtype: np.dtype
    sparse: bool
    finite: bool
    missing: bool
    smallest: float
    stored: int


def facts(block: Any) -> Facts:
    """Look at every value of a block once."""
    sparse: bool = sp.issparse(block)
    values = block.data if sparse else block
    numbers = values.dtype.kind in "fiub"
    finite = numbers and not bool(np.isinf(values).any())
    smallest = float(np.fmin.reduce(values, axis=None)) if numbers and values.size else 0.0
    missing = numbers and bool(np.isnan(values).any())
    return Facts(block.shape, values.dtype, sparse, finite, missing, smallest, values.size)


def rows_at(block: Any, places: np.ndarray, columns: np.ndarray | None) -> Any:
    """Some rows of a block, with these of their features."""
    return block[places] if columns is None else block[np.ix_(places, columns)]


def total(block: Any) -> float:
    """The sum of all entries of a block."""
    # SciPy adds up rows first, and not all of its versions do so.
    values = block if isinstance(block, np.ndarray) else block.data
    return float(np.sum(values, dtype=np.float64))


class BlockTransform(NamedTuple):
    """How all blocks are seen: caps and factors of the columns, and which columns."""

    caps: np.ndarray | None
    factors: np.ndarray | None
    columns: np.ndarray | None

    def of(self, block: Any, rows: np.ndarray | None) -> View:
        """The view of a block whose rows have these factors."""
        if rows is None or self.caps is None or self.factors is None:
            return view_of(block, None, self.columns)
        return view_of(block, Scaling(rows, self.caps, self.factors), self.columns)


@dataclass(frozen=True)
class OnPart:
    """Work that a runner takes over the blocks."""

    work: Callable[..., Any]
    transform: BlockTransform

    def __call__(self, block: Any, scales: np.ndarray | None, *own: Any) -> Any:
        return self.work(self.transform.of(block, scales), *own)


@dataclass(frozen=True)
class Filling:
    """Work of a sweep: the rows that it fills, which stay, and its sums."""

    work: Any
    transform: BlockTransform
    cut: Callable[..., tuple[Any, ...]] | None

    def __call__(self, block: Any, scales: np.ndarray | None, *own: Any) -> tuple[Any, ...]:
        rows, sums = self.work(self.operands(block, scales), own)
        return *(rows[place] for place in self.work.fills), sums

    def operands(self, block: Any, scales: np.ndarray | None) -> tuple[Any, ...]:
        """The block as the work wants it."""
        if self.cut is None:
            return ()
        part = self.transform.of(block, scales)
        return self.cut(part, 0, part.shape[0])


@dataclass(frozen=True)
class Walking(Filling):
    """Work of a walk: the rows that it fills, and the state that it hands on."""

    def __call__(self, block: Any, scales: np.ndarray | None, *own: Any) -> tuple[Any, ...]:
        state, *given = own
        rows, state = self.work(self.operands(block, scales), tuple(given), state)
        return *(rows[place] for place in self.work.fills), state


@dataclass(frozen=True)
class Storing:
    """Work whose rows are in a file too before anybody hears of its sums."""

    task: Filling

    def __call__(self, block: Any, path: str, *own: Any) -> tuple[Any, ...]:
        made = self.task(block, *own)
        with atomic_file(Path(path), durable=False) as file:
            for rows in made[:-1]:
                np.lib.format.write_array(file, rows, allow_pickle=False)
        return made


class _BlasLimit:
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


_QUIET = _BlasLimit()
