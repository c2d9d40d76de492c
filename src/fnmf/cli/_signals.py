"""Ctrl-C and a polite kill end a command, whatever it was doing when they came."""

import signal
from contextlib import suppress
from typing import Any

_received: list[int] = []


def listen() -> dict[int, Any]:
    """Make ``KeyboardInterrupt`` of both signals from now on; the handlers they had before."""
    _received.clear()
    previous: dict[int, Any] = {}
    # Not in the main thread: somebody else is in charge of signals.
    with suppress(ValueError):
        for number in (signal.SIGINT, signal.SIGTERM):
            # Under nohup and in the background a signal is ignored, and stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                previous[number] = signal.signal(number, _interrupt)
    return previous


def interruption(error: BaseException) -> int:
    """The exit code if a signal came that was not asked for before; otherwise 0.

    Shells count 128 and the number of the signal. Libraries make other errors of an interrupt, in
    the middle of an import for example, so that the kind of ``error`` alone does not tell.
    """
    number = _received[0] if _received else signal.SIGINT * isinstance(error, KeyboardInterrupt)
    _received.clear()
    return 128 + number if number else 0


def _interrupt(number: int, frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt
