"""From exceptions to one clear sentence and an exit code: 1 failed, 2 wrong usage or input."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import typer

from fnmf.cli._output import OutputError, give_up_output
from fnmf.cli._signals import interruption, listening

FAILED, WRONG = 1, 2


class UsageError(Exception):
    """The command was used in a way that cannot work; the message says how to."""


@dataclass
class Outcome:
    """What a command has done so far: where its results are, once they are there."""

    folder: Path | None = None

    def results(self) -> str:
        """What is true of the results."""
        if self.folder is None:
            return "nothing was written"
        return f"the results are complete, in {self.folder}"


@contextmanager
def handled() -> Iterator[Outcome]:
    """Turn every exception into a sentence on the error stream and an exit code."""
    outcome = Outcome()
    with listening():
        try:
            yield outcome
            sys.stdout.flush()
        except (typer.Exit, typer.Abort, SystemExit):
            raise
        except BaseException as error:
            _end(error, outcome)


def _end(error: BaseException, outcome: Outcome) -> NoReturn:
    """Say what went wrong, and what is true of the results, and leave."""
    if code := interruption(error):
        fail(f"interrupted; {outcome.results()}.", code)
    if isinstance(error, OutputError):
        give_up_output()
        if error.unread and outcome.folder is None:
            # Who reads a part of what is only printed has seen what he wanted.
            raise typer.Exit(FAILED) from None
        fail(f"the output could not be written ({error}); {outcome.results()}.", FAILED)
    if not isinstance(error, Exception) or os.environ.get("FNMF_TRACEBACK"):
        raise error
    fail(*sentence(error))


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
    if isinstance(error, UsageError):
        return text, WRONG
    if isinstance(error, ValueError | TypeError):
        return _in_own_words(error, text), WRONG
    return f"{type(error).__name__}: {text} (set FNMF_TRACEBACK=1 for details)", FAILED


def _in_own_words(error: Exception, text: str) -> str:
    from fnmf.cli._hints import all_problems, in_options
    from fnmf.io import TableError

    if isinstance(error, TableError):
        typed, notes = getattr(error, "command", None), getattr(error, "notes", ())
        return all_problems(error.problems, typed, notes)
    return in_options(text)


def fail(text: str, code: int) -> NoReturn:
    """Say what went wrong and leave."""
    from fnmf.display import visible

    lines = [visible(line, longest=2000) for line in text.split("\n")]
    with suppress(OSError):
        typer.echo("fnmf: " + "\n".join(lines), err=True)
    raise typer.Exit(code)
