"""How verbs show their help: flags without a type, paragraphs that wrap, examples line by line."""

import inspect
from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A verb."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if self.help:
            parts = inspect.cleandoc(self.help).split("\n\n")
            # A paragraph that begins with \b keeps its lines.
            self.help = "\n\n".join(
                part if part.startswith("\b") else " ".join(part.split()) for part in parts
            )

    def get_params(self, ctx: Any) -> list[Any]:
        """The options; a flag is not said to be of type bool."""
        found = super().get_params(ctx)
        for parameter in found:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return found
