"""How verbs show their help: no types of Python, paragraphs that wrap, examples line by line."""

import inspect
from typing import Any

from typer.core import TyperCommand, TyperGroup


class _Shown:
    """What verbs and groups of verbs have in common."""

    help: str | None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.help = _wrapped(self.help)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options and arguments, as the help is to show them."""
        return _plain(super().get_params(ctx))  # type: ignore[misc]


class Command(_Shown, TyperCommand):
    """A verb."""


class Group(_Shown, TyperGroup):
    """A verb with verbs of its own."""


def _wrapped(text: str | None) -> str | None:
    """Paragraphs in one line each; one that begins with \\b keeps its lines."""
    parts = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else " ".join(p.split()) for p in parts) or None


def _plain(parameters: list[Any]) -> list[Any]:
    """The same; a flag is not said to be of type bool, nor an argument to be a path."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
        elif parameter.is_flag and parameter.metavar is None:
            parameter.metavar = ""
    return parameters
