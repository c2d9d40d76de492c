"""The ``fnmf`` command: one file a verb."""

import sys

from fnmf.cli._output import OutputError, give_up_output, guard_output
from fnmf.cli._signals import interruption, listening


def main() -> None:
    """Entry point of the ``fnmf`` command."""
    with listening():
        _main()


def _main() -> None:
    guard_output()
    try:
        from fnmf.cli._app import app

        app()
        sys.stdout.flush()
    except BaseException as error:
        # Verbs say more; this is help and version, and what happens before a verb begins.
        if code := interruption(error):
            print("fnmf: interrupted; nothing was written.", file=sys.stderr)
            sys.exit(code)
        if isinstance(error, OutputError):
            give_up_output()
            sys.exit(1 if error.unread else f"fnmf: the output could not be written ({error}).")
        if isinstance(error, ModuleNotFoundError) and error.name in ("typer", "rich"):
            told = f'the command needs {error.name}; install it with: pip install "fnmf[cli]"'
            sys.exit(f"fnmf: {told}")
        raise
