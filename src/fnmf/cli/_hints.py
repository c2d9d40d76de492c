"""The command's own words: remedies as options, parameters as options."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from fnmf.io import REMEDIES, Note, TableError, worded

# Parameters of readers whose option has another name.
_READING = {
    "na_values": "--na",
    "column": "--label-column",
    "keep_texts": "--encode",
    'duplicates="number"': "--number-duplicates",
    'negative="shift"': "--shift",
    'negative="abs"': "--abs",
}


def _option(found: re.Match[str]) -> str:
    parameter, name, value = found[0], found[1], found[2].strip('"[]')
    option = _READING.get(parameter) or _READING.get(name, f"--{name.replace('_', '-')}")
    return option if parameter in _READING or value in ("...", "True") else f"{option} {value}"


# Remedies of readers with options in place of parameters.
COMMAND_REMEDIES = {
    key: re.sub(r'(\w+)=("\w+"|\[[^]]*\]|True|\.{3})', _option, text)
    for key, text in REMEDIES.items()
} | {"roles": "name every column once among --id-column, --label-column, --known and --exclude"}
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
# Remedies that every verb has which reads a table.
_OF_READING = ("encoding", "delimiter", "marks", "layer", "sheet", "id_column", "exclude")
# Decisions of a reader that can be what is wrong with a table.
_CAUSES = ("delimiter", "marks", "layer", "sheet", "transpose")
_PLAIN_WORDS = ("diversity", "smoothness", "weighting", "assignment", "solver", "init", "tol")


def note_text(note: str) -> str:
    """A note with its remedy as an option."""
    if isinstance(note, Note):
        return worded(note.text, note.remedy, note.facts, COMMAND_REMEDIES)
    return in_options(note)


def applied_text(note: str) -> str:
    """A note on new rows: how they are treated was decided in training, so nothing to choose."""
    if isinstance(note, Note) and note.remedy not in _OF_READING:
        return f"{note.text} ({note.why})" if note.why else note.text
    return note_text(note)


def applied_error(error: TableError) -> str:
    """What is wrong with new rows: cured in their file, or in training."""
    shown = []
    for problem in error.problems:
        if problem.remedy in ("missing", "negative", "abs"):
            cure = "the training table had none: correct it, or train without --strict"
            shown.append(f"{problem.text}; {cure}.")
        elif problem.remedy in ("", *_OF_READING, "cell", "foreign", "duplicates", "infinite"):
            shown.append(error_text(problem))
        else:
            shown.append(f"{problem.text}.")
    return " ".join(shown)


def decisions(notes: Sequence[str]) -> list[dict[str, str]]:
    """What was decided, why, and the option that decides otherwise."""
    made = [note for note in notes if isinstance(note, Note) and note.why]
    return [
        {
            "what": note.text,
            "why": note.why,
            "otherwise": COMMAND_REMEDIES[note.remedy].format(**note.facts),
        }
        for note in made
    ]


def error_text(error: TableError) -> str:
    """An error with its remedy as an option."""
    shown = worded(error.text, error.remedy, error.facts, COMMAND_REMEDIES)
    return shown if shown.endswith("?") else f"{shown}."


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
    shown = [f"Note: {note_text(note)}." for note in causes]
    single = len(problems) == 1
    lines = [error_text(problems[0])] if single else [f"{len(problems)} things stand in the way:"]
    if not single:
        lines += [f"  {error_text(problem)}" for problem in problems]
    options = solving_options(problems)
    # What was decided in reading may be the cause, and then no option cures it.
    if command is not None and options is not None and not (single and shown):
        title = "This solves it:" if single else "This solves all of them:"
        return "\n".join([*lines, *shown, title, f"  {shlex.join([*command, *options])}"])
    return "\n".join([*lines, *shown])
