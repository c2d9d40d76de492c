"""The ``fnmf`` command: one file a verb."""

import sys

from fnmf.cli._output import OutputError, give_up_output, guard_output


def main() -> None:
    """Entry point of the ``fnmf`` command."""
    guard_output()
    try:
        from fnmf.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'fnmf: the command needs {error.name}; install it with: pip install "fnmf[cli]"')
    try:
        app()
        sys.stdout.flush()
    except OutputError as error:
        # Verbs say more; this is help and version.
        give_up_output()
        sys.exit(1 if error.unread else f"fnmf: the output could not be written ({error}).")
