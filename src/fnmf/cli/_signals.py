"""Ctrl-C and a polite kill end a command, whatever it was doing when they came."""

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_received: list[int] = []
# Seconds until an interrupt that was lost comes again.
_AGAIN = 0.05


@contextmanager
def listening() -> Iterator[None]:
    """Both signals raise ``KeyboardInterrupt`` as long as the context lasts."""
    _received.clear()
    handlers, hook = dict[int, Any](), sys.unraisablehook
    # Not in the main thread: somebody else is in charge of signals.
    with suppress(ValueError):
        for number in (signal.SIGINT, signal.SIGTERM):
            # Under nohup and in the background a signal is ignored, and stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                handlers[number] = signal.signal(number, _interrupt)

    def unraisable(lost: Any) -> None:
        # C code that calls Python, as the compiler of kernels does, drops what is raised there.
        if _received and issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(_AGAIN, _send_again, [_received[0]]).start()
        else:
            hook(lost)

    sys.unraisablehook = unraisable
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for changed, handler in handlers.items():
            signal.signal(changed, handler)


def interruption(error: BaseException) -> int:
    """The exit code if a signal came that was not asked for before; otherwise 0.

    Shells count 128 and the number of the signal. Libraries make other errors of an interrupt, in
    the middle of an import for example, so that the kind of ``error`` alone does not tell.
    """
    number = _received[0] if _received else signal.SIGINT * isinstance(error, KeyboardInterrupt)
    _received.clear()
    return 128 + number if number else 0


def _send_again(number: int) -> None:
    """Signal the main thread; where the system can, also while it waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def _interrupt(number: int, frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt
