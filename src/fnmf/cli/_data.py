"""Reading for the command: with a progress bar, and with all problems told at once."""

from pathlib import Path
from typing import Any

from fnmf.cli._progress import working
from fnmf.io import Recipe, SeveralError, Table, TableError, decide, read_table


def read(path: Path, **options: Any) -> Table:
    """Read with a progress bar."""
    with working(f"Reading {path.name}") as step:
        return read_table(path, progress=step, **options)


def read_and_learn(
    path: Path,
    reading: dict[str, Any],
    treatment: dict[str, str],
    command: list[str],
    strict: bool,
) -> tuple[Table, Recipe]:
    """The table and its recipe; everything that stands in the way is told in one message.

    Unless ``strict``, what can be decided is. ``command`` is what the user typed, so that the
    message can end with what to type instead.
    """
    problems: list[TableError] = []
    table = read(path, problems=problems, **reading)
    if not strict:
        problems = decide(table, problems)
    recipe = Recipe.learn(table, problems=problems, **treatment)
    if problems:
        error = SeveralError(problems)
        error.command, error.notes = command, table.notes
        raise error
    return table, recipe
