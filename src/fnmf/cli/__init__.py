"""The ``fnmf`` command: one file a verb."""

import os
import sys


def main() -> None:
    """Entry point of the ``fnmf`` command."""
    if sys.stdout is None:
        # Whoever closes the output wants none.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        from fnmf.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f'fnmf: the command needs {error.name}; install it with: pip install "fnmf[cli]"')
    app()
