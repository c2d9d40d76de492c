"""From exceptions to one clear sentence and an exit code: 1 failed, 2 wrong usage or input."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

FAILED, WRONG = 1, 2


class UsageError(Exception):
    """The command was used in a way that cannot work; the message says how to."""


@contextmanager
def handled() -> Iterator[None]:
    """Turn every exception into a sentence on the error stream and an exit code."""
    previous = _interrupt_on_terminate()
    try:
        yield
    except (typer.Exit, typer.Abort, SystemExit):
        raise
    except KeyboardInterrupt:
        fail("interrupted; nothing was written.", FAILED)
    except BrokenPipeError:
        # The reader of our output has gone; nobody is left to complain to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    except Exception as error:
        if os.environ.get("FNMF_TRACEBACK"):
            raise
        fail(*sentence(error))
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def sentence(error: Exception) -> tuple[str, int]:
    """What to say about an exception, and the exit code."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ModuleNotFoundError):
        return text, FAILED
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return f"{place}the disk is full; nothing was kept. Make room and run again.", FAILED
        if isinstance(error, FileNotFoundError):
            return f"{place}no such file or folder.", WRONG
        if isinstance(error, PermissionError):
            return f"{place}no permission.", WRONG
        if isinstance(error, IsADirectoryError | NotADirectoryError | FileExistsError):
            return f"{place}{error.strerror or text}.", WRONG
        return f"{place}{error.strerror or text}.", FAILED
    if isinstance(error, MemoryError):
        return "not enough memory; try --float32, fewer columns, or a .npy file.", FAILED
    if isinstance(error, UsageError | ValueError | TypeError):
        return text, WRONG
    return f"{type(error).__name__}: {text} (set FNMF_TRACEBACK=1 for details)", FAILED


def fail(text: str, code: int) -> NoReturn:
    """Say what went wrong and leave."""
    from fnmf._text import visible

    typer.echo(f"fnmf: {visible(text, longest=2000)}", err=True)
    raise typer.Exit(code)


def _interrupt_on_terminate() -> Any:
    """A polite kill cleans up exactly like Ctrl-C."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    try:
        return signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        # Not the main thread: somebody else is in charge of signals.
        return None
