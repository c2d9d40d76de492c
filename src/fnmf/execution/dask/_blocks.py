"""Blocks of a Dask array, and functions sent to where they are.

One task for a pass over the blocks that a thread of a worker has, or over one block on Dask's local
scheduler; what it makes stays where it was made, for the next one. Nothing in a task depends on
anything but its arguments, and these are never changed: so Dask can make again what a lost worker
has taken with it, to the same bits.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError as CancelledWait
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any, Protocol

import cloudpickle
import dask
import numpy as np

from fnmf.exceptions import ClusterLostError
from fnmf.execution.dask._store import Store, Stored, every
from fnmf.execution.dask._worker import (
    Opaque,
    Part,
    all_recalled,
    on_blocks,
    picked,
    same,
    separated,
    tidy,
)

Function = Callable[..., Any]
# Arguments of the function for each block; a ``Kept`` stands for what an earlier task has made.
Arguments = Sequence[tuple[Any, ...]]
# Shapes and types of the rows of a block.
Kinds = Sequence[tuple[tuple[int, ...], Any]]
# Seconds between two looks at the cluster while a result is missing,
_LOOK = 2.0
# how long a cluster may be without any worker: new ones may be on their way,
_PATIENCE = 60.0
# and how long it is taken for granted that blocks are where they were.
_STALE = 5.0
# Functions travel with every task of a pass up to so many bytes in all, else from worker to worker.
_LARGE = 1 << 20
# Blocks of one worker whose sums come here together, and how many of these at one go.
_TOGETHER = 16
_AT_ONE_GO = 4


class Blocks(Protocol):
    """What a view needs of them; what ``run`` returns is known to them alone."""

    bounds: list[tuple[int, int]]

    def run(
        self, function: Function, arguments: Arguments, places: Sequence[int], *, data: bool = True
    ) -> list[Any]:
        """``function(block, *arguments)`` for the blocks at some places; results stay there.

        Without ``data`` there is ``None`` instead of the block.
        """

    def results(self, made: Sequence[Any]) -> Iterator[Any]:
        """What tasks have returned, one after the other."""

    def pick(self, made: Sequence[Any], place: int) -> Iterator[Any]:
        """One part of what tasks on all blocks have returned, in their order."""

    def version(self, tasks: int) -> Stored | None:
        """Where to store rows that so many tasks have led to, if it is time."""

    def recall(self, stored: Stored, kinds: Sequence[Kinds]) -> list[Any]:
        """What is stored of each block, as if a task had made it; ``kinds`` are to be there."""


def blocks_of(X: Any) -> Blocks:
    """Blocks on the cluster of the current client, or on Dask's local scheduler."""
    client = _client()
    return _LocalBlocks(X) if client is None else _ClusterBlocks(X, client)


def _client() -> Any:
    # Where nobody has imported it there can be no client.
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _cut(X: Any) -> tuple[list[tuple[int, int]], list[Any]]:
    """Row ranges of the chunks that have rows, and these chunks, yet to be computed."""
    bounds, chunks, start = [], [], 0
    for size, chunk in zip(X.chunks[0], X.to_delayed().ravel(), strict=True):
        if size:
            bounds.append((start, start + size))
            chunks.append(dask.delayed(tidy, pure=True)(chunk))
        start += size
    return bounds, chunks


class _LocalBlocks:
    """Blocks that are made again for every pass: those of data larger than memory."""

    def __init__(self, X: Any) -> None:
        self.bounds, self._blocks = _cut(X)

    def run(
        self, function: Function, arguments: Arguments, places: Sequence[int], *, data: bool = True
    ) -> list[Part]:
        packed = cloudpickle.dumps(function)
        task = dask.delayed(on_blocks, pure=False)
        tasks = []
        for place, own in zip(places, arguments, strict=True):
            block = [self._blocks[place] if data else None]
            tasks.append(task(packed, block, *separated([own])))
        # Sealed, or Dask would look for tasks in the arrays.
        return [Part(Opaque(made), 0) for made in dask.compute(*tasks)]

    def results(self, made: Sequence[Part]) -> Iterator[Any]:
        return (one.value for one in made)

    def pick(self, made: Sequence[Part], place: int) -> Iterator[Any]:
        return (one.value[place] for one in made)

    def version(self, tasks: int) -> None:
        """Rows are here; they are not lost."""

    def recall(self, stored: Stored, kinds: Sequence[Kinds]) -> list[Part]:
        return [Part(Opaque([one]), 0) for one in all_recalled(stored.paths, kinds)]


class _ClusterBlocks:
    """Blocks kept on the workers of a cluster.

    There is one task for the blocks of each thread of a worker. Were there more than threads,
    Dask would hand some on to whoever is idle, and copy blocks of X that are dear to move.
    """

    def __init__(self, X: Any, client: Any) -> None:
        self.bounds, chunks = _cut(X)
        self._client = client
        self._blocks = client.compute(chunks)
        self._places: dict[int, tuple[str, int]] = {}
        self._asked = -_STALE
        self._every = every()
        self._store: Store | None = None

    def run(
        self, function: Function, arguments: Arguments, places: Sequence[int], *, data: bool = True
    ) -> list[Part]:
        if not places:
            return []
        packed: Any = cloudpickle.dumps(function)
        with _taking_tasks():
            groups = self._groups(places)
            if len(packed) * len(groups) > _LARGE:
                packed = self._client.submit(same, packed, pure=False)
            tasks = []
            for group in groups:
                blocks = [self._blocks[places[at]] if data else None for at in group]
                tasks.append((packed, blocks, *separated([arguments[at] for at in group])))
            made = self._client.map(on_blocks, *zip(*tasks, strict=True), pure=False)
        return _parts(groups, made)

    def results(self, made: Sequence[Part]) -> Iterator[Any]:
        return self._brought(made, None)

    def pick(self, made: Sequence[Part], place: int) -> Iterator[Any]:
        return self._brought(made, place)

    def _brought(self, made: Sequence[Part], place: int | None) -> Iterator[Any]:
        """Results in the order of the blocks; here are never more than the few that are next."""
        groups: dict[Any, list[int]] = defaultdict(list)
        for number, one in enumerate(made):
            groups[one.task].append(number)
        chunks = [
            (task, slice(first, first + _TOGETHER), group[first : first + _TOGETHER])
            for task, group in groups.items()
            for first in range(0, len(group), _TOGETHER)
        ]
        tasks = [task for task, *_ in chunks]
        # What comes whole needs no task that cuts it.
        if place is not None or len(chunks) > len(groups):
            with _taking_tasks():
                cuts = [some for _, some, _ in chunks]
                whiches = [place] * len(chunks)
                tasks = self._client.map(picked, tasks, cuts, whiches, pure=False)
        homes = {at: number for number, (*_, group) in enumerate(chunks) for at in group}
        arrived: dict[int, list[Any]] = {}
        for at in range(len(made)):
            home = homes[at]
            if home not in arrived:
                # Those that are needed next come at one go.
                later = dict.fromkeys(homes[other] for other in range(at, len(made)))
                next_ones = [number for number in later if number not in arrived][:_AT_ONE_GO]
                found = self._results([tasks[number] for number in next_ones])
                # In the order of the blocks: what comes next from there is always the first.
                arrived.update(
                    (number, parts[::-1]) for number, parts in zip(next_ones, found, strict=True)
                )
            yield arrived[home].pop()

    def version(self, tasks: int) -> Stored | None:
        if not 0 < self._every <= tasks:
            return None
        if self._store is None:
            store = Store.made()
            with _taking_tasks():
                seen = store.seen(self._client)
            if not seen:
                store.tell()
                self._every = 0
                return None
            self._store = store
        return self._store.version(len(self.bounds))

    def recall(self, stored: Stored, kinds: Sequence[Kinds]) -> list[Part]:
        with _taking_tasks():
            groups = self._groups(range(len(kinds)))
            paths = [[stored.paths[at] for at in group] for group in groups]
            there = [[kinds[at] for at in group] for group in groups]
            # Anywhere: were they asked for at the place of their blocks, even if others may do it,
            # Dask would wait for ever should that worker and all others be gone for a moment.
            made = self._client.map(all_recalled, paths, there, pure=False)
        return _parts(groups, made)

    def _groups(self, places: Sequence[int]) -> list[list[int]]:
        """Blocks, by their number among ``places``, that one thread of a worker goes through.

        Wherever blocks are in truth: what is elsewhere travels, and all comes out the same.
        """
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        homes = self._homes()
        for number, place in enumerate(places):
            # What is nowhere yet goes where Dask wants to have it.
            found[homes.get(place, (f"block {place}", 1))].append(number)
        return [
            part.tolist()
            for (_, threads), near in found.items()
            for part in np.array_split(near, min(threads, len(near)))
        ]

    def _homes(self) -> dict[int, tuple[str, int]]:
        """The worker of each block that is anywhere, and how many threads it has."""
        known = len(self._places) == len(self._blocks)
        if not known or time.monotonic() - self._asked > _STALE:
            places, threads = self._client.who_has(self._blocks), self._client.nthreads()
            workers = [min(places.get(block.key) or ("",)) for block in self._blocks]
            self._places = {
                at: (worker, max(1, threads[worker]))
                for at, worker in enumerate(workers)
                if worker in threads
            }
            self._asked = time.monotonic()
        return self._places

    def _results(self, tasks: list[Any]) -> list[Any]:
        """What some tasks have made, brought here together."""
        from distributed import CancelledError
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        seen, wanted = time.monotonic(), self._asked_for(tasks)
        try:
            while True:
                # However long it takes: to break it off would be to begin again.
                if wait([wanted], timeout=_LOOK).done:
                    return wanted.result()
                seen = self._last_seen(seen)
        except KilledWorker as error:
            raise _lost(f"a task has taken several workers down ({error})") from error
        except (CancelledError, CancelledWait, CommClosedError, OSError) as error:
            raise _lost("its scheduler is gone") from error
        finally:
            wanted.cancel()

    def _asked_for(self, tasks: list[Any]) -> Future[list[Any]]:
        """The results of tasks, on their way."""
        with _taking_tasks():
            return asyncio.run_coroutine_threadsafe(_awaited(tasks), self._client.loop.asyncio_loop)

    def _last_seen(self, seen: float) -> float:
        """When the cluster last had a worker; an error if that is long ago."""
        try:
            alive = self._client.status == "running" and self._client.nthreads()
        except Exception as error:
            raise _lost("its scheduler is gone") from error
        now = time.monotonic()
        if alive:
            return now
        if now - seen > _PATIENCE:
            raise _lost(f"it has had no worker for {_PATIENCE:.0f} seconds")
        return seen


async def _awaited(tasks: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*tasks))


def _parts(groups: list[list[int]], made: list[Any]) -> list[Part]:
    """What tasks on groups of blocks have made, block by block."""
    found: dict[int, Part] = {}
    for group, task in zip(groups, made, strict=True):
        found.update((number, Part(task, at)) for at, number in enumerate(group))
    return [found[number] for number in range(len(found))]


@contextmanager
def _taking_tasks() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _lost(f"it takes no tasks ({error})") from error


def _lost(why: str) -> ClusterLostError:
    return ClusterLostError(
        f"The Dask cluster was lost: {why}. Start it again and repeat the fit; with "
        "fit(..., checkpoint=...) it goes on from where it was."
    )
