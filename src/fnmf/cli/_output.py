"""Standard output that tells its own trouble from trouble with files."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class OutputError(Exception):
    """Standard output could not be written to.

    Attributes
    ----------
    unread : bool
        Whether that is so because nobody reads on, as ``head`` does once it has enough.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.unread = isinstance(error, BrokenPipeError)


class Output:
    """A stream in front of standard output; what it cannot write raises :class:`OutputError`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or say that it is the output that fails."""
        return self._checked(self._stream.write, text)

    def flush(self) -> None:
        """What is buffered must fail here, where it can be told, and not while Python ends."""
        self._checked(self._stream.flush)

    def _checked(self, do: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return do(*arguments)
        except OSError as error:
            raise OutputError(error) from error


def give_up_output() -> None:
    """Keep Python from trying again, and complaining again, while it ends."""
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def guard_output() -> None:
    """Put the guard in front of standard output; whoever has closed it wants none."""
    stream: Any = sys.stdout
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stdout = Output(stream)
