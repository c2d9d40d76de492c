"""Blocks of a Dask array, and functions sent to where they are.

One task for a block and a pass, with what belongs to its rows; results come back in the order of
the blocks, so that sums do not depend on who was faster. A lost worker takes nothing with it that
Dask cannot make again: blocks come from their own graph, and all else travels with the task.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import cloudpickle
import dask

from fnmf.distributed._worker import on_worker, tidy
from fnmf.exceptions import ClusterLostError

Function = Callable[..., Any]
# Seconds between two looks at the cluster while a result is missing,
_LOOK = 2.0
# and how long a cluster may be without any worker: new ones may be on their way.
_PATIENCE = 60.0


class Blocks(Protocol):
    """What a runner needs of them."""

    bounds: list[tuple[int, int]]

    def send(
        self, function: Function, arguments: Sequence[tuple[Any, ...]], places: Sequence[int]
    ) -> Iterator[Any]:
        """``function(block, *arguments)`` for the blocks at some places, in their order."""


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

    def send(
        self, function: Function, arguments: Sequence[tuple[Any, ...]], places: Sequence[int]
    ) -> Iterator[Any]:
        packed = cloudpickle.dumps(function)
        task = dask.delayed(on_worker, pure=False, traverse=False)
        tasks = [
            task(packed, self._blocks[place], cloudpickle.dumps(own))
            for place, own in zip(places, arguments, strict=True)
        ]
        yield from dask.compute(*tasks)


class _ClusterBlocks:
    """Blocks kept on the workers of a cluster."""

    def __init__(self, X: Any, client: Any) -> None:
        self.bounds, chunks = _cut(X)
        self._client = client
        self._blocks = client.compute(chunks)

    def send(
        self, function: Function, arguments: Sequence[tuple[Any, ...]], places: Sequence[int]
    ) -> Iterator[Any]:
        packed = cloudpickle.dumps(function)
        try:
            tasks = [
                self._client.submit(
                    on_worker, packed, self._blocks[place], cloudpickle.dumps(own), pure=False
                )
                for place, own in zip(places, arguments, strict=True)
            ]
        except Exception as error:
            raise _lost(f"it takes no tasks ({error})") from error
        for task in tasks:
            yield self._result(task)

    def _result(self, task: Any) -> Any:
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        from distributed import CancelledError, TimeoutError

        seen = time.monotonic()
        while True:
            try:
                return task.result(timeout=_LOOK)
            except (TimeoutError, UnboundLocalError):
                # The second is how Dask says that the wait was broken off, not the task: it can
                # happen at the moment when a worker is lost.
                seen = self._last_seen(seen)
            except KilledWorker as error:
                raise _lost(f"a task has taken several workers down ({error})") from error
            except (CancelledError, CommClosedError, OSError) as error:
                raise _lost("its scheduler is gone") from error

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


def _lost(why: str) -> ClusterLostError:
    return ClusterLostError(
        f"The Dask cluster was lost: {why}. Start it again and repeat the fit; with "
        "fit(..., checkpoint=...) it goes on from where it was."
    )
