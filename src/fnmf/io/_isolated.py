"""A decoder that may hang or crash runs in a process of its own.

It sends lines of JSON and raw arrays, never pickles. If it is silent for too long, it is ended.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fnmf.io._guard import check_bytes
from fnmf.io._told import TableError

_START_SECONDS = 60.0
_SILENT_SECONDS = 8.0


def decode(
    program: Path, request: dict[str, Any], path: Path, ratio: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Facts and arrays that ``program`` finds in the file at ``path``."""
    facts: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    with _running(program, request) as (stream, watch):
        while line := stream.readline(1 << 26):
            watch.alive()
            message = json.loads(line)
            if "error" in message:
                raise TableError(f"{path}{message['error']}")
            if "array" in message:
                dtype, shape = np.dtype(message["dtype"]), tuple(message["shape"])
                check_bytes(path, prod(shape) * dtype.itemsize, ratio, message["array"])
                arrays[message["array"]] = _receive(stream, dtype, shape, watch)
            facts |= message.get("facts", {})
            if message.get("done"):
                return facts, arrays
    if watch.expired:
        text = f"{path} is damaged: its decoder was silent for {_SILENT_SECONDS:.0f} seconds"
        raise TableError(text)
    raise TableError(f"{path} is damaged: its decoder crashed on it")


class _Watch:
    """Ends a process that has shown no sign of life for too long."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.expired = False
        self._timer = self._start(_START_SECONDS)

    def _start(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        return timer

    def _expire(self) -> None:
        self.expired = True
        self._process.kill()

    def alive(self) -> None:
        self._timer.cancel()
        self._timer = self._start(_SILENT_SECONDS)

    def stop(self) -> None:
        self._timer.cancel()


@contextmanager
def _running(program: Path, request: dict[str, Any]) -> Iterator[tuple[BinaryIO, _Watch]]:
    # -P: the folder of the program must not hide modules of the standard library.
    command = [sys.executable, "-P", str(program), json.dumps(request)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        watch = _Watch(process)
        try:
            assert process.stdout is not None
            yield process.stdout, watch  # type: ignore[misc]
        finally:
            watch.stop()
            process.kill()


def _receive(
    stream: BinaryIO, dtype: np.dtype, shape: tuple[int, ...], watch: _Watch
) -> np.ndarray:
    flat = np.empty(prod(shape), dtype=dtype)
    room = flat.view(np.uint8).data if flat.size else memoryview(b"")
    while len(room):
        count = stream.readinto(room[: 1 << 24])  # type: ignore[attr-defined]
        if not count:
            raise EOFError("the decoder ended early")
        room = room[count:]
        watch.alive()
    return flat.reshape(shape)
