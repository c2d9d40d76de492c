"""Reading for the command: with a progress bar, and with all problems told at once."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fnmf.cli._errors import UsageError
from fnmf.cli._progress import working
from fnmf.io import (
    ReadOptions,
    Recipe,
    SeveralError,
    Table,
    TableError,
    decide,
    raw_cells,
    read_table,
)


def read(path: Path, options: ReadOptions, problems: list[TableError] | None = None) -> Table:
    """Read with a progress bar."""
    with working(f"Reading {path.name}") as step:
        return read_table(path, options, progress=step, problems=problems)


def read_and_learn(
    reader: Callable[[ReadOptions, list[TableError]], Table],
    reading: ReadOptions,
    treatment: dict[str, Any],
    command: list[str],
    strict: bool,
) -> tuple[Table, Recipe]:
    """The table and its recipe; everything that stands in the way is told in one message.

    Unless ``strict``, what can be decided is. ``command`` is what the user typed, so that the
    message can end with what to type instead.
    """
    problems: list[TableError] = []
    table = reader(reading, problems)
    if not strict:
        problems = decide(table, problems)
    recipe = Recipe.learn(table, problems=problems, **treatment)
    if problems:
        error = SeveralError(problems)
        error.command, error.notes = command, table.notes
        raise error
    return table, recipe


def joined_columns(table: Table, reading: ReadOptions) -> tuple[Sequence[str], Iterator[list[str]]]:
    """Names of the columns, and the cells of every row of ``table`` as they stand in the file."""
    if reading.transpose or table.lines is None:
        raise UsageError("--with-columns needs a table of text or of Excel, rows as samples.")
    names, rows = raw_cells(table.path, reading)
    wanted = iter(table.lines.tolist())
    return names, _matching(rows, wanted)


def _matching(rows: Iterator[tuple[int, list[str]]], wanted: Iterator[int]) -> Iterator[list[str]]:
    """Rows that were left out are passed over."""
    line = next(wanted, None)
    for number, cells in rows:
        if number == line:
            yield cells
            line = next(wanted, None)
