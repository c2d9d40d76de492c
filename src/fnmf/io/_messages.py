"""What readers tell: errors and notes that know the remedy apart from its wording.

A remedy is a key. Here it is worded for Python, parameters always with a value, so that a command
that calls these readers can put its options in their place.
"""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

REMEDIES = {
    "": "",
    "encoding": "name its encoding with encoding=...",
    "delimiter": "choose with delimiter=..., decimal=... and thousands=...",
    "marks": "choose with decimal=... and thousands=...",
    "foreign": "choose with decimal=... and thousands=..., or leave the column out with "
    "exclude=[{column!r}]",
    "exclude": "leave the column out with exclude=[{column!r}]",
    "left_out": "exclude=[...] leaves columns out",
    "constant": "exclude=[...] leaves columns out",
    "kept": 'missing="median" fills them, missing="drop" leaves such rows out, missing="zero" '
    "puts 0",
    "filled": 'missing="drop" leaves such rows out, missing="zero" puts 0',
    "shifted": 'negative="abs" drops the signs instead',
    "identifier": "leave it out with exclude=[{column!r}], or name it with id_column=...",
    "cell": "correct the cell, count such cells as missing with na_values=[{cell!r}], or leave "
    "the column out with exclude=[{column!r}]",
    "roles": "name every column once among id_column=..., label_column=... and exclude=[...]",
    "duplicates": 'rename one of them, or let them be numbered with duplicates="number"',
    "missing": 'correct it, or choose missing="keep" (the fit leaves them out), missing="drop" '
    '(leave such rows out), missing="median" or missing="zero"',
    "infinite": "correct it, or leave the column out with exclude=[{column!r}]",
    "negative": 'choose negative="shift" (move each column that has negative values up to start '
    'at 0) or negative="abs" (drop the signs)',
    "abs": 'choose negative="abs"',
    "scale": 'scale="max" makes them comparable',
    "encode": "keep_texts=True turns them into features",
    "transpose": "transpose=True turns the table round",
    "labels": "name the rows with id_column=...",
    "id_column": "id_column=... names another",
    "layer": "choose with layer=... or raw=True",
    "sheet": "choose with sheet=...",
    "folders": 'label_column="folder" takes them as known classes',
    "label_column": "name one with column=...",
}


def worded(text: str, remedy: str, facts: dict[str, Any], words: dict[str, str] = REMEDIES) -> str:
    """The sentence with its remedy in the words of ``words``."""
    told = words[remedy].format(**facts)
    return f"{text}; {told}" if told else text


class Note(str):
    """A remark; a string with the remedy, if there is one, kept apart.

    A remark with a reason is a decision: ``text`` says what was decided, ``why`` the reason, and
    the remedy how to decide otherwise.
    """

    text: str
    remedy: str
    why: str
    facts: dict[str, Any]

    def __new__(cls, text: str, remedy: str = "", *, why: str = "", **facts: Any) -> "Note":
        told = f"{text} ({why})" if why else text
        note = super().__new__(cls, worded(told, remedy, facts))
        note.text, note.remedy, note.why, note.facts = text, remedy, why, facts
        return note


class TableError(ValueError):
    """A file that cannot be used as a table; the message says where and what to do.

    Attributes
    ----------
    text : str
        What is wrong and where, without the remedy.
    remedy : str
        Key of the remedy, or an empty string.
    facts : dict
        What the remedy is about, for example the column.
    """

    def __init__(self, text: str, remedy: str = "", **facts: Any) -> None:
        self.text, self.remedy, self.facts = text.rstrip("."), remedy, facts
        told = worded(self.text, remedy, facts)
        super().__init__(told if told.endswith("?") else f"{told}.")

    @property
    def problems(self) -> "Sequence[TableError]":
        """Everything that is wrong, one error each."""
        return (self,)


class SeveralError(TableError):
    """Several things are wrong with one table; all are told at once."""

    # What the user typed, if that is known: the remedy can then be put into it.
    command: Sequence[str] | None = None
    # What was decided while reading; a wrong decision may be the cause.
    notes: Sequence[str] = ()

    def __init__(self, problems: "Sequence[TableError]") -> None:
        super().__init__(" ".join(str(problem) for problem in problems))
        self._problems = tuple(problems)

    @property
    def problems(self) -> "Sequence[TableError]":
        """Everything that is wrong, one error each."""
        return self._problems


Problems = list[TableError]


def report(found: Sequence[TableError], problems: Problems | None = None) -> None:
    """Add what was found to ``problems``; without these raise the one, or all together."""
    if problems is not None:
        problems += found
    elif len(found) == 1:
        raise found[0]
    elif found:
        raise SeveralError(found)


def listed(names: Sequence[object], most: int = 8) -> str:
    """The first few names in quotation marks."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def optional(module: str, what: str, extra: str) -> Any:
    """A module that comes with an extra; ``what`` begins the message if it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        name = {"PIL.Image": "Pillow"}.get(module, module.partition(".")[0])
        command = f'pip install "fnmf[{extra}]"'
        raise TableError(f"{what} needs {name}; install it with: {command}") from None


@contextmanager
def refusing(told: str) -> Iterator[None]:
    """Turn whatever a decoder raises into a ``TableError``: they fail in a dozen ways."""
    try:
        yield
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{told}: {one_line(error)}") from error


def one_line(error: BaseException) -> str:
    """The text of a foreign exception, short and on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text.rstrip(".")[:200]
