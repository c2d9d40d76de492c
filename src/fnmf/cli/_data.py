"""Reading for the command: with a progress bar, and with all problems told at once."""

from pathlib import Path

from fnmf.cli._progress import working
from fnmf.io import ReadOptions, Recipe, SeveralError, Table, TableError, decide, read_table


def read(path: Path, options: ReadOptions, problems: list[TableError] | None = None) -> Table:
    """Read with a progress bar."""
    with working(f"Reading {path.name}") as step:
        return read_table(path, options, progress=step, problems=problems)


def read_and_learn(
    path: Path,
    reading: ReadOptions,
    treatment: dict[str, str],
    command: list[str],
    strict: bool,
) -> tuple[Table, Recipe]:
    """The table and its recipe; everything that stands in the way is told in one message.

    Unless ``strict``, what can be decided is. ``command`` is what the user typed, so that the
    message can end with what to type instead.
    """
    problems: list[TableError] = []
    table = read(path, reading, problems)
    if not strict:
        problems = decide(table, problems)
    recipe = Recipe.learn(table, problems=problems, **treatment)
    if problems:
        error = SeveralError(problems)
        error.command, error.notes = command, table.notes
        raise error
    return table, recipe
