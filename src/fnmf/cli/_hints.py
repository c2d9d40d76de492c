"""The command's own words: remedies as options, parameters as options."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from fnmf.io import Note, TableError, worded

# The same keys as fnmf.io.REMEDIES, worded as options.
COMMAND_REMEDIES = {
    "": "",
    "encoding": "name its encoding with --encoding",
    "delimiter": "choose with --delimiter, --decimal and --thousands",
    "marks": "choose with --decimal and --thousands",
    "foreign": "choose with --decimal and --thousands, or leave the column out with "
    "--exclude {column!r}",
    "exclude": "leave the column out with --exclude {column!r}",
    "identifier": "leave it out with --exclude {column!r}, or name it with --id-column",
    "cell": "correct the cell, count such cells as missing with --na {cell!r}, or leave the column "
    "out with --exclude {column!r}",
    "roles": "name every column once among --id-column, --label-column and --exclude",
    "duplicates": "rename one of them, or number them with --number-duplicates",
    "missing": "correct it, or choose --missing drop (leave such rows out), --missing median or "
    "--missing zero",
    "infinite": "correct it, or leave the column out with --exclude {column!r}",
    "negative": "choose --shift (move each column that has negative values up to start at 0) or "
    "--abs (drop the signs)",
    "abs": "choose --abs",
    "scale": "--scale max makes them comparable",
    "encode": "--encode turns them into features",
    "transpose": "--transpose turns the table round",
    "labels": "name the rows with --id-column",
    "layer": "choose with --layer or --raw",
    "sheet": "choose with --sheet",
    "folders": "--label-column folder takes them as known classes",
    "label_column": "name one with --label-column",
}
# Parameters of estimators that have an option of their own; others go through --param.
OPTIONS = {
    "n_clusters": "-k",
    "n_components": "--components",
    "n_weightings": "--weightings",
    "n_neighbors": "--neighbors",
    "max_iter": "--max-iter",
    "n_init": "--n-init",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "diversity": "--diversity",
    "smoothness": "--smoothness",
    "weighting": "--weighting",
    "assignment": "--assignment",
    "solver": "--solver",
    "init": "--init",
    "tol": "--tol",
}
_MOST_CELLS = 3
# Decisions of a reader that can be what is wrong with a table.
_CAUSES = ("delimiter", "marks", "layer", "sheet", "transpose")
_PLAIN_WORDS = ("diversity", "smoothness", "weighting", "assignment", "solver", "init", "tol")


def note_text(note: str) -> str:
    """A note with its remedy as an option."""
    if isinstance(note, Note):
        return worded(note.text, note.remedy, note.facts, COMMAND_REMEDIES)
    return in_options(note)


def error_text(error: TableError) -> str:
    """An error with its remedy as an option."""
    told = worded(error.text, error.remedy, error.facts, COMMAND_REMEDIES)
    return told if told.endswith("?") else f"{told}."


def in_options(text: str) -> str:
    """A sentence of the library with its parameters as options: n_neighbors=0 → --neighbors 0."""
    for name, option in OPTIONS.items():
        text = re.sub(rf"\b{name}=(?=[\w'\"-])", f"{option} ", text)
        # Some parameters are ordinary words too, and are only meant with a value.
        if name not in _PLAIN_WORDS:
            text = re.sub(rf"(?<![\w-]){name}\b", option, text)
    return text


def findings_in_options(summary: dict[str, Any]) -> None:
    """Word what a summary finds about a fit for somebody who runs the command."""
    for finding in summary["diagnosis"]:
        finding["text"] = in_options(finding["text"])


def solving_options(problems: Sequence[TableError]) -> list[str] | None:
    """Options that solve all problems at once, or None if a file must be corrected by hand."""
    words: list[str] = []
    missing = False
    excluded: list[str] = []
    for problem in problems:
        column = problem.facts.get("column")
        if problem.remedy == "missing":
            missing = True
        elif problem.remedy == "cell" and problem.facts["distinct"] <= _MOST_CELLS:
            words += [word for cell in problem.facts["cells"] for word in ("--na", cell)]
            missing = True
        elif problem.remedy in ("cell", "infinite", "foreign", "exclude"):
            excluded.append(str(column))
        elif problem.remedy == "negative":
            words.append("--shift")
        elif problem.remedy == "abs":
            words.append("--abs")
        elif problem.remedy == "duplicates":
            words.append("--number-duplicates")
        else:
            return None
    words = [*(["--missing", "median"] if missing else []), *words]
    for name in dict.fromkeys(excluded):
        words += ["--exclude", name]
    return words


def all_problems(
    problems: Sequence[TableError], command: Sequence[str] | None, notes: Sequence[str] = ()
) -> str:
    """Every problem on a line of its own, what may be behind it, and the command that solves it."""
    causes = [note for note in notes if getattr(note, "remedy", "") in _CAUSES]
    told = [f"Note: {note_text(note)}." for note in causes]
    if len(problems) == 1:
        return "\n".join([error_text(problems[0]), *told])
    lines = [f"{len(problems)} things stand in the way:"]
    lines += [f"  {error_text(problem)}" for problem in problems] + told
    options = solving_options(problems)
    if command is not None and options is not None:
        lines += ["This solves all of them:", f"  {shlex.join([*command, *options])}"]
    return "\n".join(lines)
